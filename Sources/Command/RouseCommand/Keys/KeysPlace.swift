// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import ArgumentParser
import Glibc
import PayloadLint
import WakeModel

/// Where the keys are, as it was typed.
struct KeysFileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The configuration. Or ROUSE_CONFIG.", valueName: "file"),
        completion: .file())
    var config: String?

    @Option(
        help: ArgumentHelp("The keys' file itself. Or ROUSE_KEYS_FILE.", valueName: "file"),
        completion: .file())
    var keysFile: String?

    /// The file, and what is known besides.
    func place(_ variables: Variables) throws(CommandFailure) -> KeysPlace {
        let configuration = try (config ?? variables[.configuration]).map {
            (path) throws(CommandFailure) in
            try ServeConfiguration(path: path, variables: variables)
        }
        guard
            let path = keysFile ?? configuration?.effectiveKeysPath ?? variables[.keysFile]
        else {
            throw CommandFailure(
                .usage, "No keys' file is named. Give --config or --keys-file.")
        }
        return KeysPlace(path: path, configuration: configuration)
    }
}

/// The keys' file, and the configuration that goes with it if one was named.
struct KeysPlace {
    let path: String
    let configuration: ServeConfiguration?

    /// The file that changes are noted in; `nil` where none is configured: then a running gateway
    /// notes in its log which keys it takes and refuses.
    private var audit: AuditFile? {
        configuration?.auditPath.map { AuditFile(path: $0) }
    }

    /// Changes the keys' file, if the change can be noted in the audit log, and notes it there.
    ///
    /// `confirm` gets what `body` returns, when nothing but the last step can fail any more.
    func change<Value>(
        _ what: String, _ name: String, _ details: KeyValuePairs<String, String?> = [:],
        _ body: (inout KeysFile) throws(CommandFailure) -> Value,
        after confirm: (Value) throws(CommandFailure) -> Void = { _ in }
    ) throws(CommandFailure) {
        do throws(AuditFile.Failure) {
            try audit?.check()
        } catch {
            throw CommandFailure(.notAllowed, "audit-file: \(error)")
        }
        _ = try KeysFile.change(path, body, after: confirm)
        do throws(AuditFile.Failure) {
            try audit?.append(
                AuditEntry(
                    at: WallInstant.now, what, by: Self.userName,
                    from: "command line", to: name, details))
        } catch {
            throw CommandFailure(
                .output, "\(what): done, but it could not be noted. audit-file: \(error)")
        }
    }

    /// Refuses a name that a key of the configuration has.
    func checkIsFree(_ name: String) throws(CommandFailure) {
        guard configuration?.apiKeys.contains(where: { $0.name == name }) == true else { return }
        throw CommandFailure(
            .usage,
            "A key in api-keys of the configuration is named \(name). Use another name.")
    }

    /// The given apps, after checking that they are valid, and configured where that can be
    /// checked; `nil` for all.
    func apps(_ texts: [String]) throws(CommandFailure) -> [String]? {
        guard !texts.isEmpty else { return nil }
        let configured = configuration.map { Set($0.apps.map(\.bundleID)) }
        var apps: Set<String> = []
        for text in texts.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            let app = try failing(with: .usage) { () throws(InvalidField) in
                do throws(InvalidField) {
                    return try BundleID(String(text))
                } catch {
                    throw InvalidField(
                        field: "--apps", problem: error.problem, remedy: error.remedy)
                }
            }
            if let configured, !configured.contains(app) {
                let names = configured.map(\.value).sorted()
                let meant = Nearest.name(to: app.value, among: names)
                throw CommandFailure(
                    .usage,
                    "--apps \(app) is not among the configured apps. "
                        + (meant.map { "Did you mean \($0)?" }
                            ?? "They are: \(names.joined(separator: ", "))."))
            }
            apps.insert(app.value)
        }
        return apps.sorted()
    }

    /// The active key of this name; fails with `no`, naming one that may be meant.
    static func index(of name: String, in file: KeysFile) throws(CommandFailure) -> Int {
        if let index = file.keys.lastIndex(where: { $0.name == name && $0.revokedAt == nil }) {
            return index
        }
        let names = file.keys.filter { $0.revokedAt == nil }.map(\.name)
        let meant = Nearest.name(to: name, among: names)
        throw CommandFailure(
            .no,
            "No active key is named \(name). "
                + (meant.map { "Did you mean \($0)?" } ?? "`rouse keys list` shows them."))
    }

    /// The instant that was typed: a time of RFC 3339, a date, or so long from now.
    static func expiry(_ text: String?, _ option: String) throws(CommandFailure) -> WallInstant? {
        guard let text else { return nil }
        let now = WallInstant.now
        guard let instant = expiry(text, from: now) else {
            throw CommandFailure(
                .usage,
                "\(option) \(text) is no time. Write 2027-01-31T12:00:00Z, 2027-01-31, or a span "
                    + "from now: 90d, 12h, 30m.")
        }
        guard instant > now else {
            throw CommandFailure(.usage, "\(option) \(text) is over already. Name a later time.")
        }
        return instant
    }

    static func expiry(_ text: String, from now: WallInstant) -> WallInstant? {
        let units: [Character: Int64] = ["d": 86_400, "h": 3_600, "m": 60, "s": 1]
        if let unit = text.last.flatMap({ units[$0] }) {
            // Ten thousand days are as long as anybody can mean.
            guard let count = Int64(text.dropLast()), (1...864_000_000).contains(count),
                text.first?.isNumber == true, count * unit <= 864_000_000
            else { return nil }
            return now.advanced(bySeconds: count * unit)
        }
        if text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil {
            return WallInstant(timeText: text + "T00:00:00Z")
        }
        // A bare number, which elsewhere is a time since 1970, is more likely a span without unit.
        return Double(text) == nil ? WallInstant(timeText: text) : nil
    }

    /// The user of the machine, for the record.
    static var userName: String {
        guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else {
            return "uid \(getuid())"
        }
        return String(cString: name)
    }
}
