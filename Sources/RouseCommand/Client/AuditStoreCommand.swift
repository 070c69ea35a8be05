// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Gateway
import StoreSQLite

/// `rouse audit-store`: are the books of a store right?
struct AuditStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit-store",
        abstract: "Count a store's wakes one by one: accepted = ended + pending.",
        discussion: """
            Opens the SQLite file of a gateway that does not run and recounts it: every accepted \
            wake must have ended or be waiting. Ends with 0 when the books are right, 1 when they \
            are not.

            Example:

              rouse audit-store /var/lib/rouse/wakes.sqlite
            """)

    @Argument(help: ArgumentHelp("The SQLite file.", valueName: "file"))
    var store: String

    @Flag(help: "Write the books as JSON.")
    var json = false

    func run() async throws {
        let console = Console(.current)
        try InputFile.check(store, "store")
        let count = try await Self.count(store)
        if json {
            try console.write(StoreAuditDocument(count))
        } else {
            tell(count, console)
        }
        guard count.isConserved else { throw ExitCode(ExitStatus.no.rawValue) }
    }

    private static func count(_ path: String) async throws(CommandFailure) -> StoreCount {
        do throws(StoreFailure) {
            let store = try SQLiteWakeStore(path: path)
            let count = try await store.recount()
            try? store.close()
            return count
        } catch {
            throw CommandFailure(error)
        }
    }

    private func tell(_ count: StoreCount, _ console: Console) {
        console.say("Accepted", "\(count.accepted)")
        for state in WakeState.allCases {
            guard let number = count.byState[state], number > 0 else { continue }
            console.say("", "\(number) \(state)")
        }
        if count.pruned > 0 { console.say("", "\(count.pruned) ended and pruned") }
        console.say(
            "Books",
            count.isConserved
                ? "Right: accepted = ended + pending."
                : "Wrong: \(count.accepted) accepted, \(count.ended) ended, "
                    + "\(count.unended) pending.",
            count.isConserved ? .good : .bad)
    }
}

/// `rouse audit-store --json`.
struct StoreAuditDocument: Encodable {
    let conserved: Bool
    let accepted: Int
    let ended: Int
    let pending: Int
    let pruned: Int
    let byState: [String: Int]

    init(_ count: StoreCount) {
        conserved = count.isConserved
        accepted = count.accepted
        ended = count.ended
        pending = count.unended
        pruned = count.pruned
        byState = Dictionary(
            uniqueKeysWithValues: count.byState.map { ($0.key.rawValue, $0.value) })
    }
}
