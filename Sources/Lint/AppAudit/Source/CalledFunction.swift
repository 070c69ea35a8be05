// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A function whose calls, in any file of a target, show when its code runs.
struct CalledFunction: Hashable, Sendable {
    /// A moment in the life of an app at which a function is called.
    enum Moment: Hashable, Sendable {
        /// Each time that the app becomes active.
        case active
        /// When the app leaves the foreground, without a request for more time.
        case leaving
    }

    /// The calls of functions.
    struct Calls {
        var occasions: [CalledFunction: SourceObservation.Occasion] = [:]
        var moments: [CalledFunction: Set<Moment>] = [:]
    }

    /// What a mention of the function tells about the time.
    enum Use {
        /// A call at this time, and at this moment.
        case occasion(SourceObservation.Occasion, Moment?)
        /// A call in this function, whose own calls show the time.
        case inside(CalledFunction)
        /// Something that may call it at any time.
        case unknown
    }

    let name: String
    /// The labels of its parameters.
    let labels: [String]
    /// The type around it; `nil` for a global function.
    let type: String?
    /// What the type inherits in its file.
    let inherited: [String]

    /// Whether the labels of a call fit.
    func fits(_ site: CallSite) -> Bool {
        site.arguments.count <= labels.count
            && site.arguments.allSatisfy { argument in
                argument.isTrailing || labels.contains(argument.label ?? "_")
            }
    }
}

extension SourceReader {
    /// Notes that the calls of the function around the last observation decide when it runs.
    mutating func noteCallers(of index: Int) {
        guard !digest.entries.isEmpty, let function = calledFunction(around: index) else { return }
        digest.entries[digest.entries.count - 1].calls = function
    }

    /// Notes that the last observation counts only if its function is called at a moment.
    mutating func noteCallers(of index: Int, at moment: CalledFunction.Moment) {
        noteCallers(of: index)
        guard !digest.entries.isEmpty else { return }
        digest.entries[digest.entries.count - 1].moment = moment
    }

    /// Notes what is called when the app becomes active or leaves.
    mutating func noteMoment(_ scope: SourceScope) {
        switch scope.kind {
        case .function(let head)
        where Self.foregroundFunctions.contains(head.name)
            || Self.leavingFunctions.contains(head.name):
            break
        case .closure(let callee?)
        where ["onChange", "onReceive", "addObserver", "sink"].contains(callee):
            break
        default: return
        }
        for index in text.content(ofBracket: scope.open) where isCall(index) {
            digest.momentCalls.insert(text.tokens[index].text)
        }
    }

    /// The moment at which a token runs.
    private func moment(of index: Int) -> CalledFunction.Moment? {
        if runsWhenActive(index) { return .active }
        guard let body = bodyThatLeaves(around: index), !asksForTime(body),
            isInCourse(index, of: body)
        else { return nil }
        return .leaving
    }

    /// The function around a token, and in no other function.
    func calledFunction(around index: Int) -> CalledFunction? {
        guard let scope = outerFunction(of: index), case .function(let head) = scope.kind,
            head.name != "init", WordFilter.canFind(head.name)
        else { return nil }
        let type = owner(around: scope.head)
        // The first part of a message's selector is its name.
        return CalledFunction(
            name: head.name, labels: head.parameters.map(\.label), type: type?.name,
            inherited: type?.inherited ?? [])
    }

    /// The mentions of a function in this file.
    func uses(of function: CalledFunction) -> [CalledFunction.Use] {
        mentions(of: function.name).compactMap { index -> CalledFunction.Use? in
            guard isCall(index), let site = text.call(at: index) else {
                // A case of an enumeration, or a variable with this name.
                let before = text[index - 1]
                let isOther =
                    before?.isName("let") == true || before?.isName("var") == true
                    || before?.isName("case") == true || text.isLabel(index)
                    || text.sees(".", at: index - 1)
                        && ["(", ",", ":", "=", "["].contains {
                            text[index - 2]?.isMark($0) == true
                        }
                return isOther ? nil : .unknown
            }
            guard function.fits(site) else { return nil }
            switch mayReach(function, site) {
            case false?: return nil
            case nil: return .unknown
            case true?: break
            }
            let moment = moment(of: index)
            let occasion = lateOccasion(of: index)
            if occasion != .unknown { return .occasion(occasion, moment) }
            if moment != nil { return .occasion(.afterLaunch, moment) }
            guard let caller = calledFunction(around: index), caller != function else {
                return .unknown
            }
            return .inside(caller)
        }
    }

    /// Whether a call is one of a function; `nil` if it may be.
    private func mayReach(_ function: CalledFunction, _ site: CallSite) -> Bool? {
        switch site.owner {
        case .own:
            let around = owner(around: site.name)
            let isDeclaredHere = text.scopes.contains { scope in
                guard case .function(let head) = scope.kind, head.name == function.name else {
                    return false
                }
                return owner(around: scope.head)?.name == around?.name
            }
            if around?.name == function.type { return true }
            guard !isDeclaredHere else { return false }
            guard let type = function.type else { return true }
            guard let around else { return false }
            return around.inherited.contains(type) ? true : nil
        case .typed(let name):
            return name == function.type || function.inherited.contains(name)
        case .named(let name):
            guard let type = function.type?.lowercased() else { return false }
            if type.contains(name.lowercased()) || name.lowercased().contains(type) { return true }
            // A protocol of the type may be meant: `modules.forEach { $0.register() }`.
            return function.inherited == ["NSObject"] || function.inherited.isEmpty ? false : nil
        case .unknown: return nil
        }
    }

    /// The places at which a name is used, and not declared as a function.
    func mentions(of name: String) -> [Int] {
        text.tokens.indices.filter { index in
            guard text.tokens[index].isName(name), text[index - 1]?.isName("func") != true else {
                return false
            }
            // `- (void)name`
            guard text.isObjectiveC, text.sees(")", at: index - 1) else { return true }
            let open = text.partners[index - 1]
            return !(text.sees("-", at: open - 1) || text.sees("+", at: open - 1))
        }
    }
}

/// The calls of functions in files, each of which is searched once for each function.
final class CallerIndex {
    private var known: [CalledFunction: [String: [CalledFunction.Use]]] = [:]
    private let index: SourceIndex

    init(_ index: SourceIndex) { self.index = index }

    /// The longest chain of functions that is followed.
    private static let chainLength = 4

    /// The time at which these functions are called, directly or by others; `unknown` for several.
    /// Of several times after the launch the first one stands for all. Moments are those of direct
    /// calls.
    func calls(of functions: Set<CalledFunction>, in files: [String]) -> CalledFunction.Calls {
        var uses: [CalledFunction: [CalledFunction.Use]] = [:]
        var pending = functions
        for _ in 0..<Self.chainLength where !pending.isEmpty {
            for path in files { read(path, for: pending) }
            var next: Set<CalledFunction> = []
            for function in pending {
                let found = files.flatMap { known[function]?[$0] ?? [] }
                uses[function] = found
                guard mayAgree(found) else { continue }
                for case .inside(let caller) in found { next.insert(caller) }
            }
            pending = next.subtracting(uses.keys)
        }
        var calls = CalledFunction.Calls()
        for function in functions {
            guard let found = uses[function], !found.isEmpty else { continue }
            calls.occasions[function] = occasion(of: function, uses, depth: 0) ?? .unknown
            for case .occasion(_, let moment?) in found {
                calls.moments[function, default: []].insert(moment)
            }
        }
        return calls
    }

    /// Whether further calls can show that all are made at one time.
    private func mayAgree(_ uses: [CalledFunction.Use]) -> Bool {
        var occasions: [SourceObservation.Occasion] = []
        for use in uses {
            switch use {
            case .unknown: return false
            case .occasion(let occasion, _): occasions.append(occasion)
            case .inside: continue
            }
        }
        return occasions.allSatisfy(\.isLate) || occasions.allSatisfy { $0 == .permission }
    }

    private func read(_ path: String, for functions: Set<CalledFunction>) {
        let new = functions.filter { known[$0]?[path] == nil }
        guard !new.isEmpty else { return }
        for function in new { known[function, default: [:]][path] = [] }
        let names = index.words(Set(new.map(\.name)))
        guard let here = index.words(names, .named, in: path), !here.isEmpty,
            let bytes = try? index.text(of: path), bytes.count <= AuditLimits.sourceBytes
        else { return }
        let reader = SourceReader(SourceText(bytes, path: path))
        for function in new { known[function, default: [:]][path] = reader.uses(of: function) }
    }

    private func occasion(
        of function: CalledFunction, _ uses: [CalledFunction: [CalledFunction.Use]], depth: Int
    ) -> SourceObservation.Occasion? {
        guard depth < Self.chainLength, let all = uses[function], !all.isEmpty else { return nil }
        var found: SourceObservation.Occasion?
        for use in all {
            let next: SourceObservation.Occasion? =
                switch use {
                case .occasion(let occasion, _): occasion
                case .inside(let caller): occasion(of: caller, uses, depth: depth + 1)
                case .unknown: nil
                }
            guard let next, found == nil || next == found || next.isLate && found?.isLate == true
            else { return nil }
            found = found ?? next
        }
        return found
    }
}

extension SourceObservation.Occasion {
    /// Whether the launch is over.
    var isLate: Bool { [.view, .scene, .afterLaunch].contains(self) }
}
