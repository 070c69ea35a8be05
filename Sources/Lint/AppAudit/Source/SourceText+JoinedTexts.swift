// SPDX-License-Identifier: Apache-2.0

/// Texts that are joined from constants of one file, and from the identifier of the app.
extension SourceText {
    /// What stands in a text for the identifier of the app, which each target has.
    static let bundleIdentifier = "$(PRODUCT_BUNDLE_IDENTIFIER)"

    /// The longest chain of constants, and the most parts of each text.
    private static let joinedDepth = 5
    private static let partCount = 5

    /// The value of a text that is joined, and the index behind it: `prefix + "refresh"`,
    /// `"\(prefix)refresh"`, `Bundle.main.bundleIdentifier! + ".refresh"`.
    func joinedText(at start: Int, depth: Int = 0) -> (value: String, next: Int)? {
        guard !isObjectiveC, depth < Self.joinedDepth else { return nil }
        var value = ""
        var index = start
        for _ in 0..<Self.partCount {
            guard let part = part(at: index, depth) else { return nil }
            value += part.value
            if sees("??", at: part.next) {
                // An app has an identifier. What follows is a part of the other text.
                guard index == start, part.isOptional else { return nil }
                return joinedText(at: part.next + 1, depth: depth + 1).map { (value, $0.next) }
            }
            guard !part.isOptional else { return nil }
            guard sees("+", at: part.next) else { return (value, part.next) }
            index = part.next + 1
        }
        return nil
    }

    private func part(
        at index: Int, _ depth: Int
    ) -> (value: String, isOptional: Bool, next: Int)? {
        guard let token = self[index] else { return nil }
        if token.isString { return literal(at: index, depth).map { ($0.value, false, $0.next) } }
        if token.isMark("(") {
            guard let inner = joinedText(at: index + 1, depth: depth + 1),
                inner.next == partners[index]
            else { return nil }
            return (inner.value, false, inner.next + 1)
        }
        var names: [String] = []
        var next = index
        while let name = self[next], name.isName, names.count < Self.partCount {
            names.append(name.text)
            next += 1
            guard sees(".", at: next) else { break }
            next += 1
        }
        if names == ["Bundle", "main", "bundleIdentifier"] {
            let isForced = sees("!", at: next)
            return (Self.bundleIdentifier, !isForced, isForced ? next + 1 : next)
        }
        guard let name = names.last, !sees("(", at: next), self[next - 1]?.isName == true else {
            return nil
        }
        if names.count == 1 {
            guard !isLocal(name, at: index) else { return nil }
        } else if names.count > 2 {
            // Another type may have one of the same name in it.
            return nil
        } else if !["self", "Self"].contains(names[0]) {
            return constantText(name, of: names[names.count - 2], depth).map { ($0, false, next) }
        }
        let own = type(around: index)
        if let value = constantText(name, of: own?.name, depth) { return (value, false, next) }
        // A base class, or the type of an extension, may have the name too.
        guard names.count == 1, own?.inherited.allSatisfy(Self.isOfSystem) == true,
            !isInExtension(index), places(of: name).count(where: isConstant) == 1
        else { return nil }
        return constantText(name, of: nil, depth).map { ($0, false, next) }
    }

    /// The value of a literal, with that of the constants in it.
    private func literal(at index: Int, _ depth: Int) -> (value: String, next: Int)? {
        let token = tokens[index]
        guard case .string(isInterpolated: true) = token.kind else {
            return (token.text, index + 1)
        }
        // What is escaped, or in a literal of several lines, has another length in the file.
        var rest = Array(token.text.utf8)[...]
        guard rest.allSatisfy({ $0.isIdentifierByte }), sees("\\(", at: index + 1),
            tokens[index + 1].position.line == token.position.line
        else { return nil }
        var value = ""
        var next = index + 1
        var end = token.position.offset + 1
        var parts = 0
        while sees("\\(", at: next) {
            parts += 1
            guard parts <= Self.partCount else { return nil }
            let length = tokens[next].position.offset - 1 - end
            guard length >= 0, length <= rest.count,
                let inner = joinedText(at: next + 1, depth: depth + 1),
                inner.next == partners[next]
            else { return nil }
            value += String(decoding: rest.prefix(length), as: UTF8.self) + inner.value
            rest = rest.dropFirst(length)
            end = tokens[inner.next].position.offset + 1
            next = inner.next + 1
        }
        return (value + String(decoding: rest, as: UTF8.self), next)
    }

    /// The text of the only constant with a name of a type, or outside all types.
    func constantText(_ name: String, of type: String?, _ depth: Int = 0) -> String? {
        let places = places(of: name)
        guard places.count <= AuditLimits.headWords else { return nil }
        let meant = places.filter { isConstant($0) && self.type(around: $0)?.name == type }
        return meant.count == 1 ? meant.first.flatMap { text(ofConstant: $0, depth) } : nil
    }

    private func isInExtension(_ index: Int) -> Bool {
        let type = scopes(around: index).first { if case .type = $0.kind { true } else { false } }
        return type.map { sees("extension", at: $0.head) } == true
    }

    private static func isOfSystem(_ type: String) -> Bool {
        type.hasPrefix("UI") || type.hasPrefix("NS")
            || ["App", "ObservableObject", "Sendable", "String"].contains(type)
    }

    /// The text that a constant is declared with, or that its getter returns: `static let refresh =
    /// prefix + "refresh"`, `static var refresh: String { prefix + "refresh" }`.
    private func text(ofConstant name: Int, _ depth: Int) -> String? {
        guard isBuiltForIOS(name) else { return nil }
        let isTyped = sees(":", "String", at: name + 1)
        let sign = isTyped ? name + 3 : name + 1
        if sees("let", at: name - 1), sees("=", at: sign),
            let joined = joinedText(at: sign + 1, depth: depth + 1), isStatementEnd(joined.next)
        {
            return joined.value
        }
        // A type may have another getter than an extension, which may be one of a protocol.
        let owner = scopes(around: name).first { _ in true }
        guard sees("var", at: name - 1), isTyped, sees("{", at: sign), !mayBeOverridden(name),
            owner.map({ !sees("extension", at: $0.head) }) ?? true
        else { return nil }
        let start = sees("return", at: sign + 1) ? sign + 2 : sign + 1
        return joinedText(at: start, depth: depth + 1)
            .flatMap { $0.next == partners[sign] ? $0.value : nil }
    }

    private func isStatementEnd(_ index: Int) -> Bool {
        guard let next = self[index] else { return true }
        if next.isMark("}") || next.isMark(";") { return true }
        return next.position.line > tokens[index - 1].position.line
            && (next.isName || next.isMark("@") || next.kind == .directive)
    }
}

extension UInt8 {
    /// Whether it is a letter, a digit, a dot or a hyphen of an identifier.
    fileprivate var isIdentifierByte: Bool {
        let letter = (self | 0x20) &- UInt8(ascii: "a")
        return letter < 26 || self &- UInt8(ascii: "0") < 10 || ".-_".utf8.contains(self)
    }
}
