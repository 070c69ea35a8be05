// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A call of a function without arguments that each launch of an app makes.
struct LaunchCall: Hashable, Sendable {
    /// The functions of a launch, in the order in which the system calls them.
    enum Phase: Int, Sendable {
        case app, willFinish, didFinish
    }

    /// The delegate of the app.
    let delegate: String
    let phase: Phase
    /// The name of the function, and the type of the object that has it.
    let function: String
    let type: String?
    let place: AppPlace

    /// Whether it calls a function.
    func calls(_ other: CalledFunction) -> Bool {
        function == other.name && type == other.type && other.labels.isEmpty
    }
}

/// Finds what each launch of an app calls.
extension SourceReader {
    /// Notes the calls that a function makes on each launch.
    mutating func noteLaunchCalls(_ head: SourceScope.FunctionHead, _ scope: SourceScope) {
        guard let phase = launchPhase(head), let type = owner(around: scope.head),
            let delegate = delegate(in: type, phase)
        else { return }
        let body = text.content(ofBracket: scope.open)
        for index in body.prefix(while: { $0 < firstExit(of: scope) }) {
            guard isCall(index), runsAlways(index, in: scope), let site = text.call(at: index),
                site.arguments.isEmpty, isStatement(index)
            else { continue }
            let called: String?
            switch site.owner {
            case .own: called = type.name
            case .typed(let name): called = name
            case .named, .unknown: continue
            }
            digest.launchCalls.append(
                LaunchCall(
                    delegate: delegate, phase: phase, function: text.tokens[index].text,
                    type: called, place: text.place(of: index)))
        }
    }

    private func launchPhase(_ head: SourceScope.FunctionHead) -> LaunchCall.Phase? {
        if head.has("willFinishLaunchingWithOptions") { return .willFinish }
        if head.has("didFinishLaunchingWithOptions") { return .didFinish }
        return head.name == "init" && head.parameters.isEmpty && !text.isObjectiveC ? .app : nil
    }

    /// The delegate of the app that a launch function belongs to; an app of SwiftUI names it.
    private func delegate(
        in type: SourceScope.TypeHead, _ phase: LaunchCall.Phase
    ) -> String? {
        guard phase == .app else {
            return text.isObjectiveC || type.inherited.contains("UIApplicationDelegate")
                ? type.name : nil
        }
        let adaptors = text.places(of: "UIApplicationDelegateAdaptor")
        guard type.inherited.contains("App"), adaptors.count == 1, let adaptor = adaptors.first,
            text.sees("(", at: adaptor + 1), text.sees(".", "self", at: adaptor + 3),
            text.type(around: adaptor)?.name == type.name,
            text.places(of: "main").contains(where: { text.sees("@", at: $0 - 1) })
        else { return nil }
        return text[adaptor + 2]?.text
    }

    /// Whether a token runs each time that its function does: it is in no closure and no branch but
    /// for the version of the system, and nothing before it leaves the function.
    func runsAlways(_ index: Int, in function: SourceScope) -> Bool {
        guard !text.tokens[index].isConditional || text.isBuiltForIOS(index) else { return false }
        for scope in text.scopes(around: index) {
            if scope.open == function.open { break }
            guard case .control("if") = scope.kind,
                let check = (scope.head..<scope.open).first(where: {
                    text.tokens[$0].text == "available"
                }), !(scope.head + 1..<check).contains(where: { text.tokens[$0].isName }),
                !(scope.head..<scope.open).contains(where: { text.sees("&&", at: $0) }),
                text.partners[scope.open - 1] > scope.head, text.sees(")", at: scope.open - 1)
            else { return false }
        }
        return index < firstExit(of: function)
    }

    /// The first token of a function that may leave it.
    private func firstExit(of function: SourceScope) -> Int {
        if let known = notes.firstExits[function.open] { return known }
        let leaving: Set = ["return", "throw", "try", "guard", "fatalError", "exit", "goto"]
        let body = text.content(ofBracket: function.open)
        let first = body.first { leaving.contains(text.tokens[$0].text) } ?? body.upperBound
        notes.firstExits[function.open] = first
        return first
    }

    /// Whether a call is a statement of its own, and of an object that is there.
    private func isStatement(_ index: Int) -> Bool {
        guard let start = message(around: index) ?? startOfChain(index) else { return false }
        guard let last = text[start - 1] else { return false }
        if ["{", "}", ";"].contains(where: last.isMark) { return true }
        return !text.isObjectiveC && last.position.line < text.tokens[start].position.line
            && (last.isName && !["return", "in", "else", "await", "try"].contains(last.text)
                || last.isMark(")") || last.isMark("]") || last.isString)
    }

    /// The first token of `Type.shared.name(`; `nil` for an optional one.
    private func startOfChain(_ index: Int) -> Int? {
        guard !text.isObjectiveC else { return nil }
        var first = index
        while text.sees(".", at: first - 1) {
            first -= 2
            guard first > 0, text.tokens[first].isName else { return nil }
        }
        return first
    }

    /// Whether a registration runs each time that its function does, which gets no argument.
    func registersAlways(_ index: Int) -> Bool {
        guard let function = outerFunction(of: index), case .function(let head) = function.kind,
            head.parameters.isEmpty, runsAlways(index, in: function)
        else { return false }
        let line = text.tokens[index].position.line
        return !(function.open..<index).reversed()
            .prefix { text.tokens[$0].position.line == line }
            .contains { word in
                ["&&", "||", "?"].contains { text.sees($0, at: word) }
                    || ["if", "guard", "while"].contains { text.sees($0, at: word) }
            }
    }
}

extension FileLibrary {
    /// Adds the calls by which a launch registers a task again.
    static func noteRepeatedRegistrations(in digests: inout [SourceDigest]) {
        let calls = digests.flatMap(\.launchCalls)
        guard calls.count > 1 else { return }
        let byFunction = Dictionary(grouping: calls, by: \.function)
        var known: Set<CalledFunction> = []
        for index in digests.indices {
            var found: [SourceObservation] = []
            for entry in digests[index].entries {
                guard entry.isRegisteredAlways, !entry.observation.isShared,
                    let function = entry.calls, known.insert(function).inserted
                else { continue }
                let own = (byFunction[function.name] ?? []).filter { $0.calls(function) }
                let delegates = Dictionary(grouping: own, by: \.delegate)
                for launch in delegates.sorted(by: { $0.key < $1.key }).map(\.value)
                where launch.count > 1 {
                    let places = launch.sorted {
                        ($0.phase.rawValue, $0.place.line) < ($1.phase.rawValue, $1.place.line)
                    }
                    .map(\.place)
                    found.append(SourceObservation(.fault(.registeredAgain), at: places[1]))
                }
            }
            if !found.isEmpty {
                digests[index].entries += found.map { SourceDigest.Entry(observation: $0) }
            }
        }
    }
}
