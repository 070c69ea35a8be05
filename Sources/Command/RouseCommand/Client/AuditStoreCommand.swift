// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Gateway
import StorePostgreSQL
import StoreSQLite

/// `rouse audit-store`: checks the counts and the rows of a store
struct AuditStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit-store",
        abstract: "Count a store's wakes one by one: accepted = ended + pending.",
        discussion: """
            Reads the SQLite file of a gateway, or the PostgreSQL database of several, whether \
            they run or not, and recounts it: every accepted wake must have ended or be waiting. \
            Checks the structure as well, and reads every row: wakes, devices with their ledgers, \
            attempts, idempotency keys, feedback and webhooks. It writes nothing, takes no lease \
            and no lock; what it counts is of one moment. A file with several names (hard links) \
            is refused, because its log may stand beside another one: give a copy. It takes as \
            long as reading the whole store does. \
            Ends with 0 when the counts match and every row can be read, 1 when not.

            Example:

              rouse audit-store /var/lib/rouse/wakes.sqlite
              rouse audit-store --config rouse.yaml
            """)

    @Argument(
        help: ArgumentHelp(
            "The SQLite file, or a postgresql:// URI. Without it the store of the configuration.",
            valueName: "store"), completion: .file())
    var store: String?

    @Option(
        help: ArgumentHelp("The configuration. Or ROUSE_CONFIG.", valueName: "file"),
        completion: .file())
    var config: String?

    @Flag(help: "Write the result as JSON.")
    var json = false

    func validate() throws {
        if store != nil, config != nil {
            throw ValidationError("Name a store or a configuration, not both.")
        }
    }

    func run() async throws {
        let console = Console(.current)
        let audit = try await audit(.current)
        if json {
            try console.write(StoreAuditDocument(audit))
        } else {
            tell(audit, console)
        }
        guard audit.isSound else { throw ExitCode(ExitStatus.no.rawValue) }
    }

    private func audit(_ variables: Variables) async throws -> StoreAudit {
        var place = store ?? ""
        var settings = PostgreSQLWakeStore.Settings()
        if store == nil {
            let configuration = try StoreMigrateCommand.configuration(config, variables)
            place = configuration.storeURL ?? configuration.storePath
            settings = configuration.sharedStoreSettings
        }
        guard ServeConfiguration.isStoreURL(place) else {
            try InputFile.check(place, "store")
            return try Self.auditFile(place)
        }
        do throws(StoreFailure) {
            return try await PostgreSQLWakeStore.audit(url: place, settings: settings)
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func auditFile(_ path: String) throws(CommandFailure) -> StoreAudit {
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
            return console.say("Store", "Integrity check passed.", .good)
        }
        for fault in audit.faults { console.say("Store", fault, .bad) }
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
