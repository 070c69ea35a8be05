// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Gateway
import Glibc
import StorePostgreSQL
import StoreSQLite
import WakeBudget
import WakeModel

/// `rouse store copy`.
struct StoreCopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy the SQLite file of a gateway into the shared store.",
        discussion: """
            Takes everything over: devices with their budgets, wakes that wait, wakes that ended \
            within the retention, attempts, idempotency keys, the feeds, webhooks, pauses and \
            counters. Older wakes count as pruned. Wakes in hand end their leases, as when a \
            gateway starts again.

            No gateway may run on either side: stop them first. The database must hold the tables \
            (rouse store migrate) and nothing in them. It is one transaction, so that all is \
            copied or nothing; what was written is read again and compared before the commit. \
            Afterwards no gateway takes the file any more, so that no wake goes twice.

            Ends with 0 when all is copied, 66 when there is no such file, 69 when a gateway runs \
            or the database is not empty, and 65 when a store cannot be read.

            Example:

              rouse store copy /var/lib/rouse/wakes.sqlite --config rouse.yaml
            """)

    @Argument(help: ArgumentHelp("The SQLite file.", valueName: "file"), completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "The configuration that names the database under store. Or ROUSE_CONFIG.",
            valueName: "file"), completion: .file())
    var config: String?

    @Flag(help: "Write the result as JSON.")
    var json = false

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        let configuration = try StoreMigrateCommand.configuration(config, variables)
        guard let url = configuration.storeURL else {
            throw CommandFailure(
                .usage,
                "store is a file (\(configuration.storePath)). Name the database that the file is "
                    + "to be copied into: store: postgresql://…")
        }
        try InputFile.check(file, "file")
        // Each row is read twice: once here, and once there to be compared.
        let bar = ProgressBar(total: 0, noun: "rows, read twice", patience: ProgressBar.patience)
        let result: PostgreSQLWakeStore.CopyResult
        do throws(StoreFailure) {
            let source = try Self.source(file, configuration)
            do throws(StoreFailure) {
                result = try await PostgreSQLWakeStore.copy(
                    source, url: url, settings: configuration.sharedStoreSettings
                ) { bar.show(Int($0), of: Int($1)) }
            } catch {
                try? source.close()
                throw error
            }
            try source.close()
        } catch {
            bar.clear()
            throw CommandFailure(error)
        }
        bar.clear()
        let keys = Self.leftKeys(beside: file, configuration)
        if json {
            try console.write(StoreCopyDocument(result, keysFile: keys))
        } else {
            tell(result, console)
            if let keys {
                console.say(
                    "Keys",
                    "The API keys in \(keys) are not in the database. Name that file under "
                        + "keys-file, or give each gateway a copy of it.", .doubtful)
            }
        }
    }

    /// The keys' file beside a store's, unless the configuration has that one.
    static func leftKeys(beside file: String, _ configuration: ServeConfiguration) -> String? {
        let keys = KeysFile.defaultPath(storePath: SQLiteWakeStore.place(of: file))
        guard access(keys, F_OK) == 0,
            SQLiteWakeStore.place(of: configuration.effectiveKeysPath)
                != SQLiteWakeStore.place(of: keys)
        else { return nil }
        return keys
    }

    private static func source(
        _ path: String, _ configuration: ServeConfiguration
    ) throws(StoreFailure) -> CopiedFile {
        let now = WallInstant.now
        // As long as a gateway keeps them: what waited for long is no older than that.
        let hold = configuration.apps.map(\.budget.settings.holdSeconds).max() ?? 0
        let kept = Int64(configuration.retentionDays) * 86_400 + Int64(hold)
        return try CopiedFile(
            path: SQLiteWakeStore.place(of: path), endedSince: now.advanced(bySeconds: -kept),
            now: now)
    }

    private func tell(_ result: PostgreSQLWakeStore.CopyResult, _ console: Console) {
        for (name, count) in result.counts.sorted(by: { $0.key < $1.key }) {
            let label = name == result.counts.keys.min() ? "Copied" : ""
            console.say(label, "\(count) \(count == 1 ? "row" : "rows") of \(name)")
        }
        if result.leftOut > 0 {
            console.say("Left out", "\(result.leftOut) wakes that ended before the retention")
        }
        console.say(
            "Counts",
            "Match: \(result.count.accepted) accepted = \(result.count.ended) ended + "
                + "\(result.count.unended) pending.", .good)
        console.say("Rows", "Read again and compared: the same.", .good)
        console.say(
            "",
            "No gateway takes the file any more; keep it until the gateways run on the database.")
    }
}

/// `rouse store copy --json`.
private struct StoreCopyDocument: Encodable {
    /// The rows of each table.
    let copied: [String: Int64]
    let leftOut: Int64
    let accepted: Int
    let ended: Int
    let pending: Int
    /// The file with API keys that are not in the database; absent without one.
    let keysFile: String?

    init(_ result: PostgreSQLWakeStore.CopyResult, keysFile: String?) {
        copied = result.counts
        leftOut = result.leftOut
        accepted = result.count.accepted
        ended = result.count.ended
        pending = result.count.unended
        self.keysFile = keysFile
    }
}
