// SPDX-License-Identifier: Apache-2.0

import APNsClient
import AdminAPI
import ArgumentParser
import Foundation
import PayloadLint
import WakeModel

/// `rouse keys`: the keys of the gateway's API.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Create, list and revoke the keys of the gateway's API.",
        discussion: """
            Keys are kept as digests in keys.json beside the store, for its owner only. A running \
            gateway takes a change when it gets SIGHUP.

            Example:

              rouse keys create --config rouse.yaml --name backend --scope wake --scope read
            """,
        subcommands: [KeysCreateCommand.self, KeysListCommand.self, KeysRevokeCommand.self])
}

/// Where the keys are, as it was typed.
struct KeysFileOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration. Or ROUSE_CONFIG.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("The keys' file itself. Or ROUSE_KEYS_FILE.", valueName: "file"))
    var keysFile: String?

    /// The file: as typed, or as the environment or the configuration says.
    func path(_ variables: Variables) throws(CommandFailure) -> String {
        if let path = keysFile ?? variables[.keysFile] { return path }
        guard let path = config ?? variables[.configuration] else {
            throw CommandFailure(
                .usage, "No keys' file is named. Give --config or --keys-file.")
        }
        return try ServeConfiguration(path: path, variables: variables).effectiveKeysPath
    }
}

/// `rouse keys create`.
struct KeysCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a key and show it, this once.",
        discussion: """
            The key alone goes to standard output; everything else goes to standard error.

            Example:

              rouse keys create --config rouse.yaml --name orders --scope wake > orders.key
            """)

    @OptionGroup var file: KeysFileOptions

    @Option(help: "The name of the program that uses the key.")
    var name: String

    @Option(
        help: ArgumentHelp(
            "What it may do: wake, read, device, admin; several times for several. "
                + "Without it: wake, read and device."))
    var scope: [String] = []

    @Option(
        help: ArgumentHelp("How many requests a second it may make.", valueName: "number"))
    var requestsPerSecond: Int?

    @Flag(help: "Write the key and its record as JSON.")
    var json = false

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        let path = try file.path(variables)
        var generator = SystemRandomNumberGenerator()
        let secret = KeySecret(
            (generator.next(), generator.next(), generator.next(), generator.next()))
        let entry = KeysFile.Entry(
            name: name, sha256: secret.sha256, scopes: try scopes(),
            requestsPerSecond: requestsPerSecond, createdAt: WakeClock.system.now().description,
            createdBy: Self.userName)
        _ = try failing(with: .usage) { () throws(InvalidField) in try entry.apiKey() }
        try KeysFile.change(path) { (file) throws(CommandFailure) in
            guard !file.keys.contains(where: { $0.name == name && $0.revokedAt == nil }) else {
                throw CommandFailure(
                    .usage, "There is a key named \(name). Revoke it first, or use another name.")
            }
            file.keys.append(entry)
        }
        if json {
            try console.write(CreatedKeyDocument(key: secret.text, record: KeyDocument(entry)))
        } else {
            console.say(secret.text)
            console.remark(
                "The key \(name) may \(entry.scopes.joined(separator: ", ")). It is shown this "
                    + "once. A running gateway takes it when it gets SIGHUP.")
        }
    }

    private func scopes() throws(CommandFailure) -> [String] {
        guard !scope.isEmpty else { return Scope.usual.map(\.rawValue).sorted() }
        for word in scope where Scope(rawValue: word) == nil {
            let meant = Nearest.name(to: word, among: Scope.allCases.map(\.rawValue))
            throw CommandFailure(
                .usage,
                "--scope \(word) is no scope. "
                    + (meant.map { "Did you mean \($0)?" } ?? "Use wake, read, device or admin."))
        }
        return Set(scope).sorted()
    }

    /// The user of the machine, for the record.
    static var userName: String {
        guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else {
            return "uid \(getuid())"
        }
        return String(cString: name)
    }
}

/// `rouse keys list`.
struct KeysListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the keys, revoked ones too.",
        discussion: """
            Example:

              rouse keys list --config rouse.yaml --json
            """)

    @OptionGroup var file: KeysFileOptions

    @Flag(help: "Write the list as JSON.")
    var json = false

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        let keys = try KeysFile(path: try file.path(variables)).keys
        if json {
            try console.write(KeyListDocument(keys: keys.map { KeyDocument($0) }))
            return
        }
        if keys.isEmpty { console.say("There are no keys. Make one with: rouse keys create") }
        for key in keys {
            let state = key.revokedAt.map { "revoked \($0) by \(key.revokedBy ?? "?")" } ?? "active"
            let rate = key.requestsPerSecond.map { ", \($0) requests/s" } ?? ""
            console.say(
                key.name,
                "\(state); \(key.scopes.joined(separator: ", "))\(rate); created \(key.createdAt) "
                    + "by \(key.createdBy)",
                key.revokedAt == nil ? .good : nil)
        }
    }
}

/// `rouse keys revoke`.
struct KeysRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "End a key for good.",
        discussion: """
            A running gateway refuses the key from its next SIGHUP on.

            Example:

              rouse keys revoke --config rouse.yaml --name orders
            """)

    @OptionGroup var file: KeysFileOptions

    @Option(help: "The key's name.")
    var name: String

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        let now = WakeClock.system.now().description
        try KeysFile.change(try file.path(variables)) { (file) throws(CommandFailure) in
            let index = file.keys.lastIndex { $0.name == name && $0.revokedAt == nil }
            guard let index else {
                let names = file.keys.filter { $0.revokedAt == nil }.map(\.name)
                let meant = Nearest.name(to: name, among: names)
                throw CommandFailure(
                    .no,
                    "No active key is named \(name). "
                        + (meant.map { "Did you mean \($0)?" }
                            ?? "`rouse keys list` shows them."))
            }
            file.keys[index].revokedAt = now
            file.keys[index].revokedBy = KeysCreateCommand.userName
        }
        console.say(
            "The key \(name) is revoked. A running gateway refuses it from its next SIGHUP on.")
    }
}

/// `rouse keys create --json`.
struct CreatedKeyDocument: Encodable {
    /// The key itself, this once.
    let key: String
    let record: KeyDocument
}

/// `rouse keys list --json`.
struct KeyListDocument: Encodable {
    let keys: [KeyDocument]
}

/// One key, without its digest.
struct KeyDocument: Encodable {
    let name: String
    let scopes: [String]
    let requestsPerSecond: Int?
    let createdAt: String
    let createdBy: String
    let revokedAt: String?
    let revokedBy: String?

    init(_ entry: KeysFile.Entry) {
        name = entry.name
        scopes = entry.scopes
        requestsPerSecond = entry.requestsPerSecond
        createdAt = entry.createdAt
        createdBy = entry.createdBy
        revokedAt = entry.revokedAt
        revokedBy = entry.revokedBy
    }
}
