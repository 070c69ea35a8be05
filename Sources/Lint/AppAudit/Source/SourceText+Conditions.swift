// SPDX-License-Identifier: Apache-2.0

/// Conditional compilation.
extension SourceText {
    /// Whether a release build for iOS devices compiles a token, as far as the conditions are
    /// known: `#if os(iOS)`, `#if canImport(UIKit)`, `#if !DEBUG` and similar.
    func isBuiltForIOS(_ index: Int) -> Bool {
        guard tokens[index].isConditional else { return true }
        // For each enclosing condition: whether this part, and an earlier part, is compiled.
        var around: [(now: Bool?, before: Bool?)] = []
        for directive in directives {
            guard directive < index else { break }
            switch tokens[directive].text {
            case "if": around.append((condition(at: directive), false))
            case "endif": _ = around.popLast()
            default:
                guard let last = around.popLast() else { continue }
                let before = Self.either(last.before, last.now)
                let own = tokens[directive].text == "else" ? true : condition(at: directive)
                around.append((Self.both(before.map { !$0 }, own), before))
            }
        }
        return around.allSatisfy { $0.now == true }
    }

    /// The one of the parts behind an `#if` that a release for devices has: an empty range for
    /// none, `nil` if it is unknown.
    func built(_ parts: [Range<Int>], of directive: Int, hasElse: Bool) -> Range<Int>? {
        guard let isMet = condition(at: directive), let first = parts.first else { return nil }
        if isMet { return first }
        if parts.count == 1 { return first.lowerBound..<first.lowerBound }
        return hasElse && parts.count == 2 ? parts[1] : nil
    }

    /// Whether the condition of a directive is met; `nil` if it is unknown.
    func condition(at directive: Int) -> Bool? {
        // In Objective-C the lexer skips the rest of the line.
        guard !isObjectiveC else { return nil }
        let line = tokens[directive].position.line
        let words = (directive + 1..<tokens.count).prefix(AuditLimits.headWords)
            .prefix { tokens[$0].position.line == line }
        guard let first = words.first, let last = words.last else { return nil }
        return value(of: first..<last + 1, depth: 0)
    }

    private func value(of words: Range<Int>, depth: Int) -> Bool? {
        guard depth < AuditLimits.sourceDepth, let first = words.first else { return nil }
        for (sign, join) in [("||", Self.either), ("&&", Self.both)] {
            var index = first
            while index < words.upperBound {
                if tokens[index].isMark(sign) {
                    return join(
                        value(of: first..<index, depth: depth + 1),
                        value(of: index + 1..<words.upperBound, depth: depth + 1))
                }
                index = skipBracket(index, words)
            }
        }
        if tokens[first].isMark("!") {
            return value(of: first + 1..<words.upperBound, depth: depth + 1).map { !$0 }
        }
        if tokens[first].isMark("("), partners[first] == words.upperBound - 1 {
            return value(of: first + 1..<words.upperBound - 1, depth: depth + 1)
        }
        if words.count == 1 {
            return ["true": true, "false": false, "DEBUG": false][tokens[first].text]
        }
        guard words.count == 4, sees("(", at: first + 1), sees(")", at: first + 3) else {
            return nil
        }
        let argument = tokens[first + 2].text
        switch tokens[first].text {
        case "os": return argument == "iOS"
        case "targetEnvironment": return false
        case "canImport": return Self.frameworks.contains(argument) ? true : nil
        default: return nil
        }
    }

    /// Frameworks in the iOS SDK.
    private static let frameworks: Set = [
        "ActivityKit", "BackgroundTasks", "CallKit", "Combine", "Foundation", "PushKit", "SwiftUI",
        "UIKit", "UserNotifications", "WidgetKit",
    ]

    private static func either(_ left: Bool?, _ right: Bool?) -> Bool? {
        if left == true || right == true { return true }
        return left == nil || right == nil ? nil : false
    }

    private static func both(_ left: Bool?, _ right: Bool?) -> Bool? {
        if left == false || right == false { return false }
        return left == nil || right == nil ? nil : true
    }
}
