// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The targets of a Tuist `Project.swift`, if they are literal: calls of `.target` or `Target` with
/// their arguments. Nothing is executed.
struct TuistManifest {
    /// The maximum depth of constants and nested values.
    private static let maximumDepth = 16

    /// A literal target.
    struct Target {
        /// Its name.
        let name: String
        /// The product, with Tuist's name: `app`, `appExtension`.
        let product: String
        /// The place of its call.
        let place: AppPlace
        /// The token ranges of its arguments, by label.
        fileprivate let arguments: [String: Range<Int>]
    }

    private let text: SourceText
    /// The token ranges of constants in the file, by name; without names that occur several times.
    private var constants: [String: Range<Int>] = [:]
    /// The targets, in order.
    private(set) var targets: [Target] = []
    /// Whether there are build settings files, or entitlements in build settings, which may contain
    /// more than the targets.
    let hasSettingsFiles: Bool
    /// Whether a script of it runs Gradle, which builds Kotlin.
    let buildsKotlin: Bool

    /// Reads a manifest; `nil` if a helper creates targets, or if there are none.
    init?(_ bytes: [UInt8], path: String) {
        text = SourceText(bytes, path: path)
        hasSettingsFiles = text.tokens.contains {
            ["xcconfig", "CODE_SIGN_ENTITLEMENTS"].contains($0.text)
        }
        buildsKotlin = bytes.firstRange(of: Array("gradlew".utf8)) != nil
        findConstants()
        for index in text.tokens.indices where text.sees("(", at: index + 1) {
            let name = text.tokens[index].text
            // A dependency is not a target.
            guard text.tokens[index].isName, name == "Target" || name == "target" else { continue }
            let arguments = arguments(ofCall: index + 1)
            guard arguments["product"] != nil || arguments["bundleId"] != nil else { continue }
            guard let name = string(arguments["name"]),
                let product = arguments["product"].flatMap(member)
            else { return nil }
            targets.append(
                Target(
                    name: name, product: product, place: text.place(of: index),
                    arguments: arguments))
        }
        guard !targets.isEmpty, !hasHelpers else { return nil }
    }

    /// Whether targets are created by other than literal calls: helpers such as
    /// `Project.app(name:)` and `.makeModule(name:)`, or composed lists.
    private var hasHelpers: Bool {
        let projects = text.tokens.indices.filter { text.sees("Project", "(", at: $0) }
        guard projects.count == 1, var list = arguments(ofCall: projects[0] + 1)["targets"] else {
            return true
        }
        if list.count == 1, let other = constants[text.tokens[list.lowerBound].text] {
            list = other
        }
        guard let open = list.first, text.tokens[open].isMark("["),
            text.partners[open] == list.upperBound - 1
        else { return true }
        var isHelped = false
        forEachElement(of: text.content(ofBracket: open)) { element in
            let head = element.prefix { !text.tokens[$0].isMark("(") }
            let isCall = head.last.map { ["target", "Target"].contains(text.tokens[$0].text) }
            let isConstant =
                element.count == 1 && constants[text.tokens[element.lowerBound].text] != nil
            if isCall != true, !isConstant { isHelped = true }
        }
        return isHelped
    }

    // MARK: Values

    /// The text in an argument of a target.
    func string(_ label: String, of target: Target) -> AppProperty? {
        guard let range = target.arguments[label], let property = property(range),
            property.string != nil
        else { return nil }
        return property
    }

    /// Whether a target has an argument.
    func has(_ label: String, _ target: Target) -> Bool { target.arguments[label] != nil }

    /// All string literals in an argument of a target, except those after `excluding:`.
    func strings(_ label: String, of target: Target) -> [String] {
        guard let range = target.arguments[label] else { return [] }
        var found: [String] = []
        var index = range.lowerBound
        while index < range.upperBound {
            if text.tokens[index].isName("excluding"), text.sees("[", at: index + 2) {
                index = text.partners[index + 2]
            }
            if case .string(isInterpolated: false) = text.tokens[index].kind {
                found.append(text.tokens[index].text)
            }
            index = max(index, range.lowerBound) + 1
        }
        return found
    }

    /// The names in an argument of a target: `iPhone` in `[.iPhone, .iPad]`.
    func words(_ label: String, of target: Target) -> [String] {
        (target.arguments[label] ?? 0..<0).map { text.tokens[$0].text }
    }

    /// The calls in a list argument of a target: their names and texts; if the list is not literal,
    /// the names in its expression.
    func calls(_ label: String, of target: Target) -> [(name: String, texts: [String])] {
        guard let range = target.arguments[label], let first = range.first else { return [] }
        guard text.tokens[first].isMark("["), text.partners[first] == range.upperBound - 1 else {
            return [(text.tokens[first].text, [])]
        }
        var calls: [(name: String, texts: [String])] = []
        forEachElement(of: text.content(ofBracket: first)) { element in
            let head = element.prefix { !text.tokens[$0].isMark("(") }
            guard let name = head.last else { return }
            let texts = element.filter { text.tokens[$0].kind == .string(isInterpolated: false) }
            calls.append((text.tokens[name].text, texts.map { text.tokens[$0].text }))
        }
        return calls
    }

    /// The property list of a target.
    enum List {
        /// None: Tuist's default.
        case none
        /// Literal members.
        case written(AppProperties)
        /// The path of a file.
        case file(AppProperty)
        /// An expression that is not literal.
        case unknown
    }

    /// The Info.plist or the entitlements of a target: `.extendingDefault(with:)`, `.dictionary`,
    /// `.file(path:)`, or a path.
    func list(_ label: String, of target: Target) -> List {
        guard let range = target.arguments[label] else { return .none }
        return list(range, depth: 0)
    }

    private func list(_ range: Range<Int>, depth: Int) -> List {
        guard depth < Self.maximumDepth, let first = range.first else { return .unknown }
        if range.count == 1 {
            if let property = property(range), property.string != nil { return .file(property) }
            guard let other = constants[text.tokens[first].text] else { return .unknown }
            return list(other, depth: depth + 1)
        }
        guard let (name, content) = call(range) else {
            guard range.count == 2, text.tokens[first].isMark(".") else { return .unknown }
            return text.tokens[first + 1].isName("default") ? .none : .unknown
        }
        // The label, if there is one: `with:`, `path:`.
        let argument =
            content.first.map { text.isLabel($0) } == true
            ? content.dropFirst(2) : content
        switch name {
        case "file":
            // `.relativeToRoot("App.entitlements")` is relative to a folder that is unknown here.
            guard let property = property(argument), property.string != nil else { return .unknown }
            return .file(property)
        case "extendingDefault", "dictionary":
            guard let property = property(argument),
                case .dictionary(let members) = property.value
            else { return .unknown }
            return .written(AppProperties(members, at: property.place))
        default: return .unknown
        }
    }

    /// The name and the arguments of a range that is one call: `.file(path: "a")`,
    /// `InfoPlist.file(path: "a")`.
    private func call(_ range: Range<Int>) -> (name: String, content: Range<Int>)? {
        guard let open = range.first(where: { text.tokens[$0].isMark("(") }),
            open > range.lowerBound,
            text.partners[open] == range.upperBound - 1,
            text.tokens[range.lowerBound..<open].allSatisfy({ $0.isName || $0.isMark(".") })
        else { return nil }
        return (text.tokens[open - 1].text, text.content(ofBracket: open))
    }

    private func string(_ range: Range<Int>?) -> String? { range.flatMap { property($0) }?.string }

    /// The name of a case: `app` in `.app` and `Product.app`.
    private func member(_ range: Range<Int>) -> String? {
        guard let last = range.last, range.count <= 3, text.tokens[last].isName,
            range.count > 1, text.tokens[last - 1].isMark(".")
        else { return nil }
        return text.tokens[last].text
    }

    /// A literal value: literals, `.string("a")`, `.array([…])`, constants of the file. `nil` for
    /// other expressions.
    private func property(_ range: Range<Int>, depth: Int = 0) -> AppProperty? {
        guard depth < Self.maximumDepth, let first = range.first else { return nil }
        let token = text.tokens[first]
        let place = text.place(of: first)
        if range.count == 1 {
            switch token.kind {
            case .string(isInterpolated: false): return AppProperty(.string(token.text), at: place)
            case .number:
                return AppProperty(
                    Int64(token.text).map(AppProperty.Value.integer) ?? .opaque, at: place)
            case .name where token.text == "true" || token.text == "false":
                return AppProperty(.boolean(token.text == "true"), at: place)
            case .name: return constants[token.text].flatMap { property($0, depth: depth + 1) }
            default: return nil
            }
        }
        if let (name, content) = call(range) {
            guard ["string", "array", "dictionary", "boolean", "integer", "real"].contains(name)
            else { return nil }
            return property(content, depth: depth + 1)
        }
        guard token.isMark("["), text.partners[first] == range.upperBound - 1 else { return nil }
        return collection(text.content(ofBracket: first), at: place, depth)
    }

    private func collection(_ content: Range<Int>, at place: AppPlace, _ depth: Int) -> AppProperty
    {
        var elements: [AppProperty] = []
        var members: [String: AppProperty] = [:]
        let isDictionary =
            content.count == 1 && text.tokens[content.lowerBound].isMark(":")
            || text.sees(":", at: content.lowerBound + 1)
        forEachElement(of: content) { element in
            guard isDictionary else {
                elements.append(opaqueUnlessWritten(element, depth))
                return
            }
            guard let first = element.first,
                case .string(isInterpolated: false) = text.tokens[first].kind,
                text.sees(":", at: first + 1)
            else { return }
            members[text.tokens[first].text] = opaqueUnlessWritten(element.dropFirst(2), depth)
        }
        return AppProperty(isDictionary ? .dictionary(members) : .array(elements), at: place)
    }

    private func opaqueUnlessWritten(_ range: Range<Int>, _ depth: Int) -> AppProperty {
        let place = range.first.map { text.place(of: $0) } ?? AppPlace(file: text.path)
        return property(range, depth: depth + 1) ?? AppProperty(.opaque, at: place)
    }

    // MARK: Words

    /// Finds `let name: Type = value` outside brackets, and as members.
    private mutating func findConstants() {
        var seen: Set<String> = []
        for index in text.tokens.indices where text.tokens[index].isName("let") {
            guard let name = text[index + 1], name.isName else { continue }
            var equals = index + 2
            while equals < min(text.tokens.count, index + 16), !text.tokens[equals].isMark("=") {
                equals += 1
            }
            guard text.sees("=", at: equals) else { continue }
            var end = equals + 1
            while end < text.tokens.count {
                let token = text.tokens[end]
                let before = text.tokens[end - 1]
                // A value ends at the end of its line, unless a bracket or a point follows.
                if end > equals + 1, token.position.line > before.position.line,
                    !token.isMark("."), !before.isMark(".")
                {
                    break
                }
                if token.isMark("}") || token.isMark(";") { break }
                end = text.partners[end] > end ? text.partners[end] + 1 : end + 1
            }
            constants[name.text] =
                seen.insert(name.text).inserted ? equals + 1..<min(end, text.tokens.count) : nil
        }
    }

    /// The arguments of a call, by label.
    private func arguments(ofCall open: Int) -> [String: Range<Int>] {
        var arguments: [String: Range<Int>] = [:]
        forEachElement(of: text.content(ofBracket: open)) { element in
            guard let first = element.first, text.isLabel(first), element.count > 2 else { return }
            arguments[text.tokens[first].text] = element.dropFirst(2)
        }
        return arguments
    }

    /// Calls `body` with the token ranges between the commas of a list.
    private func forEachElement(of content: Range<Int>, _ body: (Range<Int>) -> Void) {
        var start = content.lowerBound
        var index = start
        while index < content.upperBound {
            if text.tokens[index].isMark(",") {
                if start < index { body(start..<index) }
                start = index + 1
            }
            index = text.partners[index] > index ? text.partners[index] + 1 : index + 1
        }
        if start < content.upperBound { body(start..<content.upperBound) }
    }
}
