// SPDX-License-Identifier: Apache-2.0

/// A glob pattern: `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`, and `**` for any number of folders.
package struct GlobPattern: Hashable, Sendable {
    /// One component of a path.
    enum Component: Hashable, Sendable {
        /// A literal name.
        case name(String)
        /// A name with wildcards.
        case wildcards([Unicode.Scalar])
        /// `**`: any number of folders, including none.
        case anyFolders

        init(_ part: String) {
            let hasWildcards = part.contains { "*?[".contains($0) }
            self =
                part == "**"
                ? .anyFolders
                : hasWildcards ? .wildcards(Array(part.unicodeScalars)) : .name(part)
        }
    }

    /// The components, for each expansion of the braces.
    let alternatives: [[Component]]
    /// Whether the pattern is an absolute path.
    let isAbsolute: Bool

    /// Whether a text contains wildcards.
    static func isPattern(_ text: String) -> Bool {
        text.utf8.contains { "*?[{".utf8.contains($0) }
    }

    /// Parses a pattern. Every text is valid: an unclosed bracket or brace is literal.
    package init(_ text: String) {
        isAbsolute = text.hasPrefix("/")
        alternatives = Self.withoutBraces(text).map { alternative in
            let parts = alternative.split(separator: "/").filter { $0 != "." }
            return parts.reduce(into: []) { components, part in
                // Two in a row are equivalent to one.
                if part == "**", components.last == .anyFolders { return }
                components.append(Component(String(part)))
            }
        }
    }

    /// Whether a path, relative to the start of the pattern, matches.
    func matches(_ path: String) -> Bool {
        let names = Self.names(of: path)
        return alternatives.contains { Self.matches($0, names[...]) }
    }

    /// Whether a path or one of its parent folders matches.
    package func covers(_ path: String) -> Bool {
        let names = Self.names(of: path)
        return alternatives.contains { alternative in
            names.indices.contains { Self.matches(alternative, names[...$0]) }
        }
    }

    private static func names(of path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.map(String.init)
    }

    /// Processes the components once, with the set of possible numbers of matched names.
    private static func matches(_ components: [Component], _ names: ArraySlice<String>) -> Bool {
        var reached = [Bool](repeating: false, count: names.count + 1)
        reached[0] = true
        for component in components {
            var next = [Bool](repeating: false, count: reached.count)
            let isAny = component == .anyFolders
            if isAny { next[0] = reached[0] }
            for (index, name) in names.enumerated() {
                let isBefore = isAny ? reached[index] || next[index] : reached[index]
                next[index + 1] = isAny && reached[index + 1]
                if isBefore, component.matches(name) { next[index + 1] = true }
            }
            reached = next
        }
        return reached[names.count]
    }

    /// The expansions of braces: `a.{x,y}` is `a.x` and `a.y`.
    private static func withoutBraces(_ text: String) -> [String] {
        var finished: [String] = []
        var waiting = [text]
        while let next = waiting.popLast() {
            guard let (range, choices) = firstBraces(in: next),
                finished.count + waiting.count < LintLimits.patternAlternatives
            else {
                finished.append(next)
                continue
            }
            for choice in choices.reversed() {
                waiting.append(
                    String(next[..<range.lowerBound] + choice + next[range.upperBound...]))
            }
        }
        return finished
    }

    /// The innermost braces that contain a comma, and their alternatives.
    private static func firstBraces(
        in text: String
    ) -> (range: Range<String.Index>, choices: [Substring])? {
        var opening: String.Index?
        for index in text.indices {
            if text[index] == "{" {
                opening = index
            } else if text[index] == "}", let start = opening {
                let inside = text[text.index(after: start)..<index]
                if inside.contains(",") {
                    return (
                        start..<text.index(after: index),
                        inside.split(separator: ",", omittingEmptySubsequences: false)
                    )
                }
                opening = nil
            }
        }
        return nil
    }
}

extension GlobPattern.Component {
    /// Whether this component matches a name. Wildcards do not match the leading dot of a hidden
    /// file.
    func matches(_ name: String) -> Bool {
        switch self {
        case .anyFolders: return !name.hasPrefix(".")
        case .name(let own): return own == name
        case .wildcards(let pattern):
            guard !name.hasPrefix(".") || pattern.first == "." else { return false }
            return Self.matches(pattern, Array(name.unicodeScalars))
        }
    }

    /// Processes both texts once; after a mismatch, the last `*` matches one more character.
    private static func matches(_ pattern: [Unicode.Scalar], _ name: [Unicode.Scalar]) -> Bool {
        var (p, n) = (0, 0)
        var retry: (pattern: Int, name: Int)?
        while n < name.count {
            if p < pattern.count, pattern[p] == "*" {
                retry = (p + 1, n)
                p += 1
            } else if let next = step(pattern, p, name[n]) {
                p = next
                n += 1
            } else if let (atPattern, atName) = retry {
                retry = (atPattern, atName + 1)
                p = atPattern
                n = atName + 1
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == "*" }
    }

    /// The index in the pattern after the element that matches one character, or `nil`.
    private static func step(
        _ pattern: [Unicode.Scalar], _ place: Int, _ character: Unicode.Scalar
    ) -> Int? {
        guard place < pattern.count else { return nil }
        switch pattern[place] {
        case "?": return place + 1
        case "[":
            guard let (isMember, end) = members(pattern, place, character) else {
                return character == "[" ? place + 1 : nil
            }
            return isMember ? end : nil
        default: return pattern[place] == character ? place + 1 : nil
        }
    }

    /// Whether the bracket expression at `place` contains a character, and the index after it;
    /// `nil` if it is not closed.
    private static func members(
        _ pattern: [Unicode.Scalar], _ place: Int, _ character: Unicode.Scalar
    ) -> (isMember: Bool, end: Int)? {
        var index = place + 1
        let isNegated = index < pattern.count && (pattern[index] == "!" || pattern[index] == "^")
        if isNegated { index += 1 }
        let first = index
        var isMember = false
        while index < pattern.count {
            if pattern[index] == "]", index > first { return (isMember != isNegated, index + 1) }
            if index + 2 < pattern.count, pattern[index + 1] == "-", pattern[index + 2] != "]" {
                let bounds = (pattern[index], pattern[index + 2])
                isMember = isMember || (bounds.0 <= character && character <= bounds.1)
                index += 3
            } else {
                isMember = isMember || pattern[index] == character
                index += 1
            }
        }
        return nil
    }
}
