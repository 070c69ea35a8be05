// SPDX-License-Identifier: Apache-2.0

/// The texts that a project's source text gives names to: `static let refresh = "com.example"`,
/// `case refresh = "com.example"`.
struct SourceConstants {
    /// By name alone, and by type and name.
    private var values: [String: Set<String>] = [:]

    /// Adds the constants of a file.
    mutating func add(_ text: SourceText) {
        for index in text.tokens.indices {
            guard case .string(isInterpolated: false) = text.tokens[index].kind,
                text[index - 1]?.isMark("=") == true,
                let name = name(before: index - 1, in: text)
            else { continue }
            let value = text.tokens[index].text
            values[name, default: []].insert(value)
            if let type = text.type(around: index) {
                values[type.name + "." + name, default: []].insert(value)
            }
        }
    }

    /// The name that is declared before an equals sign: `let name =`, `let name: String =`.
    private func name(before equals: Int, in text: SourceText) -> String? {
        var index = equals - 1
        if text.sees(":", "String", at: index - 1) { index -= 2 }
        guard let token = text[index], token.isName,
            let keyword = text[index - 1],
            ["let", "var", "case"].contains(keyword.text)
                || keyword.isMark(",")
        else { return nil }
        return token.text
    }

    /// The text that an expression stands for, up to a comma or a closing bracket: a literal, or a
    /// constant that has one value in the whole project. `nil` for anything else.
    func value(of start: Int, in text: SourceText) -> String? {
        guard let first = text[start] else { return nil }
        if case .string(isInterpolated: false) = first.kind {
            return isEnd(start + 1, text) ? first.text : nil
        }
        var names: [String] = []
        var index = start
        while let token = text[index], names.count < 16 {
            guard token.isName || (names.isEmpty && token.isMark(".")) else { return nil }
            if token.isName {
                names.append(token.text)
                index += 1
            }
            if isEnd(index, text) { break }
            guard text[index]?.isMark(".") == true else { return nil }
            index += 1
        }
        if names.last == "rawValue" { names.removeLast() }
        return value(named: names, in: text, at: start)
    }

    private func isEnd(_ index: Int, _ text: SourceText) -> Bool {
        guard let token = text[index] else { return false }
        return token.isMark(",") || token.isMark(")")
    }

    private func value(named names: [String], in text: SourceText, at index: Int) -> String? {
        guard let name = names.last else { return nil }
        var qualifier = names.dropLast().last
        if qualifier == "Self" || qualifier == "self" || qualifier == nil {
            qualifier = text.type(around: index)?.name
        }
        if let qualifier, let found = values[qualifier + "." + name] {
            return found.count == 1 ? found.first : nil
        }
        guard let found = values[name], found.count == 1 else { return nil }
        return found.first
    }
}
