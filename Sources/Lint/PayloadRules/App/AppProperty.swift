// SPDX-License-Identifier: Apache-2.0

/// A value of a property list (an Info.plist, an entitlements file, a build setting) with its
/// place.
public struct AppProperty: Hashable, Sendable {
    /// The value of a property.
    public indirect enum Value: Hashable, Sendable {
        case string(String)
        case boolean(Bool)
        case integer(Int64)
        case real(Double)
        case array([AppProperty])
        case dictionary([String: AppProperty])
        /// A date, data, or another value that no rule checks.
        case opaque
    }

    /// The value.
    public var value: Value
    /// The place of the value.
    public var place: AppPlace

    /// Creates a value with a place.
    public init(_ value: Value, at place: AppPlace) {
        self.value = value
        self.place = place
    }

    /// The string; `nil` for other values.
    public var string: String? {
        if case .string(let text) = value { text } else { nil }
    }

    /// Whether the text of a bundle id, a mode or an environment contains an unknown build setting,
    /// so that it can be any.
    public static func namesBuildSetting(_ text: String) -> Bool {
        !buildSettings(in: text, limit: 1).isEmpty
    }

    /// The first references to build settings in a text: `$(NAME)`, `${NAME}` and `$NAME`.
    public static func buildSettings(in text: String, limit: Int = 8) -> [String] {
        var found: [String] = []
        var rest = text[...]
        while found.count < limit, let dollar = rest.firstIndex(of: "$") {
            rest = rest[rest.index(after: dollar)...]
            guard let first = rest.first else { break }
            let name: Substring
            if first == "(" || first == "{" {
                name = bracketed(rest)
            } else if first.isASCII, first.isUppercase {
                name = rest.prefix { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
            } else {
                continue
            }
            rest = rest[name.endIndex...]
            if !found.contains("$" + name) { found.append("$" + name) }
        }
        return found
    }

    /// The start of a text up to the bracket that closes the first one, or a hundred characters.
    private static func bracketed(_ text: Substring) -> Substring {
        var depth = 0
        for index in text.prefix(100).indices {
            if "({".contains(text[index]) { depth += 1 }
            if ")}".contains(text[index]) { depth -= 1 }
            if depth == 0 { return text[...index] }
        }
        return text.prefix(100)
    }

    /// Whether the value is true: a Boolean, or its text in a build setting.
    public var isTrue: Bool {
        switch value {
        case .boolean(let flag): flag
        case .string(let text): ["YES", "yes", "true", "1"].contains(text)
        case .integer(let number): number == 1
        case .real, .array, .dictionary, .opaque: false
        }
    }

    /// The strings of an array; other elements are omitted.
    public var strings: [Located<String>] {
        guard case .array(let elements) = value else { return [] }
        return elements.compactMap { element in
            element.string.map { Located($0, at: element.place) }
        }
    }

    /// A member of a dictionary; `nil` for other values.
    public subscript(key: String) -> AppProperty? {
        if case .dictionary(let members) = value { members[key] } else { nil }
    }
}

/// The root dictionary of a property list.
public struct AppProperties: Hashable, Sendable {
    /// The start of the list, which is the place of findings about missing members.
    public var place: AppPlace
    /// The members.
    public var members: [String: AppProperty]

    /// Creates a dictionary with a place.
    public init(_ members: [String: AppProperty], at place: AppPlace) {
        self.members = members
        self.place = place
    }

    /// The member with this key.
    public subscript(key: String) -> AppProperty? { members[key] }
}
