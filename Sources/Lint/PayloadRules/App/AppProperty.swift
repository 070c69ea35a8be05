// SPDX-License-Identifier: Apache-2.0

/// A value of a property list (an Info.plist, an entitlements file, a build setting), and its
/// place.
public struct AppProperty: Hashable, Sendable {
    /// What a property list can hold.
    public indirect enum Value: Hashable, Sendable {
        case string(String)
        case boolean(Bool)
        case integer(Int64)
        case real(Double)
        case array([AppProperty])
        case dictionary([String: AppProperty])
        /// A date, data, or another value that no rule examines.
        case opaque
    }

    /// The value.
    public var value: Value
    /// The place of the value.
    public var place: AppPlace

    /// Pairs a value with its place.
    public init(_ value: Value, at place: AppPlace) {
        self.value = value
        self.place = place
    }

    /// The text, if this is a text.
    public var string: String? {
        if case .string(let text) = value { text } else { nil }
    }

    /// Whether the text of a bundle id, a mode or an environment names a build setting that is not
    /// known, so that it can become anything.
    public static func namesBuildSetting(_ text: String) -> Bool {
        var rest = text[...]
        while let dollar = rest.firstIndex(of: "$") {
            rest = rest[rest.index(after: dollar)...]
            // `$(NAME)`, `${NAME}` and `$NAME`.
            if let next = rest.first,
                next == "(" || next == "{" || (next.isASCII && next.isUppercase)
            {
                return true
            }
        }
        return false
    }

    /// Whether this is true: a Boolean, or its text in a build setting.
    public var isTrue: Bool {
        switch value {
        case .boolean(let flag): flag
        case .string(let text): ["YES", "yes", "true", "1"].contains(text)
        case .integer(let number): number == 1
        case .real, .array, .dictionary, .opaque: false
        }
    }

    /// The texts of an array. What is no text is left out.
    public var strings: [Located<String>] {
        guard case .array(let elements) = value else { return [] }
        return elements.compactMap { element in
            element.string.map { Located($0, at: element.place) }
        }
    }

    /// A member, if this is a dictionary.
    public subscript(key: String) -> AppProperty? {
        if case .dictionary(let members) = value { members[key] } else { nil }
    }
}

/// A property list's outermost dictionary.
public struct AppProperties: Hashable, Sendable {
    /// Where the list begins; where something is missing, this is the place that is named.
    public var place: AppPlace
    /// The members.
    public var members: [String: AppProperty]

    /// Pairs the members with their list's place.
    public init(_ members: [String: AppProperty], at place: AppPlace) {
        self.members = members
        self.place = place
    }

    /// A member.
    public subscript(key: String) -> AppProperty? { members[key] }
}
