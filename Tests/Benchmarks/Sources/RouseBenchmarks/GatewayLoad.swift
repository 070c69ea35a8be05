// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

/// Feeds a gateway and waits for the outcomes.
struct GatewayLoad {
    let gateway: Gateway
    let store: any WakeStore
    let app: AppIdentity
    var batch = 1000
    /// One wake after the other goes to the next of so many devices, so that with more devices
    /// than wakes none has to wait for its spacing.
    let devices: Int
    /// Whether wakes go to those devices in an order that has nothing to do with the one in which
    /// they came, as an app's users do.
    var isScattered = false

    /// Hands over so many wakes, and returns when all are on disk. Those of each batch become due
    /// within so many seconds.
    func accept(
        _ wakes: Int, from first: Int = 0, batchesAtATime: Int = 1, spreadSeconds: Int = 0
    ) async throws {
        let batches = (wakes + batch - 1) / batch
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<batchesAtATime {
                group.addTask {
                    for number in stride(from: worker, to: batches, by: batchesAtATime) {
                        let low = first + number * batch
                        let high = min(first + wakes, low + batch)
                        let answers = await gateway.accept(
                            try (low..<high).map(inquiry), spreadSeconds: spreadSeconds)
                        for answer in answers {
                            guard case .admitted = answer else { throw Refused(answer: answer) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func inquiry(_ number: Int) throws -> Inquiry {
        Inquiry(
            WakeRequest(
                kind: .background, deviceToken: try GatewayTask.deviceToken(deviceNumber(number)),
                bundleID: app.bundleID, payload: Sample.payload))
    }

    /// A multiplier that is prime to every number of devices that is asked for here.
    private static let scatter = 2_654_435_761

    private func deviceNumber(_ number: Int) -> Int {
        (isScattered ? number * Self.scatter : number) % devices
    }

    /// Waits until no wake is left, or so many, and returns when that was, in wall seconds.
    @discardableResult
    func finish(leaving rest: Int = 0) async throws -> Double {
        while try await store.perform(CountWakes()).unended > rest {
            try await Task.sleep(for: .milliseconds(2))
        }
        return ProcessClocks.wallSeconds
    }

    struct Refused: Error {
        let answer: AdmissionResult
    }
}
