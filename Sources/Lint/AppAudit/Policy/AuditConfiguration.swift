// SPDX-License-Identifier: Apache-2.0

public import PayloadRules
import Yams

/// What a `.rouse-lint.yaml` says to the audit.
///
/// | Key | Value |
/// |---|---|
/// | `select` | a list of rules that are asked, by id or as `CF`; without it all are |
/// | `ignore` | a list of rules that are not asked |
/// | `severity` | a mapping of rule ids to `error`, `warning`, `note` or `off` |
/// | `exclude` | a list of patterns of files and folders that are passed over, from this folder |
/// | `sends` | a list of what the server sends, or a mapping of targets to such lists |
/// | `baseline` | the path of a file of known findings, from this folder |
///
/// The file is the one of the payload checker, whose keys and rules are passed over here.
public struct AuditConfiguration: Hashable, Sendable {
    /// The file's name.
    public static let fileName = ".rouse-lint.yaml"

    /// Which findings are reported, and how much they weigh.
    public var policy = AuditPolicy()
    /// Patterns of what is passed over.
    public var excluded: [String] = []
    /// The folder that the patterns begin at.
    public var folder = "."
    /// What the server sends.
    public var sends: Set<ServerPush> = []
    /// What the server sends to single targets.
    public var sendsByTarget: [String: Set<ServerPush>] = [:]
    /// The file of known findings; `nil` where none is named.
    public var baseline: String?

    /// Nothing said.
    public init() {}

    /// Reads the nearest file above a path; says nothing where there is none.
    ///
    /// - Throws: ``AuditConfigurationFailure`` for a file that cannot be understood.
    public init(nearestTo path: String) throws(AuditConfigurationFailure) {
        let current = FileTree.currentFolder
        var folder = Paths.join(current, path)
        if FileTree.kind(of: folder) != .folder { folder = Paths.folder(of: folder) }
        while true {
            let file = Paths.join(folder, Self.fileName)
            if FileTree.kind(of: file) == .file {
                let isBelow = file.hasPrefix(current + "/") && !path.hasPrefix("/")
                try self.init(
                    file: isBelow ? String(file.dropFirst(current.count + 1)) : file)
                return
            }
            guard folder != "/", folder != "." else { break }
            folder = Paths.folder(of: folder)
        }
        self.init()
    }

    /// Reads a file.
    ///
    /// - Throws: ``AuditConfigurationFailure`` for a file that cannot be understood.
    public init(file: String) throws(AuditConfigurationFailure) {
        guard let bytes = try? FileTree.read(file, limit: AuditLimits.settingsBytes) else {
            throw AuditConfigurationFailure("\(file) cannot be read. Check the path.")
        }
        let node: Node?
        do {
            node = try Yams.compose(yaml: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw AuditConfigurationFailure("\(file) is not YAML.")
        }
        folder = Paths.folder(of: file)
        guard let node, node.null == nil else { return }
        guard let mapping = node.mapping else {
            throw AuditConfigurationFailure("\(file): the file is no mapping of keys to values.")
        }
        for (key, value) in mapping {
            try read(key.scalar?.string ?? "", value, Place(file: file, node: key))
        }
    }

    /// Where something stands, for a message.
    private struct Place {
        let file: String
        let node: Node

        func failure(_ problem: String) -> AuditConfigurationFailure {
            let line = node.mark.map { ":\($0.line)" } ?? ""
            return AuditConfigurationFailure("\(file)\(line): \(problem)")
        }
    }

    private mutating func read(
        _ key: String, _ value: Node, _ place: Place
    ) throws(AuditConfigurationFailure) {
        switch key {
        case "select": policy.selected = try rules(value, place)
        case "ignore": policy.ignored = try rules(value, place) ?? []
        case "severity": try readSeverities(value, place)
        case "exclude": excluded = try texts(value, place)
        case "sends": try readSends(value, place)
        case "baseline": baseline = value.scalar.map { Paths.join(folder, $0.string) }
        default: return
        }
    }

    private func texts(_ node: Node, _ place: Place) throws(AuditConfigurationFailure) -> [String] {
        if let scalar = node.scalar { return [scalar.string] }
        let texts = node.sequence?.compactMap { $0.scalar?.string }
        guard let texts, texts.count == node.sequence?.count else {
            throw place.failure("this is no list of texts. Begin each entry with a hyphen.")
        }
        return texts
    }

    /// The rules about apps in a list; `nil` where it names only others.
    private func rules(
        _ node: Node, _ place: Place
    ) throws(AuditConfigurationFailure) -> Set<RuleID>? {
        var found: Set<RuleID> = []
        var isForApps = false
        for name in try texts(node, place) {
            guard name.uppercased().hasPrefix("CF") else { continue }
            isForApps = true
            do throws(AuditConfigurationFailure) {
                found.formUnion(try AuditPolicy.rules(named: name))
            } catch {
                throw place.failure(error.message)
            }
        }
        return isForApps ? found : nil
    }

    private mutating func readSeverities(
        _ node: Node, _ place: Place
    ) throws(AuditConfigurationFailure) {
        for (key, value) in node.mapping ?? Node.Mapping([]) {
            let name = key.scalar?.string ?? ""
            guard name.uppercased().hasPrefix("CF") else { continue }
            let place = Place(file: place.file, node: key)
            let word = value.scalar?.string ?? ""
            guard word == "off" || Severity(rawValue: word) != nil else {
                throw place.failure("\(name) is no severity. Write error, warning, note or off.")
            }
            guard let rule = AppRules.rule(RuleID(rawValue: name.uppercased())) else {
                throw place.failure("\(name) is no rule about apps.")
            }
            policy.weights[rule.id] = .some(Severity(rawValue: word))
        }
    }

    private mutating func readSends(
        _ node: Node, _ place: Place
    ) throws(AuditConfigurationFailure) {
        guard let mapping = node.mapping else {
            sends = try pushes(node, place)
            return
        }
        for (key, value) in mapping {
            guard let target = key.scalar?.string else { continue }
            sendsByTarget[target] = try pushes(value, Place(file: place.file, node: key))
        }
    }

    private func pushes(
        _ node: Node, _ place: Place
    ) throws(AuditConfigurationFailure) -> Set<ServerPush> {
        var pushes: Set<ServerPush> = []
        for name in try texts(node, place).flatMap({ $0.split { $0 == "," || $0 == " " } }) {
            guard let push = ServerPush(rawValue: name.lowercased()) else {
                let known = ServerPush.allCases.map(\.rawValue).joined(separator: ", ")
                throw place.failure("\(name) is no kind of push. Known are \(known).")
            }
            pushes.insert(push)
        }
        return pushes
    }
}

/// Why a configuration or a baseline cannot be used.
public struct AuditConfigurationFailure: Error, Hashable, Sendable {
    /// What is wrong and what to do, in sentences.
    public let message: String

    init(_ message: String) { self.message = message }
}
