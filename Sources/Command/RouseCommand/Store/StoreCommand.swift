// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Gateway
import StorePostgreSQL

/// `rouse store`: what is done with a shared store beside its gateways.
struct StoreToolCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Make the tables of a shared store in PostgreSQL, or copy a store into it.",
        discussion: """
            Example:

              rouse store migrate --config rouse.yaml
              rouse store copy /var/lib/rouse/wakes.sqlite --config rouse.yaml
            """,
        subcommands: [StoreMigrateCommand.self, StoreCopyCommand.self])
}

/// `rouse store migrate`.
struct StoreMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Make the tables of the shared store, or bring older ones up to date.",
        discussion: """
            Works in the schema "rouse" of the database that the configuration names under store, \
            in one transaction; whoever comes at the same time waits. The role must own the \
            database, or be allowed to create a schema in it. Tables of a newer version are left \
            alone (65). Doing it again changes nothing.

            Example:

              rouse store migrate --config rouse.yaml
            """)

    @Option(
        help: ArgumentHelp("The configuration. Or ROUSE_CONFIG.", valueName: "file"),
        completion: .file())
    var config: String?

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        let configuration = try Self.configuration(config, variables)
        guard let url = configuration.storeURL else {
            throw CommandFailure(
                .usage,
                "store is a file (\(configuration.storePath)), whose tables a gateway makes by "
                    + "itself. Name a database: store: postgresql://…")
        }
        let settings = configuration.sharedStoreSettings
        let earlier: Int
        do throws(StoreFailure) {
            earlier = try await PostgreSQLWakeStore.migrate(url: url, settings: settings)
        } catch {
            throw CommandFailure(error)
        }
        let version = PostgreSQLWakeStore.schemaVersion
        console.say(
            "Store",
            earlier == version
                ? "The tables are of version \(version) already."
                : earlier == 0
                    ? "The tables were made, version \(version)."
                    : "The tables were brought from version \(earlier) to \(version).", .good)
    }

    /// The configuration that an option or a variable names.
    static func configuration(
        _ option: String?, _ variables: Variables
    ) throws -> ServeConfiguration {
        guard let file = option ?? variables[.configuration] else {
            throw CommandFailure(.usage, "Which store? Name the configuration: --config rouse.yaml")
        }
        return try ServeConfiguration(path: file, variables: variables)
    }
}
