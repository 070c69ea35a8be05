// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A mapping of a configuration file. Errors name the line, the key, the problem and the fix.
struct SettingsMapping {
    private let file: String
    private let path: String
    private let mapping: YAMLNode.Mapping

    /// Creates a mapping from a node. Throws if the node is not a mapping, or for a key that is not
    /// in `known`; `noun` names the keys in messages.
    init(
        _ node: YAMLNode, file: String, path: String = "", known: [String],
        noun: String = "keys here"
    ) throws(LintProblem) {
        guard let mapping = node.mapping else {
            throw Self.problem(
                file, node, path.isEmpty ? "the file" : path, "is not a mapping",
                "Write keys and values; the \(noun) are \(known.joined(separator: ", ")).")
        }
        self.file = file
        self.path = path
        self.mapping = mapping
        for (key, _) in mapping {
            let name = key.scalar?.string ?? ""
            guard !known.contains(name) else { continue }
            throw Self.problem(
                file, key, path.isEmpty ? name : "\(path).\(name)", "is no key that Rouse knows",
                Nearest.remedy(for: name, among: known, called: noun))
        }
    }

    /// The keys with their values, in the order of the file.
    var scalars: [(key: String, value: String)] {
        get throws(LintProblem) {
            var scalars: [(key: String, value: String)] = []
            for (key, value) in mapping {
                let name = key.scalar?.string ?? ""
                guard let text = value.scalar?.string else {
                    throw problem(name, "is not a single value", "Write one word or number.")
                }
                scalars.append((name, text))
            }
            return scalars
        }
    }

    /// The problem for the value of a key.
    func problem(_ key: String, _ problem: String, _ remedy: String) -> LintProblem {
        Self.problem(
            file, mapping[key] ?? .mapping(mapping), path.isEmpty ? key : "\(path).\(key)",
            problem, remedy)
    }

    /// A string; `nil` if the key is absent.
    func string(_ key: String) throws(LintProblem) -> String? {
        guard let node = mapping[key] else { return nil }
        guard let text = node.scalar?.string, !text.isEmpty else {
            throw problem(key, "is not a text", "Write one value, in quotes if need be.")
        }
        return text
    }

    /// A list of strings; `nil` if the key is absent.
    func strings(_ key: String) throws(LintProblem) -> [String]? {
        guard let node = mapping[key] else { return nil }
        let texts = node.sequence?.map { $0.scalar?.string ?? "" }
        guard let texts, !texts.contains("") else {
            throw problem(key, "is not a list of texts", "Begin each entry with a hyphen.")
        }
        return texts
    }

    /// Kinds of pushes, as a list or as words in one string, for all targets or for each one in a
    /// mapping.
    func pushes(
        _ key: String
    ) throws(LintProblem) -> (all: Set<ServerPush>, byName: [String: Set<ServerPush>]) {
        guard let node = mapping[key] else { return ([], [:]) }
        guard let names = node.mapping else { return (try pushes(key, node), [:]) }
        var byName: [String: Set<ServerPush>] = [:]
        for (name, value) in names {
            guard let name = name.scalar?.string else { continue }
            byName[name] = try pushes("\(key).\(name)", value)
        }
        return ([], byName)
    }

    private func pushes(_ place: String, _ node: YAMLNode) throws(LintProblem) -> Set<ServerPush> {
        let texts = node.sequence?.map { $0.scalar?.string ?? "" } ?? [node.scalar?.string ?? ""]
        var pushes: Set<ServerPush> = []
        for name in texts.flatMap({ $0.isEmpty ? [""] : $0.split { $0 == "," || $0 == " " } }) {
            guard let push = ServerPush(rawValue: name.lowercased()) else {
                let known = ServerPush.allCases.map(\.rawValue)
                throw Self.problem(
                    file, node, place,
                    name.isEmpty
                        ? "names what is no kind of push"
                        : "names `\(name)`, which is no kind of push",
                    Nearest.remedy(for: String(name), among: known, called: "kinds"))
            }
            pushes.insert(push)
        }
        return pushes
    }

    /// A nested mapping; `nil` if the key is absent.
    func mapping(
        _ key: String, known: [String], noun: String
    ) throws(LintProblem) -> SettingsMapping? {
        guard let node = mapping[key] else { return nil }
        return try SettingsMapping(node, file: file, path: key, known: known, noun: noun)
    }

    private static func problem(
        _ file: String, _ node: YAMLNode, _ place: String, _ problem: String, _ remedy: String
    ) -> LintProblem {
        let line = node.mark.map { ":\($0.line)" } ?? ""
        return LintProblem(.configuration, "\(file)\(line): \(place) \(problem). \(remedy)")
    }
}
