// SPDX-License-Identifier: Apache-2.0

import Glibc
import PushTransport

extension Scenario {
    /// Tasks and threads that push through clients in every way there is and give up on some, while
    /// tokens are renewed, connections are replaced, and the clients are shut down under load.
    func client() async throws {
        let seed = values["seed"] ?? 1
        say("seed", seed)
        // An answer that is lost would be waited for without end.
        alarm(UInt32(values["limit"] ?? 120))
        let descriptors = await descriptorsAfterWarmUp()
        try await pushThroughClients(seed: seed)
        await checkRelease(descriptors: descriptors)
    }

    private func pushThroughClients(seed: Int) async throws {
        let stress = try ClientStress(
            count: count, clients: values["clients"] ?? 2, over: isNative ? .native : .curl,
            to: reach)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await stress.shutDownUnderLoad() }
            for sender in 0..<(values["threads"] ?? 2) {
                let seed = UInt64(seed * 1_000_003 + sender * 2)
                group.addTask { await stress.pushFromTask(seed: seed) }
                group.addTask { await stress.pushFromThread(seed: seed + 1) }
            }
        }
        await stress.book.wait { _, answered in answered >= stress.book.count }
        report(stress)
    }

    private func report(_ stress: ClientStress) {
        let (book, labels) = (stress.book, stress.book.labels)
        for (label, count) in labels.sorted(by: { $0.key < $1.key }) { say(label, count) }
        say("spoilt", stress.spoilt)
        say("mintings", stress.mintings)
        check(book.answeredTwice == 0, "\(book.answeredTwice) pushes were answered twice")
        check(book.unanswered == 0, "\(book.unanswered) pushes have no answer")
        // Or the scenario has lost what it is for.
        check(labels["accepted", default: 0] > book.count / 10, "hardly a push was accepted")
        for kind in ["cancelled-", "shut-down-", "rejected-404"] {
            check(labels.keys.contains { $0.hasPrefix(kind) }, "no push was \(kind)")
        }
        check(stress.mintings > 1, "no provider token was renewed")
    }
}
