// SPDX-License-Identifier: Apache-2.0

/// A reference to a constant: `Tasks.refresh.rawValue`.
struct ConstantReference: Hashable, Sendable {
    /// The name of the constant.
    let name: String
    /// The type that contains it; `nil` for any.
    let type: String?
    /// Whether it is asked of an object, which may have another value of it.
    var isMember = false
}

/// The text of an expression, if one file determines it.
enum ConstantExpression: Hashable, Sendable {
    case literal(String)
    case reference(ConstantReference)
    case unknown

    /// Parses an expression, up to a comma or a closing bracket.
    init(at start: Int, in text: SourceText) {
        self.init(ofOne: start, in: text)
        if self == .unknown, let joined = text.joinedText(at: start), Self.isEnd(joined.next, text)
        {
            self = .literal(joined.value)
        }
    }

    /// Parses an expression of one literal or one name.
    private init(ofOne start: Int, in text: SourceText) {
        self = .unknown
        guard let first = text[start] else { return }
        if case .string(isInterpolated: false) = first.kind {
            if Self.isEnd(start + 1, text) { self = .literal(first.text) }
            return
        }
        var names: [String] = []
        var index = start
        while let token = text[index], names.count < 16 {
            guard token.isName || (names.isEmpty && token.isMark(".")) else { return }
            if token.isName {
                names.append(token.text)
                index += 1
            }
            if Self.isEnd(index, text) { break }
            guard text[index]?.isMark(".") == true else { return }
            index += 1
        }
        if names.last == "rawValue" { names.removeLast() }
        guard let name = names.last else { return }
        if names.count == 1, first.isName,
            Self.isParameter(name, at: start, text) || Self.isBound(name, at: start, text)
        {
            return
        }
        var qualifier = names.dropLast().last
        if first.isMark(".") {
            // Where a string is expected, the omitted type is String.
            qualifier = "String"
        } else if qualifier == "Self" || qualifier == "self" || qualifier == nil {
            qualifier = text.type(around: start)?.name
        } else if names.dropLast().drop(while: { $0 == "self" }).count == 1,
            let object = qualifier, object.first?.isLowercase == true
        {
            // `settings.refreshIdentifier`, with `let settings: AppSettings`.
            guard let type = text.onlyType(of: object, at: start) else { return }
            self = .reference(ConstantReference(name: name, type: type, isMember: true))
            return
        }
        self = .reference(ConstantReference(name: name, type: qualifier))
    }

    /// Whether a name is a parameter of the enclosing function, whose value the callers determine.
    private static func isParameter(_ name: String, at index: Int, _ text: SourceText) -> Bool {
        text.scopes(around: index).contains { scope in
            guard case .function(let head) = scope.kind else { return false }
            return head.parameters.contains { $0.name == name }
        }
    }

    /// Whether a loop, a closure or a local constant gives a name another value than a literal, and
    /// hides a constant of the type.
    private static func isBound(_ name: String, at index: Int, _ text: SourceText) -> Bool {
        guard !text.isObjectiveC else { return false }
        for scope in text.scopes(around: index) {
            if case .type = scope.kind { return false }
            let own = text.scopeIndices[scope.open + 1]
            let binds = text.places(of: name, in: scope.open..<index).contains { place in
                text.scopeIndices[place] == own
                    && (isVariable(place, text) || isParameter(place, of: scope, text))
            }
            if binds { return true }
        }
        return false
    }

    /// Whether a name is declared as a variable whose value is no literal.
    private static func isVariable(_ place: Int, _ text: SourceText) -> Bool {
        if text.sees("for", at: place - 1) { return text.sees("in", at: place + 1) }
        guard text.sees("let", at: place - 1) || text.sees("var", at: place - 1) else {
            return false
        }
        let value = text.sees(":", "String", "=", at: place + 1) ? place + 4 : place + 2
        return !text.sees("=", at: value - 1) || text[value]?.isString != true
    }

    /// Whether a name is in the head of a closure: `{ id in`, `{ [weak self] (id: String) in`.
    private static func isParameter(
        _ place: Int, of scope: SourceScope, _ text: SourceText
    ) -> Bool {
        guard case .closure = scope.kind, place - scope.open < AuditLimits.headWords,
            ["{", "(", "]", ","].contains(text[place - 1]?.text)
        else { return false }
        let line = text.tokens[place].position.line
        return (place + 1..<text.tokens.count).prefix(AuditLimits.headWords)
            .prefix { text.tokens[$0].position.line == line }
            .contains { text.tokens[$0].isName("in") }
    }

    private static func isEnd(_ index: Int, _ text: SourceText) -> Bool {
        guard let token = text[index] else { return false }
        if text.isObjectiveC { return token.isMark("]") || token.isMark(",") || token.isName }
        return token.isMark(",") || token.isMark(")") || token.isMark("]")
    }
}

/// The named numbers and texts of a project: `static let refresh = "com.example"`, `case refresh =
/// "com.example"`, `var refresh: String { "com.example" }`.
struct SourceConstants {
    /// The values by name, and by type and name.
    private var values: [String: Set<String>] = [:]
    /// The numbers by name, and by type and name; `nil` for another expression.
    private var numbers: [String: Set<Double?>] = [:]
    /// The names of numbers for which a subclass has others.
    private var overridden: Set<String> = []
    /// The names declared outside all types, which can be used without one.
    private var global: Set<String> = []
    /// The types and names of constants that are declared with `let`, so that no object has
    /// another value.
    private var fixed: Set<String> = []

    /// Adds the constants of a file; only those with a wanted name if `wanted` is given.
    mutating func add(_ text: SourceText, wanted: Set<String>? = nil) {
        for index in text.tokens.indices {
            if let wanted, wanted.contains(text.tokens[index].text), text.isConstant(index) {
                addNumber(index, text)
                let name = text.tokens[index].text
                if let value = text.constantText(name, of: text.type(around: index)?.name) {
                    add(value, named: name, index, text)
                }
            }
            guard case .string(isInterpolated: false) = text.tokens[index].kind,
                Self.isWhole(index, in: text),
                let name = name(ofValueAt: index, in: text), wanted?.contains(name) ?? true
            else { continue }
            add(text.tokens[index].text, named: name, index, text)
        }
    }

    /// Adds the text of a constant.
    private mutating func add(_ value: String, named name: String, _ index: Int, _ text: SourceText)
    {
        guard !value.isEmpty else { return }
        values[name, default: []].insert(value)
        if let type = text.type(around: index) {
            values[type.name + "." + name, default: []].insert(value)
            let isFixed = (index - 5..<index).contains { place in
                text.sees("let", name, at: place)
                    && !["static", "class"].contains(text[place - 1]?.text)
                    && !["static", "class"].contains(text[place - 2]?.text)
            }
            if isFixed { fixed.insert(type.name + "." + name) }
        } else {
            global.insert(name)
        }
    }

    /// Whether a literal is all of a value, unlike in `"com." + name`, `"com.".appending(name)` and
    /// `@"com." @"example"`.
    private static func isWhole(_ literal: Int, in text: SourceText) -> Bool {
        guard let next = text[literal + 1] else { return true }
        if case .string = next.kind { return false }
        let isFurther = text.isObjectiveC && next.isMark("@")
        return !isFurther && !next.isMark("+") && !next.isMark(".")
    }

    /// Adds a constant that may be a number, or the product of some.
    private mutating func addNumber(_ index: Int, _ text: SourceText) {
        let value = text.value(ofConstant: index)?.number
        let name = text.tokens[index].text
        let modifiers = (0..<index).suffix(4)
        if modifiers.contains(where: { text.tokens[$0].isName("override") }) {
            overridden.insert(name)
        }
        numbers[name, default: []].insert(value)
        if let type = text.type(around: index) {
            numbers[type.name + "." + name, default: []].insert(value)
        } else if value != nil {
            global.insert(name)
        }
    }

    /// Adds the constants of another file.
    mutating func add(_ other: SourceConstants) {
        values.merge(other.values) { $0.union($1) }
        numbers.merge(other.numbers) { $0.union($1) }
        overridden.formUnion(other.overridden)
        fixed.formUnion(other.fixed)
        global.formUnion(other.global)
    }

    /// The name of the constant whose value is a literal.
    private func name(ofValueAt index: Int, in text: SourceText) -> String? {
        var before = index - 1
        if text[before]?.isMark("=") == true {
            before -= 1
            if text.sees(":", "String", at: before - 1) { before -= 2 }
            guard let token = text[before], token.isName, let keyword = text[before - 1],
                ["let", "var", "case", "const"].contains(keyword.text)
                    || keyword.isMark(",") || (text.isObjectiveC && keyword.isMark("*"))
            else { return nil }
            return token.text
        }
        if text[before]?.isName("return") == true { before -= 1 }
        guard text.sees(":", "String", "{", at: before - 2), let token = text[before - 3],
            token.isName
        else { return nil }
        return token.text
    }

    /// The value of a constant of the named or enclosing type, or of a global one with a unique
    /// name; `nil` otherwise, for example for an inherited one.
    func value(of reference: ConstantReference) -> String? { only(reference, in: values) }

    /// The number with a name, on the same conditions.
    func number(_ reference: ConstantReference) -> Double? {
        overridden.contains(reference.name) ? nil : only(reference, in: numbers) ?? nil
    }

    private func only<Value>(
        _ reference: ConstantReference, in values: [String: Set<Value>]
    ) -> Value? {
        if let type = reference.type, let found = values[type + "." + reference.name] {
            let isOther = reference.isMember && !fixed.contains(type + "." + reference.name)
            return found.count == 1 && !isOther ? found.first : nil
        }
        if reference.isMember { return nil }
        guard global.contains(reference.name), let found = values[reference.name],
            found.count == 1
        else { return nil }
        return found.first
    }
}

extension SourceText {
    /// The type of the objects with a name, if all of its declarations in this file that a token
    /// may see show the same.
    fileprivate func onlyType(of object: String, at use: Int) -> String? {
        let around = Set(scopes(around: use).map(\.open))
        let places = places(of: object)
        guard places.count <= AuditLimits.headWords else { return nil }
        var type: String?
        for place in places where !isInOtherFunction(place, than: around) {
            let isDeclared = sees("let", at: place - 1) || sees("var", at: place - 1)
            var start = place + 2
            // A loop, a closure or a pattern has another object of the name.
            if sees("in", at: place + 1) || isInPattern(place) { return nil }
            if sees(":", at: place + 1) {
                if !isDeclared {
                    // The label of an argument is none: `show(settings: Settings())`.
                    guard let body = functionBody(ofParameter: place) else { continue }
                    guard around.contains(body) else { continue }
                }
                if sees("any", at: start) || sees("some", at: start) { start += 1 }
            } else {
                guard isDeclared, sees("=", at: place + 1) else { continue }
                // `if let settings = settings`
                if sees(object, at: start), !sees(".", at: start + 1) { continue }
                guard sees("(", at: start + 1) else { return nil }
            }
            guard let name = self[start], name.isName, name.text.first?.isUppercase == true,
                !sees(".", at: start + 1), !sees("<", at: start + 1), type ?? name.text == name.text
            else { return nil }
            type = name.text
        }
        return type
    }

    /// Whether a token is in the body of a function or in a closure that is none of those around
    /// another one.
    private func isInOtherFunction(_ place: Int, than around: Set<Int>) -> Bool {
        scopes(around: place).contains { scope in
            switch scope.kind {
            case .function, .closure: !around.contains(scope.open)
            case .control, .type: false
            }
        }
    }

    /// The bracket around a token, of those that are not far.
    private func bracket(around place: Int) -> Int? {
        (max(0, place - AuditLimits.headWords)..<place).last {
            tokens[$0].isMark("(") && partners[$0] > place
        }
    }

    /// Whether a token is in a pattern with several names, or with a value of a case: `let (a, b)
    /// =`, `for (a, b) in`, `case .loaded(let a)`.
    private func isInPattern(_ place: Int) -> Bool {
        guard let open = bracket(around: place), partners[open] <= place + AuditLimits.headWords
        else { return false }
        if ["let", "var", "for"].contains(where: { sees($0, at: open - 1) }) { return true }
        return (sees("let", at: place - 1) || sees("var", at: place - 1))
            && !sees("=", at: place + 1) && !sees(":", at: place + 1)
    }

    /// The brace of the body of the function that has a parameter at a token.
    private func functionBody(ofParameter place: Int) -> Int? {
        guard let open = bracket(around: place),
            sees("init", at: open - 1) || sees("func", at: open - 2)
                || sees("subscript", at: open - 1)
        else { return nil }
        return (partners[open]..<tokens.count).prefix(AuditLimits.headWords)
            .first { tokens[$0].isMark("{") }
    }
}
