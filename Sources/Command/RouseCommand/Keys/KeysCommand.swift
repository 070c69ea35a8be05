// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import ArgumentParser
import Glibc
import OpenSSLCrypto
import PayloadLint
import WakeModel

/// `rouse keys`: the keys of the gateway's API.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Create, list, rotate and revoke the keys of the gateway's API.",
        discussion: """
            Keys are kept as digests in keys.json beside the store, for its owner only. A running \
            gateway takes a change within a second.

            Example:

              rouse keys create --config rouse.yaml --name backend --scope wake --scope read
            """,
        subcommands: [
            KeysCreateCommand.self, KeysListCommand.self, KeysRotateCommand.self,
            KeysRevokeCommand.self,
        ])
}

/// How a new secret is shown.
struct SecretOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write the key to a new file that only its owner can read.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Write the key and its record as JSON.")
    var json = false

    /// Shows a secret, or throws so that it is not recorded.
    func show(_ secret: KeySecret, of entry: KeysFile.Entry) throws(CommandFailure) {
        let text =
            json
            ? try Console.json(CreatedKeyDocument(key: secret.text, record: KeyDocument(entry)))
            : secret.text
        guard let output else { return try SecretOutput.write(text) }
        var bytes = Array((text + "\n").utf8)
        defer { bytes.cleanse() }
        try OwnerFile(output, "--output").create(with: bytes)
    }
}

/// `rouse keys create`.
struct KeysCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a key and show it, this once.",
        discussion: """
            The key alone goes to standard output; everything else goes to standard error. A key \
            that could not be written is not recorded.

            Examples:

              rouse keys create --config rouse.yaml --name orders --scope wake > orders.key
              rouse keys create --config rouse.yaml --name partner --scope wake \\
                --apps com.example.app --expires 90d --output partner.key
            """)

    @OptionGroup var file: KeysFileOptions

    @Option(help: "The name of the program that uses the key.")
    var name: String

    @Option(
        help: ArgumentHelp(
            "What it may do: wake, read, device, admin; several times for several. "
                + "Without it: wake, read and device."),
        completion: .list(Scope.allCases.map(\.rawValue)))
    var scope: [String] = []

    @Option(
        help: ArgumentHelp(
            "The apps that it is for, with commas between; several times for several. "
                + "Without it: all apps.",
            valueName: "bundle-ids"))
    var apps: [String] = []

    @Option(
        help: ArgumentHelp(
            "When it expires: a time, a date, or a span from now, as 90d.", valueName: "time"))
    var expires: String?

    @Option(
        help: ArgumentHelp("How many requests a second it may make.", valueName: "number"))
    var requestsPerSecond: Int?

    @OptionGroup var secretOptions: SecretOptions

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        let place = try file.place(variables)
        let secret = KeySecret.random()
        let entry = KeysFile.Entry(
            name: name, sha256: secret.sha256, scopes: try scopes(), apps: try place.apps(apps),
            requestsPerSecond: requestsPerSecond, createdAt: WallInstant.now.description,
            createdBy: KeysPlace.userName,
            expiresAt: try KeysPlace.expiry(expires, "--expires")?.description)
        _ = try failing(with: .usage) { () throws(InvalidField) in try entry.apiKey() }
        try place.checkIsFree(name)
        try place.change(
            "api key created", name,
            [
                "scopes": entry.scopes.joined(separator: ","),
                "apps": entry.apps?.joined(separator: ","), "expires_at": entry.expiresAt,
            ]
        ) { (file) throws(CommandFailure) in
            guard !file.keys.contains(where: { $0.name == name && $0.revokedAt == nil }) else {
                throw CommandFailure(
                    .usage,
                    "There is a key named \(name). Give it a new secret with rouse keys rotate, "
                        + "revoke it first, or use another name.")
            }
            file.keys.append(entry)
        } after: { (_) throws(CommandFailure) in
            try secretOptions.show(secret, of: entry)
        }
        let apps = entry.apps.map { " for \($0.joined(separator: ", "))" } ?? ""
        let end = entry.expiresAt.map { " until \($0)" } ?? ""
        console.remark(
            "Created key \"\(name)\" (scopes: \(entry.scopes.joined(separator: ", ")))\(apps)"
                + "\(end). It is shown this once. A running gateway takes it at once.")
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
}

extension KeySecret {
    /// A new secret.
    static func random() -> KeySecret {
        var generator = SystemRandomNumberGenerator()
        return KeySecret((generator.next(), generator.next(), generator.next(), generator.next()))
    }
}

/// `rouse keys rotate`.
struct KeysRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Give a key a new secret and show it, this once.",
        discussion: """
            The new secret is taken at once, and the old one beside it: until --old-expires, or \
            until it is revoked with rouse keys revoke --old. Name, scopes, apps and rate stay.

            Example:

              rouse keys rotate --config rouse.yaml --name orders --old-expires 7d > orders.key
            """)

    @OptionGroup var file: KeysFileOptions

    @Option(help: "The key's name.")
    var name: String

    @Option(
        help: ArgumentHelp(
            "When the old secret expires: a time, a date, or a span from now, as 7d. Without it: "
                + "when it is revoked.",
            valueName: "time"))
    var oldExpires: String?

    @Option(
        help: ArgumentHelp(
            "When the key expires from now on: a time, a date, or a span from now. Without it: as "
                + "before.",
            valueName: "time"))
    var expires: String?

    @OptionGroup var secretOptions: SecretOptions

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        let place = try file.place(variables)
        let secret = KeySecret.random()
        let oldEnd = try KeysPlace.expiry(oldExpires, "--old-expires")?.description
        let end = try KeysPlace.expiry(expires, "--expires")?.description
        let now = WallInstant.now
        var old = ""
        try place.change(
            "api key rotated", name, ["old_expires_at": oldEnd, "expires_at": end]
        ) { (file) throws(CommandFailure) in
            let index = try KeysPlace.index(of: name, in: file)
            try Self.rotate(&file.keys[index], secret, oldEnd: oldEnd, end: end, at: now)
            return file.keys[index]
        } after: { (entry) throws(CommandFailure) in
            old = Self.remark(onOldSecretOf: entry)
            try secretOptions.show(secret, of: entry)
        }
        console.remark(
            "The key \"\(name)\" has a new secret. It is shown this once, and a running gateway "
                + "takes it at once. \(old)")
    }

    /// How long the old secret is taken, as a sentence.
    private static func remark(onOldSecretOf entry: KeysFile.Entry) -> String {
        guard let previous = entry.previous else {
            return "The old one has expired, and stays refused."
        }
        let ends = [previous.expiresAt, entry.expiresAt].compactMap { $0.flatMap(instant) }
        return "The old one is taken "
            + (ends.min().map { "until \($0)." }
                ?? "until you revoke it: rouse keys revoke --name \(entry.name) --old")
    }

    private static func instant(_ text: String) -> WallInstant? { WallInstant(timeText: text) }

    /// Gives the key the new secret beside its present one.
    private static func rotate(
        _ entry: inout KeysFile.Entry, _ secret: KeySecret, oldEnd: String?, end: String?,
        at now: WallInstant
    ) throws(CommandFailure) {
        if let previous = entry.previous, !previous.isExpired(at: now) {
            throw CommandFailure(
                .no,
                "The key \(entry.name) has two secrets already. Revoke the older one first: "
                    + "rouse keys revoke --name \(entry.name) --old")
        }
        if entry.isExpired(at: now), end == nil {
            throw CommandFailure(
                .no,
                "The key \(entry.name) has expired. Say how long it lasts now with --expires.")
        }
        // A secret that has expired, or will, is not given more time by the key's new one.
        let ends = [oldEnd, entry.expiresAt].compactMap { $0.flatMap(instant) }
        entry.previous =
            entry.isExpired(at: now)
            ? nil : .init(sha256: entry.sha256, expiresAt: ends.min()?.description)
        entry.sha256 = secret.sha256
        entry.rotatedAt = now.description
        entry.rotatedBy = KeysPlace.userName
        entry.expiresAt = end ?? entry.expiresAt
    }
}

/// `rouse keys list`.
struct KeysListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the keys, when they were used last, and revoked ones too.",
        discussion: """
            With --config the keys of api-keys are listed too. Uses are known to the minute, from \
            a running gateway.

            Example:

              rouse keys list --config rouse.yaml --json
            """)

    @OptionGroup var file: KeysFileOptions

    @Flag(help: "Write the list as JSON.")
    var json = false

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        let place = try file.place(variables)
        let uses = KeyUses(besideKeysFile: place.path)
        let documents =
            try KeysFile(path: place.path).keys.map { KeyDocument($0, uses) }
            + (place.configuration?.apiKeys ?? []).map { KeyDocument($0, uses) }
        if json {
            try console.write(KeyListDocument(keys: documents))
            return
        }
        if documents.isEmpty {
            console.say("There are no keys. Make one with: rouse keys create")
        }
        let now = WallInstant.now
        for key in documents { key.say(console, at: now) }
    }
}

/// `rouse keys revoke`.
struct KeysRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "End a key for good, or the old secret of a rotated one.",
        discussion: """
            A running gateway refuses the key within a second, and ends the streams and waits of \
            whoever used it.

            Example:

              rouse keys revoke --config rouse.yaml --name orders
            """)

    @OptionGroup var file: KeysFileOptions

    @Option(help: "The key's name.")
    var name: String

    @Flag(help: "Only the secret that it had before rouse keys rotate.")
    var old = false

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        let place = try file.place(variables)
        if place.configuration?.apiKeys.contains(where: { $0.name == name }) == true {
            throw CommandFailure(
                .no,
                "The key \(name) is in api-keys of the configuration. Remove it there, and "
                    + "let the gateway read it by SIGHUP.")
        }
        let now = WallInstant.now.description
        try place.change(
            old ? "api key's old secret revoked" : "api key revoked", name
        ) { (file) throws(CommandFailure) in
            let index = try KeysPlace.index(of: name, in: file)
            guard old else {
                file.keys[index].revokedAt = now
                file.keys[index].revokedBy = KeysPlace.userName
                file.keys[index].previous = nil
                return
            }
            guard file.keys[index].previous != nil else {
                throw CommandFailure(.no, "The key \(name) has no old secret. Nothing is revoked.")
            }
            file.keys[index].previous = nil
        }
        console.say(
            (old ? "The old secret of the key \(name)" : "The key \(name)")
                + " is revoked. A running gateway refuses it within a second.")
    }
}
