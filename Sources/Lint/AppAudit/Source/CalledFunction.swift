// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A function whose calls, in any file of a target, show when its code runs.
struct CalledFunction: Hashable, Sendable {
    /// What a mention of the function tells about the time.
    enum Use {
        /// A call at this time.
        case occasion(SourceObservation.Occasion)
        /// A call in this function, whose own calls show the time.
        case inside(CalledFunction)
        /// Something that may call it at any time.
        case unknown

        var isUnknown: Bool { if case .unknown = self { true } else { false } }
    }

    /// The name; `init` for an initializer.
    let name: String
    /// The labels of its parameters.
    let labels: [String]
    /// The type around it; `nil` for a global function.
    let type: String?
    /// What the type inherits in its file.
    let inherited: [String]

    /// The word that text has which may call it: its name, or the type that an initializer makes.
    var word: String { name == "init" ? type ?? name : name }

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

    /// The function around a token, and in no other function.
    func calledFunction(around index: Int) -> CalledFunction? {
        guard let scope = outerFunction(of: index), case .function(let head) = scope.kind,
            WordFilter.canFind(head.name)
        else { return nil }
        let type = owner(around: scope.head)
        if head.name == "init" {
            guard let type, !text.isObjectiveC, WordFilter.canFind(type.name),
                type.inherited.allSatisfy(Self.isPlainBase)
            else { return nil }
        }
        return CalledFunction(
            name: head.name, labels: head.parameters.map(\.label), type: type?.name,
            inherited: type?.inherited ?? [])
    }

    /// The mentions of a function in this file.
    func uses(of function: CalledFunction) -> [CalledFunction.Use] {
        if function.name == "init" { return makings(of: function) }
        return mentions(of: function.name).compactMap { index -> CalledFunction.Use? in
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
            let occasion = lateOccasion(of: index)
            if occasion != .unknown { return .occasion(occasion) }
            if runsWhenActive(index) { return .occasion(.event) }
            guard let caller = calledFunction(around: index), caller != function else {
                return .unknown
            }
            return .inside(caller)
        }
    }

    /// Types of the system whose methods are not the app's.
    private static let systemTypes: Set = [
        "BGTaskScheduler", "UIApplication", "UNUserNotificationCenter", "NotificationCenter",
        "URLSession", "Timer", "FileManager", "UserDefaults", "ProcessInfo",
    ]

    /// Whether a call is one of a function; `nil` if it may be.
    func mayReach(_ function: CalledFunction, _ site: CallSite) -> Bool? {
        switch site.owner {
        case .own:
            let around = owner(around: site.name)
            let isDeclaredHere = text.functions[function.name]?.contains { scope in
                owner(around: scope.head)?.name == around?.name
            }
            if around?.name == function.type { return true }
            guard isDeclaredHere != true else { return false }
            guard let type = function.type else { return true }
            guard let around else { return false }
            return around.inherited.contains(type) ? true : nil
        // Another name may be that of a base, an alias or a container, and hold the same object.
        case .typed(let name):
            if name == function.type { return true }
            return Self.systemTypes.contains(name) ? false : nil
        case .named(let name):
            return name.lowercased() == function.type?.lowercased() ? true : nil
        case .unknown: return nil
        }
    }

    /// The places at which a name is used, and not declared as a function.
    func mentions(of name: String) -> [Int] {
        text.places(of: name).filter { index in
            guard text[index - 1]?.isName("func") != true else { return false }
            // `- (void)name`
            guard text.isObjectiveC, text.sees(")", at: index - 1) else { return true }
            let open = text.partners[index - 1]
            return !(text.sees("-", at: open - 1) || text.sees("+", at: open - 1))
        }
    }
}

/// The calls of functions in files, each of which is searched once for each function that it names.
final class CallerIndex {
    private var known: [CalledFunction: [String: [CalledFunction.Use]]] = [:]
    private let index: SourceIndex

    init(_ index: SourceIndex) { self.index = index }

    /// The longest chain of functions that is followed.
    private static let chainLength = 4

    /// The time at which these functions are called, directly or by others; `unknown` for several.
    /// Of several times after the launch one stands for all, the soonest before the others.
    func occasions(
        of functions: Set<CalledFunction>, in files: [String]
    ) -> [CalledFunction: SourceObservation.Occasion] {
        var uses: [CalledFunction: [CalledFunction.Use]] = [:]
        var pending = functions
        for _ in 0..<Self.chainLength where !pending.isEmpty {
            let found = self.uses(of: pending, in: files)
            var next: Set<CalledFunction> = []
            for function in pending {
                let here = found[function] ?? []
                uses[function] = here
                guard mayAgree(here) else { continue }
                for case .inside(let caller) in here { next.insert(caller) }
            }
            pending = next.subtracting(uses.keys)
        }
        var occasions: [CalledFunction: SourceObservation.Occasion] = [:]
        for function in functions where uses[function]?.isEmpty == false {
            occasions[function] = occasion(of: function, uses, depth: 0) ?? .unknown
        }
        return occasions
    }

    /// Those of some functions that no file uses.
    func uncalled(
        _ functions: Set<CalledFunction>, in files: [String]
    ) -> Set<CalledFunction> {
        let found = uses(of: functions, in: files)
        return functions.filter { found[$0]?.isEmpty ?? true }
    }

    /// The uses of functions in files, up to the first file with one that shows nothing.
    private func uses(
        of functions: Set<CalledFunction>, in files: [String]
    ) -> [CalledFunction: [CalledFunction.Use]] {
        var open = Dictionary(grouping: functions, by: \.word)
        var words = index.words(Set(open.keys))
        var found: [CalledFunction: [CalledFunction.Use]] = [:]
        for start in stride(from: 0, to: files.count, by: AuditLimits.filesAtOnce)
        where !words.isEmpty {
            let next = index.next(words, .named, in: files, from: start)
            readAhead(next, open)
            for (path, here) in next {
                let wanted = here.flatMap { open[$0] ?? [] }
                for function in wanted {
                    guard let uses = known[function]?[path] else { continue }
                    found[function, default: []] += uses
                    guard uses.contains(where: \.isUnknown) else { continue }
                    open[function.word]?.removeAll { $0 == function }
                }
            }
            words.removeAll { open[$0.text]?.isEmpty == true }
        }
        return found
    }

    /// Whether further calls can show that all are made at one time.
    private func mayAgree(_ uses: [CalledFunction.Use]) -> Bool {
        var occasions: [SourceObservation.Occasion] = []
        for use in uses {
            switch use {
            case .unknown: return false
            case .occasion(let occasion): occasions.append(occasion)
            case .inside: continue
            }
        }
        return occasions.allSatisfy(\.isLate) || occasions.allSatisfy { $0 == .permission }
    }

    /// Reads on all processors what the next files have for functions by their words.
    private func readAhead(
        _ files: [(path: String, words: Set<String>)], _ open: [String: [CalledFunction]]
    ) {
        let jobs = files.compactMap { path, here -> (path: String, question: [CalledFunction])? in
            let new = here.flatMap { open[$0] ?? [] }.filter { known[$0]?[path] == nil }
            return new.isEmpty ? nil : (path, new)
        }
        let found = index.answers(to: jobs) { text, functions in
            let reader = SourceReader(text)
            return functions.map { reader.uses(of: $0) }
        }
        for (job, uses) in zip(jobs, found) {
            for (function, uses) in zip(job.question, uses ?? []) {
                known[function, default: [:]][job.path] = uses
            }
        }
    }

    private func occasion(
        of function: CalledFunction, _ uses: [CalledFunction: [CalledFunction.Use]], depth: Int
    ) -> SourceObservation.Occasion? {
        guard depth < Self.chainLength, let all = uses[function], !all.isEmpty else { return nil }
        var found: SourceObservation.Occasion?
        for use in all {
            let next: SourceObservation.Occasion? =
                switch use {
                case .occasion(let occasion): occasion
                case .inside(let caller): occasion(of: caller, uses, depth: depth + 1)
                case .unknown: nil
                }
            guard let next, found == nil || next == found || next.isLate && found?.isLate == true
            else { return nil }
            if found.map({ Self.isSoon(next) && !Self.isSoon($0) }) ?? true { found = next }
        }
        return found
    }

    /// Whether a time after the launch may follow it at once, also in the background.
    private static func isSoon(_ occasion: SourceObservation.Occasion) -> Bool {
        occasion == .afterLaunch || occasion == .viewController
    }
}
