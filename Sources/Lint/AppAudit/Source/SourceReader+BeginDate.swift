// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A product of numbers, and of one constant that may be in another file: `14 * 24 * 60 * 60`,
/// `2 * Limits.week`.
struct NumberProduct: Hashable, Sendable {
    var factor = 1.0
    var reference: ConstantReference?

    static func * (left: NumberProduct, right: NumberProduct) -> NumberProduct? {
        guard left.reference == nil || right.reference == nil else { return nil }
        return NumberProduct(
            factor: left.factor * right.factor, reference: left.reference ?? right.reference)
    }

    /// The value, if it depends on no constant of another file.
    var number: Double? { reference == nil ? factor : nil }

    /// The value, with a constant of another file.
    func value(_ constants: SourceConstants) -> Double? {
        guard let reference else { return factor }
        return constants.number(reference).map { $0 * factor }
    }
}

extension SourceText {
    /// The longest chain of constants that are followed, each with at most so many factors: what
    /// this costs at most is one to the power of the other.
    private static let constantDepth = 4
    private static let factorCount = 8

    /// The product from a token up to a comma, a closing bracket or the end of its line; `nil` if
    /// it is another expression.
    func product(at start: Int, depth: Int = 0) -> NumberProduct? {
        guard depth < Self.constantDepth else { return nil }
        var result = NumberProduct()
        var index = start
        for _ in 0..<Self.factorCount {
            guard let token = self[index] else { return nil }
            guard let (factor, next) = factor(at: index, token, depth),
                let product = result * factor
            else { return nil }
            result = product
            index = next
            if sees("*", at: index) {
                index += 1
                continue
            }
            guard let end = self[index] else { return result }
            let goesOn = [".", "+", "-", "/", "%", "?", "<", ">"].contains(where: end.isMark)
            let isEnd =
                [")", ",", "]", "}", ";"].contains(where: end.isMark)
                || !goesOn && end.position.line > tokens[index - 1].position.line
            return isEnd ? result : nil
        }
        return nil
    }

    /// A number, a constant, or a product in parentheses, and the index after it.
    private func factor(
        at index: Int, _ token: SwiftToken, _ depth: Int
    ) -> (NumberProduct, next: Int)? {
        if case .number = token.kind {
            var number = token.text.replacing("_", with: "")
            var next = index + 1
            // The lexer ends a number at its decimal point.
            if sees(".", at: next), case .number? = self[next + 1]?.kind {
                number += "." + tokens[next + 1].text
                next += 2
            }
            return Double(number).map { (NumberProduct(factor: $0), next) }
        }
        // `TimeInterval(60 * 60)`
        let conversions: Set = ["TimeInterval", "Double", "NSTimeInterval"]
        let open = token.isName && conversions.contains(token.text) ? index + 1 : index
        if sees("(", at: open) {
            guard partners[open] > open, let inner = product(at: open + 1, depth: depth + 1) else {
                return nil
            }
            return (inner, partners[open] + 1)
        }
        var names: [String] = []
        var next = index
        while let name = self[next], name.isName {
            names.append(name.text)
            next += 1
            guard sees(".", at: next), self[next + 1]?.isName == true else { break }
            next += 1
        }
        guard let name = names.last, !sees("(", at: next) else { return nil }
        var type = names.dropLast().last
        if type == nil || type == "self" || type == "Self" {
            if let known = localConstant(name, at: index, depth) { return (known, next) }
            // A variable of the function, or a parameter.
            if isLocal(name, at: index) { return nil }
            type = self.type(around: index)?.name
        }
        // What a value holds is not the constant of a type.
        if type?.first?.isLowercase == true { return nil }
        if let known = constant(name, of: type, depth) { return (known, next) }
        return (NumberProduct(reference: ConstantReference(name: name, type: type)), next)
    }

    /// The constant of the function around a token: `let week = 7 * day`.
    private func localConstant(_ name: String, at index: Int, _ depth: Int) -> NumberProduct? {
        for scope in scopes(around: index) {
            if case .type = scope.kind { return nil }
            let found = (scope.open..<max(index, scope.open)).last { word in
                sees("let", name, at: word) && scopes[scopeIndices[word]].open == scope.open
            }
            if let found { return value(ofConstant: found + 1, depth) }
        }
        return nil
    }

    /// Whether a function or a closure around a token has a variable or a parameter of a name.
    func isLocal(_ name: String, at index: Int) -> Bool {
        scopes(around: index).contains { scope in
            let parameters: [SourceScope.FunctionHead.Parameter]
            switch scope.kind {
            case .function(let head): parameters = head.parameters
            case .closure: parameters = []
            case .type, .control: return false
            }
            return parameters.contains { $0.name == name }
                || (scope.open..<max(index, scope.open)).contains {
                    sees("let", name, at: $0) || sees("var", name, at: $0)
                        || tokens[$0].isName(name) && (isBound($0) || isInPattern($0))
                }
        }
    }

    /// Whether a name is in a pattern that binds it: `let (name, rest) =`, `case .some(let name)`.
    private func isInPattern(_ index: Int) -> Bool {
        let line = tokens[index].position.line
        let before = tokens[..<index].suffix(16).reversed().prefix { token in
            token.position.line == line && !token.isMark("=") && !token.isMark("{")
        }
        return before.contains { token in ["let", "var", "case"].contains(where: token.isName) }
    }

    /// Whether a name is bound for a loop or a closure: `for name in`, `{ name, other in`.
    private func isBound(_ index: Int) -> Bool {
        let rest = tokens[index...].dropFirst().prefix(12)
        let end = rest.first { token in
            token.isName("in")
                || !(token.isName || [",", "_", ":", ")", "->"].contains(where: token.isMark))
        }
        return end?.isName("in") == true
    }

    /// The constant of a type of this file, or outside all types: `static let day = 86_400.0`,
    /// `static var day: TimeInterval { 86_400 }`.
    private func constant(_ name: String, of type: String?, _ depth: Int) -> NumberProduct? {
        let all = places(of: name).filter(isConstant)
        let own = all.filter { self.type(around: $0)?.name == type }
        // What the type has hides what is outside all types.
        let meant = own.isEmpty ? all.filter { self.type(around: $0) == nil } : own
        // Another file may have the class that has another getter.
        guard !meant.contains(where: mayBeOverridden) else { return nil }
        let found = Set(meant.map { value(ofConstant: $0, depth) })
        return found.count == 1 ? found.first ?? nil : nil
    }

    /// Whether a subclass may have another getter: of a class that is not final.
    func mayBeOverridden(_ name: Int) -> Bool {
        guard sees("var", at: name - 1),
            let owner = scopes(around: name).first(where: { _ in true }),
            case .type = owner.kind, sees("class", at: owner.head)
        else { return false }
        let line = tokens[name].position.line
        let words =
            (0..<owner.head).suffix(2)
            + (0..<name).suffix(4).filter { tokens[$0].position.line == line }
        return !words.contains { ["static", "final", "private"].contains(tokens[$0].text) }
    }

    /// Whether a name is declared as a constant, and not in a function.
    func isConstant(_ index: Int) -> Bool {
        guard let before = self[index - 1] else { return false }
        let isDeclared =
            before.isName("let") || before.isName("var")
            || isObjectiveC && before.isName && sees("=", at: index + 1)
                && (0..<index).suffix(4).contains { tokens[$0].isName("const") }
        return isDeclared
            && !scopes(around: index).contains {
                if case .type = $0.kind { false } else { true }
            }
    }

    /// The value of a constant, or the value that its getter returns.
    func value(ofConstant name: Int, _ depth: Int = 0) -> NumberProduct? {
        let isLet = sees("let", at: name - 1) || isObjectiveC
        let isTyped = sees(":", at: name + 1)
        // A type of the app's own may count in another unit.
        guard !isTyped || Self.numberTypes.contains(self[name + 2]?.text ?? "") else { return nil }
        let start = isTyped ? name + 3 : name + 1
        if sees("=", at: start) {
            return isLet ? product(at: start + 1, depth: depth + 1) : nil
        }
        // A type may have another getter than an extension, which may be one of a protocol.
        let owner = scopes(around: name).first { if case .type = $0.kind { true } else { false } }
        guard !isLet, sees("{", at: start), owner.map({ !sees("extension", at: $0.head) }) ?? true
        else { return nil }
        return product(at: sees("return", at: start + 1) ? start + 2 : start + 1, depth: depth + 1)
    }

    private static let numberTypes: Set = [
        "TimeInterval", "NSTimeInterval", "Double", "Float", "CGFloat", "Int", "UInt", "Int64",
    ]

    /// The end of the expression at a token: the end of its line, unless the next line continues
    /// it.
    func expressionEnd(_ start: Int) -> Int {
        var index = start
        while let token = self[index] {
            if token.isMark(";") || token.isMark("}") || token.isMark(",") || token.isMark(")")
                || token.isName("else")
            {
                return index
            }
            if index > start, !isObjectiveC, let last = self[index - 1],
                token.position.line > last.position.line, !token.isMark("."),
                !["=", "+", "??", "?", ":"].contains(where: last.isMark)
            {
                return index
            }
            index = partners[index] > index ? partners[index] + 1 : index + 1
        }
        return index
    }
}

/// Reads the earliest dates of background tasks.
extension SourceReader {
    /// The latest reasonable date, in seconds from now: a week and a day.
    static let farthestSeconds = 8.0 * 86_400

    /// The minimum number of seconds in the units of a calendar.
    private static let unitSeconds: [String: Double] = [
        "minute": 60, "hour": 3600, "day": 86_400, "weekOfYear": 7 * 86_400, "weekday": 86_400,
        "weekOfMonth": 7 * 86_400, "month": 28 * 86_400, "year": 365 * 86_400,
    ]

    /// Reads `request.earliestBeginDate = Date(timeIntervalSinceNow: 30 * 24 * 60 * 60)`, and a
    /// date that the function has computed before.
    mutating func readBeginDate(_ index: Int) {
        let equals = text.sees("=", at: index + 1) || text.sees(":", at: index + 1)
        guard equals else { return }
        let start = index + 2
        var value = start..<max(start, text.expressionEnd(start))
        if value.count == 1, let name = text[start]?.text,
            let (_, body) = function(around: index)
        {
            let around = Set(text.scopes(around: index).map(\.open))
            let declared = (body.lowerBound..<index).last {
                (text.sees("let", name, at: $0)
                    || text.isObjectiveC && text.sees("*", name, at: $0))
                    && around.contains(text.scopes[text.scopeIndices[$0]].open)
            }
            let sign = declared.flatMap { word in
                (word + 2..<word + 5).first { text.sees("=", at: $0) }
            }
            guard let sign else { return }
            value = sign + 1..<max(sign + 1, text.expressionEnd(sign + 1))
        }
        // The nearer of two dates.
        guard !value.contains(where: { text.tokens[$0].isName("min") }) else { return }
        for word in value {
            if isLongAgo(word), isDate(word, of: value),
                !value.contains(where: { ["??", "max"].contains(text.tokens[$0].text) })
            {
                see(.fault(.pastBeginDate), at: index)
                return
            }
            guard let delay = delay(at: word), isDate(word, of: value) else { continue }
            if delay.reference != nil {
                see(.fault(.distantBeginDate), at: index)
                if !digest.entries.isEmpty {
                    digest.entries[digest.entries.count - 1].delay = delay
                }
                return
            }
            if delay.factor > Self.farthestSeconds {
                see(.fault(.distantBeginDate), at: index)
                return
            }
        }
    }

    /// Whether a word counts a date from 1970 or 2001 that is before 2010.
    private func isLongAgo(_ word: Int) -> Bool {
        // Zero may mean "at once".
        guard text.sees(":", at: word + 1), let seconds = text.product(at: word + 2)?.number,
            seconds >= 60
        else { return false }
        return switch text.tokens[word].text {
        case "timeIntervalSince1970", "dateWithTimeIntervalSince1970": seconds < 1_262_304_000
        case "timeIntervalSinceReferenceDate", "dateWithTimeIntervalSinceReferenceDate":
            seconds < 283_996_800
        default: false
        }
    }

    /// Whether a part of a value that tells a time makes a date that is the value, or the latest of
    /// several. What gets such a date, or compares it, may make a nearer one.
    private func isDate(_ word: Int, of value: Range<Int>) -> Bool {
        let comparisons = ["<", ">", "<=", ">=", "==", "!="]
        let compared = (value.lowerBound..<word).last { index in
            comparisons.contains(where: text.tokens[index].isMark)
        }
        if let compared, !(compared..<word).contains(where: { text.tokens[$0].isMark("?") }) {
            return false
        }
        var brackets = (value.lowerBound..<word).filter { text.partners[$0] > word }
        if text.sees(":", at: word + 1) {
            guard let own = brackets.popLast(), !isChanged(text.partners[own], in: value) else {
                return false
            }
        } else if text.sees("(", at: word + 1), !text.sees(")", at: word + 2),
            isChanged(text.partners[word + 1], in: value)
        {
            return false
        }
        return brackets.allSatisfy { open in
            text.sees("(", at: open) && !isChanged(text.partners[open], in: value)
                && (text.sees("max", at: open - 1) || text[open - 1]?.isName != true)
        }
    }

    /// Whether the value of a bracket is only a part of a value: `.addingTimeInterval(-offset)`.
    private func isChanged(_ close: Int, in value: Range<Int>) -> Bool {
        var next = close + 1
        if text.sees("!", at: next) { next += 1 }
        return value.contains(next)
            && [".", "+", "-", "<", ">", "<=", ">=", "==", "!="]
                .contains(where: text.tokens[next].isMark)
    }

    /// The time from now that a part of a date tells, in seconds.
    private func delay(at word: Int) -> NumberProduct? {
        switch text.tokens[word].text {
        case "timeIntervalSinceNow", "dateWithTimeIntervalSinceNow",
            "initWithTimeIntervalSinceNow":
            return text.sees(":", at: word + 1) ? text.product(at: word + 2) : nil
        case "dateByAddingTimeInterval":
            let isFromNow = text.sees("NSDate", "date", "]", at: word - 3)
            return isFromNow && text.sees(":", at: word + 1) ? text.product(at: word + 2) : nil
        case "addingTimeInterval":
            guard isFromNow(before: word), text.sees("(", at: word + 1) else { return nil }
            return text.product(at: word + 2)
        case "advanced":
            guard isFromNow(before: word), text.sees("(", "by", ":", at: word + 1) else {
                return nil
            }
            return text.product(at: word + 4)
        case "timeInterval":
            let isFromNow = (word..<word + AuditLimits.headWords).prefix {
                text[$0].map { !$0.isMark(")") } == true
            }
            .contains {
                text.sees("since", ":", "Date", "(", ")", at: $0)
                    || text.sees("since", ":", ".", "now", at: $0)
                    || text.sees("since", ":", "Date", ".", "now", at: $0)
            }
            return isFromNow && text.sees("(", at: word - 1) ? text.product(at: word + 2) : nil
        case "byAdding":
            guard text.content(ofBracket: word - 1).contains(where: isToNow) else { return nil }
            if text.sees(":", "DateComponents", "(", at: word + 1) {
                return components(text.content(ofBracket: word + 3))
            }
            guard text.sees(":", ".", at: word + 1),
                let unit = text[word + 3].flatMap({ Self.unitSeconds[$0.text] }),
                text.sees(",", "value", ":", at: word + 4)
            else { return nil }
            return text.product(at: word + 7).flatMap { $0 * NumberProduct(factor: unit) }
        case "now", "Date":
            // `.now + 30 * 86_400`, `Date() + …`
            let isCalled = text.sees("(", ")", at: word + 1)
            let plus = isCalled ? word + 3 : word + 1
            return text.sees("+", at: plus) ? text.product(at: plus + 1) : nil
        default: return nil
        }
    }

    /// Whether a method is one of the present time: `Date().`, `Date.now.`, `now.`.
    private func isFromNow(before word: Int) -> Bool {
        text.sees("now", ".", at: word - 2) || text.sees("Date", "(", ")", ".", at: word - 4)
    }

    /// Whether an argument is the present time: `to: Date()`, `to: .now`, `to: now`.
    private func isToNow(_ label: Int) -> Bool {
        guard text.sees("to", ":", at: label) else { return false }
        let value = text.sees("Date", ".", at: label + 2) ? label + 4 : label + 2
        return text.sees("Date", "(", ")", at: label + 2) || text.sees("now", at: value)
            || text.sees(".", "now", at: value)
    }

    /// The seconds of `DateComponents(day: 21)`.
    private func components(_ words: Range<Int>) -> NumberProduct? {
        words.lazy.compactMap { word -> NumberProduct? in
            guard text.isLabel(word), let unit = Self.unitSeconds[text.tokens[word].text],
                let count = text.product(at: word + 2), count.reference == nil,
                count.factor * unit > Self.farthestSeconds
            else { return nil }
            return NumberProduct(factor: count.factor * unit)
        }
        .first
    }
}
