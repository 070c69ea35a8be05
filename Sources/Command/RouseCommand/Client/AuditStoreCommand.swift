// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Gateway
import StoreSQLite

/// `rouse audit-store`: checks the counts and the rows of a store
struct AuditStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit-store",
        abstract: "Count a store's wakes one by one: accepted = ended + pending.",
        discussion: """
            Reads the SQLite file of a gateway, whether that runs or not, and recounts it: every \
            accepted wake must have ended or be waiting. Checks the structure of the file as well, \
            and reads every row of it: wakes, devices with their ledgers, attempts, idempotency \
            keys, feedback and webhooks. It writes nothing, takes no lease and no lock; of a \
            running gateway it sees one moment. A file with several names (hard links) is refused, \
            because its log may stand beside another one: give a copy. It takes as long as reading \
            the whole file does. \
            Ends with 0 when the counts match and every row can be read, 1 when not.

            Example:

              rouse audit-store /var/lib/rouse/wakes.sqlite
            """)

    @Argument(help: ArgumentHelp("The SQLite file.", valueName: "file"))
    var store: String

    @Flag(help: "Write the result as JSON.")
    var json = false

    func run() async throws {
        let console = Console(.current)
        try InputFile.check(store, "store")
        let audit = try Self.audit(store)
        if json {
            try console.write(StoreAuditDocument(audit))
        } else {
            tell(audit, console)
        }
        guard audit.isSound else { throw ExitCode(ExitStatus.no.rawValue) }
    }

    private static func audit(_ path: String) throws(CommandFailure) -> StoreAudit {
        do throws(StoreFailure) {
            return try SQLiteWakeStore.audit(path: path)
        } catch {
            throw CommandFailure(error)
        }
    }

    private func tell(_ audit: StoreAudit, _ console: Console) {
        let count = audit.count
        console.say("Accepted", "\(count.accepted)")
        for state in WakeState.allCases {
            guard let number = count.byState[state], number > 0 else { continue }
            console.say("", "\(number) \(state)")
        }
        if count.pruned > 0 { console.say("", "\(count.pruned) ended and pruned") }
        console.say(
            "Counts",
            count.isConserved
                ? "Match: accepted = ended + pending."
                : "Wrong: \(count.accepted) accepted, \(count.ended) ended, "
                    + "\(count.unended) pending.",
            count.isConserved ? .good : .bad)
        for row in audit.damaged { console.say("Damaged", row.description, .bad) }
        if audit.damagedCount > audit.damaged.count {
            console.say("", "\(audit.damagedCount - audit.damaged.count) more", .bad)
        }
        guard !audit.faults.isEmpty else {
            return console.say("File", "Integrity check passed.", .good)
        }
        for fault in audit.faults { console.say("File", fault, .bad) }
    }
}

/// `rouse audit-store --json`.
struct StoreAuditDocument: Encodable {
    let sound: Bool
    let conserved: Bool
    let accepted: Int
    let ended: Int
    let pending: Int
    let pruned: Int
    let byState: [String: Int]
    let faults: [String]
    let damagedCount: Int
    let damaged: [Row]

    /// A row that cannot be read.
    struct Row: Encodable {
        let table: String
        let row: String
        let problem: String
    }

    init(_ audit: StoreAudit) {
        let count = audit.count
        sound = audit.isSound
        conserved = count.isConserved
        accepted = count.accepted
        ended = count.ended
        pending = count.unended
        pruned = count.pruned
        byState = Dictionary(
            uniqueKeysWithValues: count.byState.map { ($0.key.rawValue, $0.value) })
        faults = audit.faults
        damagedCount = audit.damagedCount
        damaged = audit.damaged.map {
            Row(table: $0.table.rawValue, row: $0.key, problem: $0.problem)
        }
    }
}
