// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// An object literal in a script, or the object of a JSON document. Nothing is executed: a value
/// that is no literal is `opaque`.
struct ScriptObject {
    /// The object.
    var root: AppProperty
    /// The offset of its brace in the script, or of that of the object around it.
    let start: Int
    /// The pointers of the objects and lists that have more than their literal members, and what
    /// they spread in front of these: `base` of `...base`. It is empty for a value that is no
    /// literal, and has an empty text for what is spread behind members, which it replaces.
    private(set) var open: [String: [String]]

    /// The outermost objects of a script for which a condition holds; `nil` if it is too large, or
    /// nested too deeply.
    static func all(
        in bytes: [UInt8], file: String, where isMeant: (ScriptObject) -> Bool
    ) -> [ScriptObject]? {
        var reader = ScriptObjectReader(bytes, file: file)
        var found: [ScriptObject] = []
        while let object = reader.next() {
            if isMeant(object) { found.append(object) }
        }
        return reader.isExhausted ? nil : found
    }

    /// Whether an object or list has more than its literal members.
    func isSpread(at place: AppPlace) -> Bool { open[place.pointer] != nil }

    /// Whether the same is true of it, or of a value below it.
    func isOpen(at place: AppPlace) -> Bool {
        open.keys.contains { $0 == place.pointer || $0.hasPrefix(place.pointer + "/") }
    }

    /// Whether an object has all that a name stands for, besides its own members.
    func spreads(_ name: String, at place: AppPlace) -> Bool { open[place.pointer] == [name] }

    /// The object with what it takes from another one by spreading it, as far as its objects
    /// spread nothing else: `...config`, and `...config.ios` in its member `ios`.
    func spreading(_ base: ScriptObject?, named name: String) -> ScriptObject {
        var result = self
        result.root = result.merge(base?.root, into: root, name)
        return result
    }

    private mutating func merge(
        _ base: AppProperty?, into value: AppProperty, _ name: String
    ) -> AppProperty {
        guard case .dictionary(var members) = value.value else { return value }
        if let spread = open[value.place.pointer], spread.allSatisfy({ $0 == name }),
            !spread.isEmpty
        {
            open[value.place.pointer] = nil
            if case .dictionary(let others) = base?.value {
                members.merge(others) { own, _ in own }
            }
        }
        for (key, member) in members {
            members[key] = merge(base?[key], into: member, name + "." + key)
        }
        return AppProperty(.dictionary(members), at: value.place)
    }
}

/// Finds object literals in a script.
private struct ScriptObjectReader {
    private let file: String
    private var cursor: TextCursor
    /// How many bytes may still be read: what turns out to be no object is read again.
    private var budget: Int
    private var open: [String: [String]] = [:]

    init(_ bytes: [UInt8], file: String) {
        self.file = file
        cursor = TextCursor(bytes)
        budget = 16 * bytes.count + 1_024
    }

    /// Whether the script was given up before its end.
    var isExhausted: Bool { budget <= 0 }

    /// The next object, without those in it.
    mutating func next() -> ScriptObject? {
        while !cursor.isAtEnd, !isExhausted {
            if skipText() { continue }
            guard cursor.byte == UInt8(ascii: "{") else {
                step()
                continue
            }
            let start = cursor
            open = [:]
            if let root = container(AppPlace(file: file, cursor.position), depth: 0) {
                return ScriptObject(root: root, start: start.offset, open: open)
            }
            cursor = start
            step()
        }
        return nil
    }

    private mutating func step() {
        budget -= 1
        cursor.advance()
    }

    // MARK: Values

    /// A value up to the comma or bracket behind it; `nil` if there is none.
    private mutating func value(_ place: AppPlace, depth: Int) -> AppProperty? {
        let start = cursor
        if let literal = literal(place, depth: depth), isAtEndOfValue() { return literal }
        cursor = start
        return skipExpression() ? AppProperty(.opaque, at: place) : nil
    }

    private mutating func literal(_ place: AppPlace, depth: Int) -> AppProperty? {
        if isAtQuote { return text().map { AppProperty(.string($0), at: place) } }
        switch cursor.byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return container(place, depth: depth)
        default:
            switch word() {
            case "true": return AppProperty(.boolean(true), at: place)
            case "false": return AppProperty(.boolean(false), at: place)
            case let word: return Int64(word).map { AppProperty(.integer($0), at: place) }
            }
        }
    }

    /// Whether a value ends here, behind a type of TypeScript: `as const`, `satisfies Modes`.
    private mutating func isAtEndOfValue() -> Bool {
        skipBlanks()
        let start = cursor
        if ["as", "satisfies"].contains(word()) {
            skipBlanks()
            _ = word()
            skipBlanks()
        } else {
            cursor = start
        }
        return [UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")].contains(cursor.byte)
    }

    /// An object or a list.
    private mutating func container(_ place: AppPlace, depth: Int) -> AppProperty? {
        guard depth < AuditLimits.propertyListDepth else { return nil }
        let isList = cursor.byte == UInt8(ascii: "[")
        let end = isList ? UInt8(ascii: "]") : UInt8(ascii: "}")
        var members: [String: AppProperty] = [:]
        var elements: [AppProperty] = []
        step()
        while !isExhausted {
            skipBlanks()
            if cursor.byte == end, !cursor.isAtEnd {
                step()
                return AppProperty(isList ? .array(elements) : .dictionary(members), at: place)
            }
            if cursor.take("...") {
                let start = cursor.offset
                guard skipExpression() else { return nil }
                let name = cursor.bytes[start..<cursor.offset]
                    .filter { !" \t\r\n?!".utf8.contains($0) }
                open[place.pointer, default: []].append(
                    members.isEmpty ? String(decoding: name, as: UTF8.self) : "")
            } else if isList {
                let pointer = place.pointer(appending: "\(elements.count)")
                let place = AppPlace(file: file, cursor.position, pointer: pointer)
                guard let element = value(place, depth: depth + 1) else { return nil }
                if element.value == .opaque { open[pointer] = [] }
                elements.append(element)
            } else {
                guard let member = member(of: place, depth) else { return nil }
                members[member.name] = member.value
            }
            skipBlanks()
            guard cursor.take(",") || cursor.byte == end else { return nil }
        }
        return nil
    }

    private mutating func member(
        of object: AppPlace, _ depth: Int
    ) -> (name: String, value: AppProperty)? {
        guard let name = isAtQuote ? text() : word(), !name.isEmpty else { return nil }
        skipBlanks()
        let pointer = object.pointer(appending: name)
        let isShort = [UInt8(ascii: ","), UInt8(ascii: "}")].contains(cursor.byte)
        if !isShort {
            guard cursor.take(":") else { return nil }
            skipBlanks()
        }
        let place = AppPlace(file: file, cursor.position, pointer: pointer)
        let value = isShort ? AppProperty(.opaque, at: place) : value(place, depth: depth + 1)
        guard let value else { return nil }
        if value.value == .opaque { open[pointer] = [] }
        return (name, value)
    }

    // MARK: Text

    private mutating func word() -> String {
        let bytes = cursor.take {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        budget -= bytes.count
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text in quotes at the cursor; `nil` if it does not end. It is no literal if it has an
    /// expression in it, or other escapes than those of quotes and slashes.
    private mutating func quoted() -> (text: String, isLiteral: Bool)? {
        let quote = cursor.byte
        let isTemplate = quote == UInt8(ascii: "`")
        var bytes: [UInt8] = []
        var isLiteral = true
        /// The braces of an expression that are open.
        var depth = 0
        step()
        while !cursor.isAtEnd, !isExhausted {
            let byte = cursor.byte
            step()
            switch byte {
            case quote where depth == 0: return (String(decoding: bytes, as: UTF8.self), isLiteral)
            case UInt8(ascii: "\n") where !isTemplate: return nil
            case UInt8(ascii: "$") where isTemplate && cursor.sees("{"):
                isLiteral = false
                depth += 1
                step()
            case UInt8(ascii: "{") where depth > 0: depth += 1
            case UInt8(ascii: "}") where depth > 0: depth -= 1
            case UInt8(ascii: "\\"):
                if !#"'"`\/"#.utf8.contains(cursor.byte) { isLiteral = false }
                bytes.append(cursor.byte)
                step()
            default: bytes.append(byte)
            }
        }
        return nil
    }

    private mutating func text() -> String? {
        guard let quoted = quoted(), quoted.isLiteral else { return nil }
        return quoted.text
    }

    private var isAtQuote: Bool {
        [UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`")].contains(cursor.byte)
    }

    /// Skips a comment, or a text in quotes, if one is at the cursor.
    private mutating func skipText() -> Bool {
        if cursor.sees("//") || cursor.sees("/*") {
            skipBlanks()
            return true
        }
        guard isAtQuote else { return false }
        let start = cursor
        if quoted() == nil {
            cursor = start
            step()
        }
        return true
    }

    private mutating func skipBlanks() {
        while !isExhausted {
            if cursor.sees("//") {
                budget -= cursor.take { $0 != UInt8(ascii: "\n") }.count
            } else if cursor.sees("/*") {
                let start = cursor.offset
                cursor.advance(by: 2)
                _ = cursor.advance(to: "*/")
                _ = cursor.take("*/")
                budget -= cursor.offset - start
            } else if [0x20, 0x09, 0x0a, 0x0d].contains(cursor.byte) {
                step()
            } else {
                return
            }
        }
    }

    /// Skips an expression up to the comma or bracket behind it. Returns whether there is one.
    private mutating func skipExpression() -> Bool {
        var depth = 0
        let start = cursor.offset
        while !cursor.isAtEnd, !isExhausted {
            if skipText() { continue }
            switch cursor.byte {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                if depth == 0 { return cursor.offset > start }
                depth -= 1
            case UInt8(ascii: ",") where depth == 0: return cursor.offset > start
            case UInt8(ascii: ";") where depth == 0: return false
            default: break
            }
            step()
        }
        return false
    }
}
