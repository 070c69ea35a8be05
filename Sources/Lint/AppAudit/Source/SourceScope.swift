// SPDX-License-Identifier: Apache-2.0

/// The tokens between two braces.
struct SourceScope {
    /// The kind of a scope.
    enum Kind {
        case type(TypeHead)
        case function(FunctionHead)
        /// The body of `if`, `guard … else`, `switch` and so on, with the keyword.
        case control(String)
        /// A closure with the function that it is passed to; or the body of a variable.
        case closure(callee: String?)
    }

    /// The name of a type, and its inherited types.
    struct TypeHead {
        let name: String
        let inherited: [String]

        /// Whether it is the delegate of a scene, and not of the app too.
        var isSceneDelegate: Bool {
            let isOfScene =
                name.hasSuffix("SceneDelegate")
                || inherited.contains { $0 == "UIWindowSceneDelegate" || $0 == "UISceneDelegate" }
            return isOfScene
                && !inherited.contains {
                    $0 == "UIApplicationDelegate" || $0.hasSuffix("AppDelegate")
                }
        }
    }

    /// The name and the parameters of a function.
    struct FunctionHead {
        struct Parameter {
            let label: String
            let name: String
            /// The names in its type.
            var types: [String] = []
        }

        let name: String
        let parameters: [Parameter]
        let isAsync: Bool

        func has(_ label: String) -> Bool { parameters.contains { $0.label == label } }
    }

    let kind: Kind
    /// The index of the first token of the scope's head.
    let head: Int
    /// The index of the opening brace.
    let open: Int
    /// The index of the closing brace, or of the end of the text.
    let close: Int
    /// The enclosing scope, or -1.
    let parent: Int
}

/// Finds the scopes in one pass.
struct ScopeFinder {
    private let tokens: [SwiftToken]
    private let partners: [Int]
    private var scopes: [SourceScope] = []
    private var scopeIndices: [Int]
    /// The open scopes.
    private var open: [Int] = []
    /// A head whose body has not started, and the depth of brackets at its keyword.
    private var pending: (kind: SourceScope.Kind, head: Int, depth: Int)?
    /// The number of open brackets.
    private var depth = 0
    private let isObjectiveC: Bool

    private init(_ tokens: [SwiftToken], _ partners: [Int], isObjectiveC: Bool) {
        self.tokens = tokens
        self.isObjectiveC = isObjectiveC
        self.partners = partners
        scopeIndices = [Int](repeating: -1, count: tokens.count)
    }

    /// The scopes, and the innermost one of each token.
    static func scopes(
        in tokens: [SwiftToken], _ partners: [Int], isObjectiveC: Bool = false
    ) -> ([SourceScope], [Int]) {
        var finder = ScopeFinder(tokens, partners, isObjectiveC: isObjectiveC)
        for index in tokens.indices { finder.look(at: index) }
        return (finder.scopes, finder.scopeIndices)
    }

    private mutating func look(at index: Int) {
        let token = tokens[index]
        if token.isMark("}"), let last = open.last, scopes[last].close == index {
            open.removeLast()
        }
        scopeIndices[index] = open.last ?? -1
        switch token.kind {
        case .name: lookAtName(token.text, index)
        // A declaration without a body, or a statement without braces.
        case .mark where isObjectiveC && token.text == ";":
            if let pending, pending.depth >= depth { self.pending = nil }
        case .mark where isObjectiveC && depth == 0 && (token.text == "-" || token.text == "+"):
            if index + 1 < tokens.count, tokens[index + 1].isMark("(") {
                pending = (.function(methodHead(at: index + 1)), index, depth)
            }
        case .mark where partners[index] > index:
            if token.text == "{" { begin(at: index) }
            depth += 1
        case .mark where partners[index] >= 0:
            depth -= 1
            // A head without a body: a protocol requirement.
            if let pending, pending.depth > depth { self.pending = nil }
        default: break
        }
    }

    private mutating func begin(at index: Int) {
        let kind: SourceScope.Kind
        let head: Int
        if let pending, pending.depth == depth {
            (kind, head) = (pending.kind, pending.head)
            self.pending = nil
        } else {
            (kind, head) = (.closure(callee: callee(ofBrace: index)), index)
        }
        scopes.append(
            SourceScope(
                kind: kind, head: head, open: index, close: partners[index],
                parent: open.last ?? -1))
        open.append(scopes.count - 1)
    }

    /// The function that a closure is passed to: `name {`, `name(…) {` or `name(label: {`.
    private func callee(ofBrace index: Int) -> String? {
        var before = index - 1
        guard before >= 0 else { return nil }
        if tokens[before].isMark(")"), partners[before] >= 0 {
            before = partners[before] - 1
        } else if tokens[before].isMark(":") || tokens[before].isMark(",")
            || tokens[before].isMark("(")
        {
            // In arguments: find their opening parenthesis.
            let first = max(0, before - AuditLimits.headWords)
            while before >= first, !(tokens[before].isMark("(") && partners[before] > index) {
                before =
                    partners[before] >= 0 && partners[before] < before
                    ? partners[before] - 1 : before - 1
                if before >= 0, tokens[before].isMark("{"), partners[before] > index { return nil }
            }
            guard before >= first else { return nil }
            before -= 1
        }
        return before >= 0 && tokens[before].isName ? tokens[before].text : nil
    }

    /// The Objective-C keywords before blocks.
    private static let objectiveCKeywords: Set = [
        "if", "else", "for", "while", "switch", "do", "catch",
    ]

    private mutating func lookAtName(_ text: String, _ index: Int) {
        // Most names are longer than each keyword.
        guard text.utf8.count <= "extension".utf8.count else { return }
        let isMember = index > 0 && tokens[index - 1].isMark(".")
        let isLabel = index + 1 < tokens.count && tokens[index + 1].isMark(":")
        guard !isMember, !isLabel else { return }
        if isObjectiveC, !Self.objectiveCKeywords.contains(text) { return }
        // A keyword in parameters is a label: `for type: PKPushType`.
        if case .function? = pending?.kind, let pending, depth > pending.depth { return }
        switch text {
        case "class", "struct", "enum", "extension", "protocol", "actor":
            guard index + 1 < tokens.count, tokens[index + 1].isName,
                !["func", "var", "let"].contains(tokens[index + 1].text)
            else { return }
            pending = (.type(typeHead(at: index + 1)), index, depth)
        case "func":
            pending = (.function(functionHead(at: index + 1)), index, depth)
        case "init" where index + 1 < tokens.count && "(?!<".contains(tokens[index + 1].text):
            pending = (.function(functionHead(at: index)), index, depth)
        case "else":
            let isGuard = if case .control("guard")? = pending?.kind { true } else { false }
            pending = (
                .control(isGuard ? "guard" : "else"), isGuard ? pending?.head ?? index : index,
                depth
            )
        case "if", "guard", "switch", "while", "for", "do", "catch", "defer", "repeat":
            pending = (.control(text), index, depth)
        default: return
        }
    }

    /// The name after `class` or similar, with the names after the colon.
    private func typeHead(at start: Int) -> SourceScope.TypeHead {
        var index = start + 1
        var name = tokens[start].text
        var inherited: [String] = []
        var isBehindColon = false
        let end = min(tokens.count, start + AuditLimits.headWords)
        while index < end, !tokens[index].isMark("{"), !tokens[index].isName("where") {
            let token = tokens[index]
            if token.isMark(":") { isBehindColon = true }
            if token.isName {
                if isBehindColon {
                    inherited.append(token.text)
                } else if tokens[index - 1].isMark(".") {
                    name = token.text
                }
            }
            index += 1
        }
        return SourceScope.TypeHead(name: name, inherited: inherited)
    }

    /// The name after `func` with the parameters; `start` is the index of the name.
    private func functionHead(at start: Int) -> SourceScope.FunctionHead {
        let name = start < tokens.count ? tokens[start].text : ""
        var index = start + 1
        let end = min(tokens.count, start + AuditLimits.headWords)
        while index < end, !tokens[index].isMark("("), !tokens[index].isMark("{") { index += 1 }
        guard index < end, tokens[index].isMark("("), partners[index] > index else {
            return SourceScope.FunctionHead(name: name, parameters: [], isAsync: false)
        }
        var isAsync = false
        for token in tokens[partners[index]...].prefix(6) {
            if token.isMark("{") { break }
            if token.isName("async") { isAsync = true }
        }
        return SourceScope.FunctionHead(
            name: name, parameters: parameters(index + 1..<min(end, partners[index])),
            isAsync: isAsync)
    }

    private func parameters(_ range: Range<Int>) -> [SourceScope.FunctionHead.Parameter] {
        var parameters: [SourceScope.FunctionHead.Parameter] = []
        var index = range.lowerBound
        var names: [String] = []
        while index < range.upperBound {
            let token = tokens[index]
            if token.isName { names.append(token.text) }
            if token.isMark(":"), let label = names.first {
                var parameter = SourceScope.FunctionHead.Parameter(
                    label: label, name: names.last ?? label)
                // The type follows, up to the next comma outside brackets.
                while index < range.upperBound, !tokens[index].isMark(",") {
                    if tokens[index].isName { parameter.types.append(tokens[index].text) }
                    // The payload of a push: `[AnyHashable: Any]`.
                    if tokens[index].isMark("["), index + 1 < range.upperBound,
                        tokens[index + 1].isName("AnyHashable")
                    {
                        parameter.types.append("AnyHashable")
                    }
                    index = partners[index] > index ? partners[index] + 1 : index + 1
                }
                parameters.append(parameter)
                names = []
            }
            index += 1
        }
        return parameters
    }

    /// The head of an Objective-C method; `start` is the parenthesis of the return type.
    private func methodHead(at start: Int) -> SourceScope.FunctionHead {
        var index = partners[start] > start ? partners[start] + 1 : start + 1
        let end = min(tokens.count, start + AuditLimits.headWords)
        let name = index < end ? tokens[index].text : ""
        var parameters: [SourceScope.FunctionHead.Parameter] = []
        while index + 1 < end, !tokens[index].isMark("{"), !tokens[index].isMark(";") {
            guard tokens[index].isName, tokens[index + 1].isMark(":") else {
                index += 1
                continue
            }
            let label = tokens[index].text
            index += 2
            var types: [String] = []
            if index < end, tokens[index].isMark("("), partners[index] > index {
                types = tokens[index..<partners[index]].filter(\.isName).map(\.text)
                index = partners[index] + 1
            }
            guard index < end, tokens[index].isName else { continue }
            parameters.append(
                SourceScope.FunctionHead.Parameter(
                    label: label, name: tokens[index].text, types: types))
            index += 1
        }
        return SourceScope.FunctionHead(name: name, parameters: parameters, isAsync: false)
    }
}
