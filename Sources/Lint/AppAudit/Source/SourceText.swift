// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A source file in Swift or Objective-C: its tokens, matching brackets, and scopes.
struct SourceText {
    /// The path of the file.
    let path: String
    /// Whether the language is Objective-C, not Swift.
    let isObjectiveC: Bool
    /// The tokens.
    let tokens: [SwiftToken]
    /// The indices of `#if`, `#else` and similar.
    let directives: [Int]
    /// For each bracket the index of the matching one; -1 for other tokens and unmatched brackets.
    let partners: [Int]
    /// The scopes, in the order of their opening braces.
    let scopes: [SourceScope]
    /// The innermost scope of each token, or -1. The braces of a scope belong to the enclosing one.
    let scopeIndices: [Int]
    /// The functions by name, in their order.
    let functions: [String: [SourceScope]]
    /// The receivers of calls, each of which is looked for once.
    let owners = Owners()

    /// The receivers of calls by name.
    final class Owners {
        var byName: [String: CallSite.Owner] = [:]
    }

    /// The places of names, which are found when the first one is asked for.
    private let places = Places()

    private final class Places {
        var byName: [String: [Int]]?
        /// The innermost bracket around each token, or -1.
        var brackets: [Int]?
        /// The names that get the value of a flag somewhere.
        var flags: Set<String>?
    }

    /// Parses a file.
    init(_ bytes: [UInt8], path: String) {
        self.path = path
        isObjectiveC = Self.isObjectiveC(path)
        let all = SwiftLexer.tokens(of: bytes, isObjectiveC: isObjectiveC)
        let reached =
            isObjectiveC ? Self.reached(all, Self.partners(in: all)) : Self.reachedInSwift(all)
        tokens = reached ?? all
        directives = tokens.indices.filter { [tokens] index in
            tokens[index].kind == .directive
                && ["if", "elseif", "elif", "else", "endif"].contains(tokens[index].text)
        }
        partners = Self.partners(in: tokens)
        (scopes, scopeIndices) = ScopeFinder.scopes(
            in: tokens, partners, isObjectiveC: isObjectiveC)
        functions = scopes.reduce(into: [:]) { functions, scope in
            guard case .function(let head) = scope.kind else { return }
            functions[head.name, default: []].append(scope)
        }
    }

    /// Whether the language of a file is Objective-C.
    static func isObjectiveC(_ path: String) -> Bool {
        path.hasSuffix(".m") || path.hasSuffix(".mm")
    }

    /// The tokens without what stands in methods behind a `return;` that each path comes to; `nil`
    /// if that is all of them.
    private static func reached(_ tokens: [SwiftToken], _ partners: [Int]) -> [SwiftToken]? {
        var dead: [Range<Int>] = []
        var isMethod = false
        var index = 0
        while index < tokens.count {
            let token = tokens[index]
            if token.isMark("-") || token.isMark("+") { isMethod = true }
            if token.isMark("{"), partners[index] > index {
                let body = index + 1..<partners[index]
                if isMethod, let end = end(of: body, tokens, partners) {
                    dead.append(end..<body.upperBound)
                }
                isMethod = false
            } else if token.isMark(";") {
                isMethod = false
            }
            index = max(index, partners[index]) + 1
        }
        return dead.isEmpty ? nil : without(dead, tokens)
    }

    /// The tokens without what stands in a block of Swift behind a `return` without a value; `nil`
    /// if that is all of them. Only a statement that is no value shows that there is none.
    private static func reachedInSwift(_ tokens: [SwiftToken]) -> [SwiftToken]? {
        guard tokens.indices.contains(where: { returnsNothing($0, tokens) }) else { return nil }
        var dead: [Range<Int>] = []
        // What is open, with the place behind such a `return`, and the directives before it.
        var open: [(mark: String, end: Int?, directives: Int)] = []
        var directives = 0
        for (index, token) in tokens.enumerated() {
            switch token.kind {
            case .directive: directives += 1
            case .mark where ["(", "[", "{", "\\("].contains(token.text):
                open.append((token.text, nil, 0))
            case .mark where [")", "]", "}"].contains(token.text):
                guard let last = open.popLast() else { continue }
                guard closing(last.mark) == token.text else {
                    // What is open is not known.
                    for place in open.indices { open[place].end = nil }
                    continue
                }
                guard let end = last.end, last.mark == "{", last.directives == directives else {
                    continue
                }
                // What is in it is dead with it.
                while let inner = dead.last, inner.lowerBound >= end { dead.removeLast() }
                dead.append(end..<index)
            case .name where !open.isEmpty:
                // A function that code above may call.
                if token.text == "func" || isLabel(index, tokens) {
                    open[open.count - 1].end = nil
                } else if open[open.count - 1].end == nil, returnsNothing(index, tokens) {
                    open[open.count - 1].end = index + 1
                    open[open.count - 1].directives = directives
                }
            default: continue
            }
        }
        return dead.isEmpty ? nil : without(dead, tokens)
    }

    /// Whether a token begins a case of a `switch`.
    private static func isLabel(_ index: Int, _ tokens: [SwiftToken]) -> Bool {
        let isNext = index + 1 < tokens.count && tokens[index + 1].isMark(":")
        switch tokens[index].text {
        case "default": return isNext
        case "case":
            let last = index > 0 ? tokens[index - 1] : nil
            return last.map {
                !$0.isMark(",") && !["if", "guard", "for", "while"].contains($0.text)
            } ?? true
        default: return false
        }
    }

    /// Whether a token is a `return` on a line of its own, behind which a statement begins that is
    /// no value.
    private static func returnsNothing(_ index: Int, _ tokens: [SwiftToken]) -> Bool {
        guard tokens[index].isName("return"), !tokens[index].isConditional, index > 0,
            index + 1 < tokens.count
        else { return false }
        let (last, next) = (tokens[index - 1], tokens[index + 1])
        return next.isName && statements.contains(next.text)
            && ![".", ",", "=", "(", "["].contains(where: last.isMark)
            && last.position.line < tokens[index].position.line
            && next.position.line > tokens[index].position.line
    }

    /// Statements of Swift that are no values.
    private static let statements: Set = [
        "let", "var", "guard", "for", "while", "repeat", "defer",
    ]

    /// The tokens that are in none of these ranges, which are in their order.
    private static func without(_ dead: [Range<Int>], _ tokens: [SwiftToken]) -> [SwiftToken] {
        var kept: [SwiftToken] = []
        var start = 0
        for range in dead {
            kept += tokens[start..<range.lowerBound]
            start = range.upperBound
        }
        return kept + tokens[start...]
    }

    /// The place behind the first `return;` among the statements of a body, if there are others
    /// behind it, and none may have a label.
    private static func end(
        of body: Range<Int>, _ tokens: [SwiftToken], _ partners: [Int]
    ) -> Int? {
        var end: Int?
        var index = body.lowerBound
        while index < body.upperBound, end == nil {
            let last = tokens[index - 1]
            if [";", "{", "}"].contains(where: last.isMark), tokens[index].isName("return"),
                tokens[index + 1].isMark(";"), !tokens[index].isConditional
            {
                end = index + 2
            }
            index = max(index, partners[index]) + 1
        }
        guard let end, end < body.upperBound else { return nil }
        index = end
        while index < body.upperBound {
            if tokens[index].isName, tokens[index + 1].isMark(":") { return nil }
            let isMessage = tokens[index].isMark("[")
            index = (isMessage ? max(index, partners[index]) : index) + 1
        }
        return end
    }

    private static func partners(in tokens: [SwiftToken]) -> [Int] {
        var partners = [Int](repeating: -1, count: tokens.count)
        var open: [Int] = []
        for (index, token) in tokens.enumerated() where token.kind == .mark {
            switch token.text {
            case "(", "[", "{", "\\(": open.append(index)
            case ")", "]", "}":
                // A bracket that another kind of bracket closes is unmatched.
                guard
                    let match = open.suffix(3).lastIndex(where: {
                        closing(tokens[$0].text) == token.text
                    })
                else { continue }
                partners[open[match]] = index
                partners[index] = open[match]
                open.removeSubrange(match...)
            default: continue
            }
        }
        return partners
    }

    private static func closing(_ mark: String) -> String {
        switch mark {
        case "[": "]"
        case "{": "}"
        default: ")"
        }
    }

    /// The places of all names.
    var names: [String: [Int]] {
        if let known = places.byName { return known }
        var all: [String: [Int]] = [:]
        for index in tokens.indices where tokens[index].isName {
            all[tokens[index].text, default: []].append(index)
        }
        places.byName = all
        return all
    }

    /// The places at which a name stands.
    func places(of name: String) -> [Int] { names[name] ?? [] }

    /// The names that get the value of a flag somewhere: `isDone = true`.
    var flags: Set<String> {
        if let known = places.flags { return known }
        let values: Set = ["true", "false", "YES", "NO", "nil"]
        var flags: Set<String> = []
        for (index, token) in tokens.enumerated() where token.isMark("=") {
            guard let name = self[index - 1], name.isName, let value = self[index + 1] else {
                continue
            }
            if values.contains(value.text) { flags.insert(name.text) }
        }
        places.flags = flags
        return flags
    }

    /// The opening brackets around a token, up to a lower bound, the innermost first.
    func brackets(around token: Int, from bound: Int) -> [Int] {
        let around = innermostBrackets
        var found: [Int] = []
        var open = around.indices.contains(token) ? around[token] : -1
        while open >= bound {
            found.append(open)
            open = around[open]
        }
        return found
    }

    private var innermostBrackets: [Int] {
        if let known = places.brackets { return known }
        var around = [Int](repeating: -1, count: tokens.count)
        var open: [Int] = []
        for index in tokens.indices {
            if let last = open.last, partners[last] == index { open.removeLast() }
            around[index] = open.last ?? -1
            if partners[index] > index { open.append(index) }
        }
        places.brackets = around
        return around
    }

    /// The places in a range at which a name stands.
    func places(of name: String, in range: Range<Int>) -> ArraySlice<Int> {
        let all = places(of: name)
        func first(from bound: Int) -> Int {
            var low = 0
            var high = all.count
            while low < high {
                let middle = (low + high) / 2
                if all[middle] < bound { low = middle + 1 } else { high = middle }
            }
            return low
        }
        let start = first(from: range.lowerBound)
        return all[start..<max(start, first(from: range.upperBound))]
    }

    /// The token at an index; `nil` outside the text.
    subscript(index: Int) -> SwiftToken? {
        tokens.indices.contains(index) ? tokens[index] : nil
    }

    /// Whether this name or mark is at an index.
    func sees(_ word: String, at index: Int) -> Bool {
        guard index >= 0, index < tokens.count else { return false }
        let token = tokens[index]
        return (token.kind == .name || token.kind == .mark) && token.text == word
    }

    /// Whether these names or marks are at an index. One is looked at without an array of them,
    /// which each call makes.
    func sees(_ first: String, _ second: String, _ more: String..., at index: Int) -> Bool {
        sees(first, at: index) && sees(second, at: index + 1)
            && more.indices.allSatisfy { sees(more[$0], at: index + 2 + $0) }
    }

    /// Whether a selector starts at an index: `#selector(name)`, `@selector(name)`.
    func seesSelector(at index: Int) -> Bool {
        self[index]?.text == "selector" && sees("(", at: index + 1)
    }

    /// Whether a name is an argument label or a part of a selector, not a value.
    func isLabel(_ index: Int) -> Bool {
        guard let next = self[index + 1], next.isMark(":"), let last = self[index - 1] else {
            return false
        }
        if isObjectiveC {
            return last.isName || last.isMark("]") || last.isMark(")") || endsLiteral(index - 1)
        }
        return last.isMark("(") || last.isMark(",")
    }

    /// Whether a token of Objective-C ends a number, a text, a block or a dictionary.
    private func endsLiteral(_ index: Int) -> Bool {
        guard tokens[index].isMark("}") else {
            switch tokens[index].kind {
            case .number, .string: return true
            case .name, .directive, .mark: return false
            }
        }
        let open = partners[index]
        guard open >= 0 else { return false }
        if sees("@", at: open - 1) || sees("^", at: open - 1) { return true }
        guard sees(")", at: open - 1), partners[open - 1] >= 0 else { return false }
        // `^(id value) {`, `^BOOL(id value) {`, `^NSString *(id value) {`
        return (0..<partners[open - 1]).suffix(3).contains { tokens[$0].isMark("^") }
    }

    /// The tokens between a bracket and the matching one.
    func content(ofBracket index: Int) -> Range<Int> {
        guard let token = self[index], token.kind == .mark, partners[index] > index else {
            return index..<index
        }
        return index + 1..<partners[index]
    }

    /// The place of a token.
    func place(of index: Int) -> AppPlace { AppPlace(file: path, tokens[index].position) }

    /// The scopes around a token, the innermost first.
    func scopes(around index: Int) -> some Sequence<SourceScope> {
        sequence(state: scopeIndices[index]) { (next: inout Int) -> SourceScope? in
            guard next >= 0 else { return nil }
            defer { next = scopes[next].parent }
            return scopes[next]
        }
        .prefix(AuditLimits.scopeDepth)
    }

    /// The type that contains a token.
    func type(around index: Int) -> SourceScope.TypeHead? {
        for scope in scopes(around: index) {
            if case .type(let head) = scope.kind { return head }
        }
        return nil
    }
}
