// SPDX-License-Identifier: Apache-2.0

import PayloadLint
import WakeModel

/// One mapping of a configuration file: typed lookups whose errors name line, field, problem and
/// fix.
struct ConfigurationMapping {
    /// The file, as it was named.
    let file: String
    /// The path of the mapping in the file, such as `apps[0]`; empty for the root.
    let path: String
    private let mapping: YAMLNode.Mapping
    private let known: [String]
    /// The sources of values that are not from the file, by their paths.
    private let origins: [String: String]

    /// Wraps a node. Throws for anything but a mapping, and for a key that is not `known`.
    init(
        _ node: YAMLNode, file: String, path: String = "", known: [String],
        origins: [String: String] = [:]
    ) throws(CommandFailure) {
        guard let mapping = node.mapping else {
            throw Self.failure(
                file, node.mark, path.isEmpty ? "the file" : path, "is not a mapping",
                "Write keys and values: \(known.joined(separator: ", ")).")
        }
        self.file = file
        self.path = path
        self.mapping = mapping
        self.known = known
        self.origins = origins
        for (key, _) in mapping {
            let name = key.scalar?.string ?? ""
            guard !known.contains(name) else { continue }
            let place = path.isEmpty ? name : "\(path).\(name)"
            let meant = Nearest.name(to: name, among: known)
            throw Self.failure(
                file, key.mark, place, "is no key that Rouse knows",
                meant.map { "Did you mean \($0)?" }
                    ?? "The keys here are \(known.joined(separator: ", ")).")
        }
    }

    /// Reads YAML text that was in `file`; `hint` is what an empty file lacks.
    static func parse(
        _ yaml: String, file: String, hint: String
    ) throws(CommandFailure) -> YAMLNode {
        let node: YAMLNode?
        do throws(YAMLFailure) {
            node = try YAMLNode.parse(yaml)
        } catch {
            throw CommandFailure(.configuration, error.sentence(for: file))
        }
        guard let node else { throw CommandFailure(.configuration, "\(file) is empty. \(hint)") }
        return node
    }

    /// The fault of the value of `key`.
    func failure(_ key: String, _ problem: String, _ remedy: String) -> CommandFailure {
        if let origin = origins[place(key)] {
            return CommandFailure(.configuration, "\(origin) \(problem). \(remedy)")
        }
        let mark = mapping[key]?.mark ?? mapping.mark
        return Self.failure(file, mark, place(key), problem, remedy)
    }

    /// Runs `body` and reports an invalid field as a fault of the value of `key`.
    func checking<Value>(
        _ key: String, _ body: () throws(InvalidField) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(InvalidField) {
            return try body()
        } catch {
            throw failure(key, error.problem, error.remedy)
        }
    }

    /// Whether the key has a value.
    func has(_ key: String) -> Bool { value(key) != nil }

    /// Whether the key has a single value, and not a mapping or a list.
    func isText(_ key: String) -> Bool { value(key)?.scalar != nil }

    /// A text that is not empty; `nil` when the key is absent.
    func string(_ key: String) throws(CommandFailure) -> String? {
        guard let node = value(key) else { return nil }
        guard let text = node.scalar?.string, !text.isEmpty else {
            throw failure(key, "is not a text", "Write one value, in quotes if need be.")
        }
        return text
    }

    /// A text that must be there.
    func requiredString(_ key: String, _ remedy: String) throws(CommandFailure) -> String {
        guard let text = try string(key) else { throw failure(key, "is missing", remedy) }
        return text
    }

    /// A whole number within a range; `nil` when the key is absent.
    func integer(_ key: String, in range: ClosedRange<Int>) throws(CommandFailure) -> Int? {
        guard let node = value(key) else { return nil }
        guard let number = node.integer, range.contains(number) else {
            throw failure(
                key, "is not a whole number from \(range.lowerBound) to \(range.upperBound)",
                "Write such a number, without a unit.")
        }
        return number
    }

    /// A number within a range, with or without a decimal point; `nil` when the key is absent.
    func number(_ key: String, in range: ClosedRange<Double>) throws(CommandFailure) -> Double? {
        guard let node = value(key) else { return nil }
        guard let number = node.number, range.contains(number) else {
            throw failure(
                key, "is not a number from \(range.lowerBound) to \(range.upperBound)",
                "Write such a number, without a unit.")
        }
        return number
    }

    /// A list of texts; `nil` when the key is absent.
    func strings(_ key: String) throws(CommandFailure) -> [String]? {
        guard let node = value(key) else { return nil }
        guard let sequence = node.sequence else {
            throw failure(key, "is not a list", "Begin each entry with a hyphen.")
        }
        var strings: [String] = []
        for node in sequence {
            guard let text = node.scalar?.string, !text.isEmpty else {
                throw failure(key, "holds something else than a text", "Put each in quotes.")
            }
            strings.append(text)
        }
        return strings
    }

    /// `true` or `false`; `nil` when the key is absent.
    func boolean(_ key: String) throws(CommandFailure) -> Bool? {
        guard let node = value(key) else { return nil }
        guard let boolean = node.boolean else {
            throw failure(key, "is neither true nor false", "Write true or false.")
        }
        return boolean
    }

    /// A date, which means its beginning in UTC, or a time of RFC 3339; `nil` when the key is
    /// absent.
    func instant(_ key: String) throws(CommandFailure) -> WallInstant? {
        guard let text = try string(key) else { return nil }
        let isDate = text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil
        guard Double(text) == nil,
            let instant = WallInstant(timeText: isDate ? text + "T00:00:00Z" : text)
        else {
            throw failure(
                key, "is no time", "Write it as 2027-01-31, or as 2027-01-31T12:00:00Z.")
        }
        return instant
    }

    /// One of a few words; `nil` when the key is absent.
    func choice<Word: RawRepresentable & CaseIterable>(
        _ key: String, _ type: Word.Type = Word.self
    ) throws(CommandFailure) -> Word? where Word.RawValue == String {
        guard let text = try string(key) else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue)
            let meant = Nearest.name(to: text, among: words)
            throw failure(
                key, "is not one of its values",
                meant.map { "Did you mean \($0)?" }
                    ?? "Write one of \(words.joined(separator: ", ")).")
        }
        return word
    }

    /// A list of words out of a few, which is not empty; `nil` when the key is absent.
    func words<Word: RawRepresentable & CaseIterable & Hashable>(
        _ key: String, _ type: Word.Type = Word.self
    ) throws(CommandFailure) -> Set<Word>? where Word.RawValue == String {
        guard let texts = try strings(key) else { return nil }
        let known = Word.allCases.map(\.rawValue)
        var words: Set<Word> = []
        for text in texts {
            guard let word = Word(rawValue: text) else {
                let meant = Nearest.name(to: text, among: known)
                throw failure(
                    key, "holds a word that it cannot",
                    meant.map { "Did you mean \($0)?" } ?? "Use \(known.joined(separator: ", ")).")
            }
            words.insert(word)
        }
        guard !words.isEmpty else {
            throw failure(key, "is empty", "Use one or more of \(known.joined(separator: ", ")).")
        }
        return words
    }

    /// A mapping inside this one; `nil` when the key is absent.
    func mapping(_ key: String, known: [String]) throws(CommandFailure) -> ConfigurationMapping? {
        guard let node = value(key) else { return nil }
        return try ConfigurationMapping(
            node, file: file, path: place(key), known: known, origins: origins)
    }

    /// A list of mappings; empty when the key is absent.
    func list(_ key: String, known: [String]) throws(CommandFailure) -> [ConfigurationMapping] {
        guard let node = value(key) else { return [] }
        guard let sequence = node.sequence else {
            throw failure(key, "is not a list", "Begin each entry with a hyphen.")
        }
        var list: [ConfigurationMapping] = []
        for (index, node) in sequence.enumerated() {
            list.append(
                try ConfigurationMapping(
                    node, file: file, path: "\(place(key))[\(index)]", known: known))
        }
        return list
    }

    private func place(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// The node of a key; `nil` for an absent key, and for one without a value.
    private func value(_ key: String) -> YAMLNode? {
        guard let node = mapping[key], !node.isNull else { return nil }
        return node
    }

    private static func failure(
        _ file: String, _ mark: YAMLNode.Mark?, _ place: String, _ problem: String, _ remedy: String
    ) -> CommandFailure {
        let line = mark.map { ":\($0.line)" } ?? ""
        return CommandFailure(.configuration, "\(file)\(line): \(place) \(problem). \(remedy)")
    }
}
