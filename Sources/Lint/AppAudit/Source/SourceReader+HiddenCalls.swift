// SPDX-License-Identifier: Apache-2.0

/// Finds what may report a call without calling a function by its name.
extension SourceReader {
    /// Whether a handler gives the push to something that may run other code: a property with
    /// observers or of another object, or a closure in a collection.
    func mayReportUnseen(in body: Range<Int>, _ inputs: Set<String>) -> Bool {
        body.contains { index in
            if text.tokens[index].isMark("=") {
                let value = index + 1..<max(index + 1, text.expressionEnd(index + 1))
                return setsObserved(index) && uses(inputs, in: value)
            }
            // `handlers["call"]?(push)`
            guard text.sees("]", at: index) else { return false }
            let isOptional = text.sees("?", at: index + 1) || text.sees("!", at: index + 1)
            let open = isOptional ? index + 2 : index + 1
            return text.sees("(", at: open) && uses(inputs, in: text.content(ofBracket: open))
        }
    }

    /// Whether a token may run other code without a name: an operator that is not the language's,
    /// an assignment that computes, as `rows += [push]`, or the call of what an expression returns,
    /// as `(self.onPush)(push)`, `handlers["call"]?(push)`.
    func hidesCall(_ index: Int) -> Bool {
        let token = text.tokens[index]
        guard token.kind == .mark else { return false }
        if token.text == "(" {
            var last = index - 1
            if text.sees("?", at: last) || text.sees("!", at: last) { last -= 1 }
            guard text.sees(")", at: last) || text.sees("]", at: last) else { return false }
            // `(int64_t)(2 * NSEC_PER_SEC)`
            if text.isObjectiveC, text.sees("(", at: last - 2),
                Self.numbers.contains(text.tokens[last - 1].text)
            {
                return false
            }
            // `{ [weak self] (task) in`
            return text.sees(")", at: last)
                || !(text.partners[last] > 0 && text.sees("{", at: text.partners[last] - 1))
        }
        guard let first = token.text.utf8.first, "=-+!*%<>&|^~?/".utf8.contains(first) else {
            return false
        }
        // `[Set<String?>]?`
        return !Self.operators.contains(token.text) && !token.text.allSatisfy { ">?!".contains($0) }
    }

    /// The types of numbers in Objective-C that a value is cast to.
    private static let numbers: Set = [
        "int64_t", "uint64_t", "int", "long", "float", "double", "CGFloat", "NSInteger",
        "NSUInteger", "NSTimeInterval",
    ]

    private static let operators: Set = [
        "=", "==", "!=", "===", "!==", "<", ">", "<=", ">=", "&&", "||", "!", "?", "??", "+", "-",
        "*", "/", "%", "->", "&", "|", "^", "~", "<<", ">>", "**",
    ]

    /// Whether a token may run other code, and is no call by a name.
    func runsUnseen(_ index: Int) -> Bool {
        hidesCall(index) || text.tokens[index].isMark("=") && setsObserved(index)
    }

    /// Whether a token sets more than a new name, or hides a call.
    func mayChangeSomething(_ index: Int) -> Bool {
        text.tokens[index].isMark("=") && !declaresPlainly(index) || hidesCall(index)
    }

    /// Whether an equals sign in Objective-C sets what is neither a variable nor a plain property
    /// of the class: `self.x = y`, where `x` is made by this file and has no setter that it names.
    func setsForeignProperty(_ equals: Int) -> Bool {
        guard text.tokens[equals].isMark("=") else { return false }
        guard text.sees(".", at: equals - 2) else {
            return text[equals - 1]?.isName != true || runsUnseen(equals)
        }
        guard text.sees("self", at: equals - 3), !text.sees(".", at: equals - 4),
            let name = text[equals - 1], name.isName
        else { return true }
        return runsUnseen(equals) || !isPlainProperty(name.text)
    }

    /// Whether this file declares or makes a property of Objective-C, names no setter of it, and
    /// observes it nowhere.
    private func isPlainProperty(_ name: String) -> Bool {
        if let known = notes.isPlainProperty[name] { return known }
        let declarations = text.places(of: name).compactMap { place in
            let line = text.tokens[place].position.line
            let last = (max(0, place - AuditLimits.headWords)..<place).last {
                text.tokens[$0].position.line < line || text.sees(";", at: $0)
            }
            let start = last.map { $0 + 1 } ?? 0
            return text.sees("@", "property", at: start) || text.sees("@", "synthesize", at: start)
                ? start..<place : nil
        }
        let isPlain =
            !declarations.isEmpty
            && !declarations.contains { $0.contains { text.sees("setter", at: $0) } }
            && !["forKeyPath", "RACObserve"].contains { observer in
                text.places(of: observer).contains { place in
                    (place..<min(place + 8, text.tokens.count)).contains {
                        text.tokens[$0].text.contains(name)
                    }
                }
            }
        notes.isPlainProperty[name] = isPlain
        return isPlain
    }

    private func uses(_ names: Set<String>, in words: Range<Int>) -> Bool {
        words.contains { text.tokens[$0].isName && names.contains(text.tokens[$0].text) }
    }

    /// Whether an equals sign sets a property whose setter may do more.
    private func setsObserved(_ equals: Int) -> Bool {
        guard !declares(equals) else { return false }
        let body = function(around: equals)?.1 ?? equals..<equals
        var owner = equals - 1
        // `pending[id] = push`
        while text.sees("]", at: owner), text.partners[owner] > 0 {
            owner = text.partners[owner] - 1
        }
        guard let name = text[owner], name.isName else { return true }
        let property = owner
        while text.sees(".", at: owner - 1) { owner -= 2 }
        let declared = text.places(of: name.text).filter { text.sees("var", at: $0 - 1) }
        if declared.contains(where: isObserved) { return true }
        // `self.push = push` calls a method of this name, if there is one.
        let setter = "set" + name.text.prefix(1).uppercased() + name.text.dropFirst()
        if text.isObjectiveC, text.functions[setter] != nil { return true }
        // The property of another type may have the name of one of this file.
        let isOwn =
            property == owner || text[owner]?.text == "self" && property == owner + 2
            || property == owner + 2
                && declared.contains {
                    text.isObject(text.tokens[owner].text, of: text.type(around: $0))
                }
        guard declared.isEmpty || !isOwn && !text.isObjectiveC else { return false }
        // It says that there is nothing: `id = .invalid`, `call = nil`.
        if text.sees("nil", at: equals + 1) || namesInvalid(equals + 1) { return false }
        // A new object is only prepared, as a notification is, and the badge is only seen.
        guard let first = text[owner], first.isName, name.text != "applicationIconBadgeNumber"
        else { return false }
        if text.isObjectiveC {
            return owner < equals - 1 && first.text != "self"
                && !body.contains { text.sees("*", first.text, at: $0) }
        }
        return !body.contains {
            text.sees("let", first.text, at: $0) || text.sees("var", first.text, at: $0)
        }
    }

    /// Whether a declared property has observers or a setter, or a wrapper such as `@Published`.
    func isObserved(_ name: Int) -> Bool {
        var line = text.tokens[name].position.line
        var open = name
        while let token = text[open], token.position.line == line, !token.isMark("{") {
            if text.partners[open] > open {
                open = text.partners[open]
                line = text.tokens[open].position.line
            }
            open += 1
        }
        // The first braces may be of a closure that is the initial value.
        let second = text.content(ofBracket: open).upperBound + 1
        let isSet = [open, text.sees("{", at: second) ? second : open].contains { brace in
            text.content(ofBracket: brace).contains { word in
                ["didSet", "willSet", "set", "_modify"].contains { text.tokens[word].isName($0) }
            }
        }
        return isSet
            || modifiers(before: name - 1).contains { word in
                word == "dynamic"
                    || word.first?.isUppercase == true && word != "MainActor" && word != "IBOutlet"
            }
    }
}
