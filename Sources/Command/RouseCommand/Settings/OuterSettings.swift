// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import PayloadLint

/// The overrides of a configuration file: the environment, and the command line, which overrides
/// both.
///
/// Every key of the file with a single value has a variable: `ROUSE_` and the key's path in
/// capitals, with `_` for hyphens and dots, as `ROUSE_BUDGET_HOURLY_SENDS` for
/// `budget.hourly-sends`; three are shorter. The names are derived from the reader's keys, so that
/// a new key has its variable. Lists are in the file alone.
struct OuterSettings {
    /// A key of the file with a single value.
    struct Key: Hashable, Sendable {
        /// Its path in the file, such as `budget.hourly-sends`.
        let path: String
        /// The variable that overrides it.
        let variable: String

        /// Whether it names a file. In the file that is relative to the file's folder, outside of
        /// it to the folder in which the program was started.
        var isFile: Bool { path == "store" || path.hasSuffix("-file") }
        /// Whether its value can have a password in it.
        var isSecret: Bool { path == "transport.proxy" || path == "store" }

        fileprivate init(_ path: String) {
            self.path = path
            let name = path.uppercased().map { $0 == "-" || $0 == "." ? "_" : $0 }
            variable = OuterSettings.shortNames[path] ?? "ROUSE_" + String(name)
        }
    }

    /// The keys at the top that hold lists.
    static let lists: Set = ["api-keys", "webhooks", "apps"]
    /// The keys inside ``mappings`` that hold lists.
    static let innerLists: Set = ["webhook.events", "webhook.apps"]
    /// The keys at the top that hold others.
    static let mappings = [
        "listener": ServeConfiguration.ListenerSettings.keys,
        "tls": ServeConfiguration.TLSFiles.keys, "budget": BudgetMapping.keys,
        "webhook": ServeConfiguration.Webhook.keys,
        "transport": ServeConfiguration.TransportSettings.keys,
    ]
    /// What the shipped templates for CI services read, in jobs that run `rouse` too.
    static let templateNames: Set = [
        "ROUSE_IMAGE", "ROUSE_OPTIONS", "ROUSE_PAYLOADS", "ROUSE_PROJECT", "ROUSE_SENDS",
        "ROUSE_STRICT", "ROUSE_SARIF",
    ]
    /// Variables that are named as their options are.
    private static let shortNames = [
        "tls.certificate-file": "ROUSE_TLS_CERTIFICATE", "tls.key-file": "ROUSE_TLS_KEY",
        "transport.kind": "ROUSE_TRANSPORT",
    ]

    /// All keys with a single value, in the order of the file.
    static let keys: [Key] = ServeConfiguration.keys.flatMap { key in
        if lists.contains(key) { return [Key]() }
        guard let inner = mappings[key] else { return [Key(key)] }
        return inner.map { "\(key).\($0)" }.filter { !innerLists.contains($0) }.map(Key.init)
    }

    /// Where the value of a path comes from, as its reader wrote it: `ROUSE_STORE`, `--store`.
    private(set) var origins: [String: String] = [:]
    private var values: [(key: Key, text: String)] = []

    /// The variables that are set. Throws for one that begins like Rouse's and is none.
    init(_ variables: Variables) throws(CommandFailure) {
        try Self.check(variables)
        for key in Self.keys {
            if let text = variables[key.variable] { set(key, text, from: key.variable) }
        }
    }

    /// Puts values of the command line over them. Throws for a path that is no key's.
    mutating func put(_ options: [Option]) throws(CommandFailure) {
        for option in options {
            guard let key = Self.keys.first(where: { $0.path == option.path }) else {
                let meant = Nearest.name(to: option.path, among: Self.keys.map(\.path))
                throw CommandFailure(
                    .usage,
                    "\(option.name) is no key with a single value. "
                        + (meant.map { "Did you mean \($0)?" }
                            ?? "Write it as in the file, as budget.hourly-sends=2."))
            }
            // The command line is readable to every user that may list processes.
            guard !key.isSecret || !option.text.contains("@") else {
                throw CommandFailure(
                    .usage,
                    "\(option.name) would show a password in the list of processes. Set "
                        + "\(key.variable), or write it into the file.")
            }
            set(key, option.text, from: option.name)
        }
    }

    /// A value of the command line.
    struct Option {
        /// The option, as it was typed.
        let name: String
        let path: String
        let text: String
    }

    private mutating func set(_ key: Key, _ text: String, from origin: String) {
        origins[key.path] = origin
        values.append((key, Self.fromHere(text, of: key)))
    }

    /// The value with the whole path of a file or a socket, which otherwise would begin in the
    /// file's folder.
    private static func fromHere(_ text: String, of key: Key) -> String {
        if key.path == "store", ServeConfiguration.isStoreURL(text) { return text }
        if key.isFile, !text.isEmpty { return URL(filePath: text).path(percentEncoded: false) }
        let prefix = ServeConfiguration.Listen.socketPrefix
        guard key.path == "listen", text.hasPrefix(prefix), text != prefix else { return text }
        let socket = URL(filePath: String(text.dropFirst(prefix.count)))
        return prefix + socket.path(percentEncoded: false)
    }

    /// The file with these values in it.
    func over(_ file: YAMLNode) -> YAMLNode {
        guard var root = file.mapping else { return file }
        for (key, text) in values {
            let parts = key.path.split(separator: ".").map(String.init)
            guard parts.count == 2 else {
                root[parts[0]] = YAMLNode(text)
                continue
            }
            guard var inner = Self.mapping(at: parts[0], in: root) else { continue }
            inner[parts[1]] = YAMLNode(text)
            root[parts[0]] = .mapping(inner)
        }
        return .mapping(root)
    }

    /// What holds the inner keys; `nil` when the file has something else there, which its reader
    /// will refuse.
    private static func mapping(at key: String, in file: YAMLNode.Mapping) -> YAMLNode.Mapping? {
        guard let node = file[key], !node.isNull else { return YAMLNode.Mapping([]) }
        if let mapping = node.mapping { return mapping }
        // `transport` may be the one word of its kind.
        guard key == "transport", node.scalar != nil else { return nil }
        return YAMLNode.Mapping([(YAMLNode("kind"), node)])
    }

    /// Refuses a variable that is most likely misspelt: ignoring it would apply a setting that was
    /// not intended.
    static func check(_ variables: Variables) throws(CommandFailure) {
        let known = Variable.allCases.map(\.rawValue) + keys.map(\.variable)
        for name in variables.names.sorted()
        where name.hasPrefix("ROUSE_") && !known.contains(name) && !templateNames.contains(name)
            && !isServiceLink(name, variables[name] ?? "")
        {
            let meant = Nearest.name(to: name, among: known)
            throw CommandFailure(
                .configuration,
                "\(name) is no variable that Rouse knows. "
                    + (meant.map { "Did you mean \($0)?" }
                        ?? "Its name is that of a key, as ROUSE_RETENTION_DAYS. Unset it."))
        }
    }

    /// The same for a gateway without a file. It has settings of its own but for those in `used`,
    /// so a variable that overrides a file, or belongs to one, would be set in vain.
    static func check(
        _ variables: Variables, withoutFileBut used: Set<Variable>
    ) throws(CommandFailure) {
        try check(variables)
        let settings = keys.map(\.variable) + Variable.ofFile.map(\.rawValue)
        let names = Set(settings).subtracting(used.map(\.rawValue)).intersection(variables.names)
        guard let name = names.min() else { return }
        throw CommandFailure(
            .configuration,
            "\(name) is for a gateway with a configuration file, and --dev has settings of its "
                + "own. Unset it, or give --config in place of --dev.")
    }

    /// Whether Kubernetes sets it in every pod beside a service whose name begins with `rouse`.
    /// https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
    private static func isServiceLink(_ name: String, _ value: String) -> Bool {
        name.hasSuffix("_SERVICE_HOST") || name.contains("_SERVICE_PORT")
            || name.contains(/_PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/)
            || name.hasSuffix("_PORT") && value.contains(/^(tcp|udp|sctp):\/\//)
    }
}
