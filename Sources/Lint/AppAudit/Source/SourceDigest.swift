// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The observations in one source file, regardless of the target. Constants of other files are
/// resolved for each target.
struct SourceDigest: Sendable {
    /// An observation, and the constant for its identifier.
    struct Entry: Sendable {
        var observation: SourceObservation
        var reference: ConstantReference?
        /// Whether nothing can set that constant to another text, or hide it.
        var isReferenceFixed = false
        /// The words of which one has to be there for a request to be made, then for the functions
        /// that have them.
        var askers: [Set<String>] = []
        /// Whether a registration is for one name, and runs each time that its function does.
        var isRegisteredAlways = false
        /// The time until an earliest date, with a constant that may make it too long.
        var delay: NumberProduct?
        /// The function that lacks something which its caller may have.
        var function: String?
        /// The functions of other files that may have what it lacks.
        var called: Set<String> = []
        /// The words of which one has to be in the app's text for the code to run, and those for
        /// the functions of this file that have them, in turn; empty if the system may call it.
        var callers: [Set<String>] = []
        /// The app delegate that it belongs to, which an app may not make.
        var delegate: String?
        /// The function whose calls decide when the code runs.
        var calls: CalledFunction?
        /// The property that keeps a request, which only other files can submit.
        var keeper: String?
        /// The names of a property that, for a fault, no other file may have.
        var unusedNames: Set<String> = []
        /// What has those names, if other files may do some things with it.
        var made: SourceReader.MadeObject?
        /// The property of another type that keeps a completion handler, which for a fault nothing
        /// may read.
        var keptElsewhere: SourceReader.KeptElsewhere?
        /// What other files must not name for it to be true; `nil` if they do not matter.
        var others: OtherUses?
        /// Whether the launch copies such a property into another object, which may have one of the
        /// same name.
        var isCopiedAtLaunch = false
        /// What the file of a session does with it.
        var lazySession: SourceReader.LazySession?
        /// The call of another file's function, which for a fault has to return before its work.
        var begun: Handover?
        /// What is called, which for a fault has to keep the completion handler of transfers.
        var transferKeeper: SourceReader.TransferKeeper?

        /// Sets the identifier from a literal.
        mutating func name(_ identifier: String) {
            observation.subject = observation.subject.named(identifier)
        }
    }

    /// The words by which other files may end time in the background.
    struct OtherUses: Sendable {
        /// The names of the identifier, which matter if another file ends any time.
        var identifiers: Set<String> = []
        /// The names of what ends the time.
        var ends: Set<String> = []

        /// The words among these that the file itself does not have.
        var absent: Set<String> = []

        /// The call that ends time.
        static let endOfTime = "endBackgroundTask"

        /// Whether other files do not matter.
        var isEmpty: Bool { identifiers.isEmpty && ends.isEmpty }

        /// All words to look for.
        var words: Set<String> {
            identifiers.union(ends).union(identifiers.isEmpty ? [] : [Self.endOfTime])
        }

        /// Whether another file may end it, by the number of files that name each word.
        func areThere(_ counts: [String: Int]) -> Bool {
            func isElsewhere(_ word: String) -> Bool {
                (counts[word] ?? 2) > (absent.contains(word) ? 0 : 1)
            }
            return ends.contains(where: isElsewhere)
                || !identifiers.isEmpty && isElsewhere(Self.endOfTime)
                    && identifiers.contains(where: isElsewhere)
        }
    }

    /// A handler of pushes, and the rules that depend on what its calls do elsewhere.
    struct OpenHandler: Sendable {
        let handler: AppFacts.OpenHandler
        /// The calls of other files that get the push, or its completion handler, and the rules
        /// that depend on each.
        var handovers: [Handover: Set<RuleID>] = [:]

        /// The handler, if something is open: a rule, or what one of those calls does.
        func open(_ unfollowed: Set<Handover>) -> AppFacts.OpenHandler? {
            var open = handler
            for (handover, rules) in handovers where unfollowed.contains(handover) {
                open.rules.formUnion(rules)
            }
            return open.rules.isEmpty ? nil : open
        }
    }

    /// An app delegate in Objective-C, in memory of its own: of many files few have one.
    final class DelegateClass: Sendable {
        let name: String
        /// Whether the file itself says that the base class is the system's.
        let isPlain: Bool
        let observation: SourceObservation

        init(_ name: String, isPlain: Bool, _ observation: SourceObservation) {
            self.name = name
            self.isPlain = isPlain
            self.observation = observation
        }
    }

    /// The observations, in the order of places.
    var entries: [Entry] = []
    /// The calls that hand a completion handler on to other files.
    var handovers: [Handover] = []
    /// The handlers of pushes that leave something to code which may not be followed.
    var openHandlers: [OpenHandler] = []
    /// The app delegate in Objective-C that the file implements, whose base class may stand in a
    /// header.
    var delegateClass: DelegateClass?
    /// The calls of other files whose functions, which are here, return before their work.
    var begunWork: Set<Handover> = []
    /// The functions that get a task whose expiration handler is set.
    var guarded: Set<String> = []
    /// The functions that get a task from one that requests the next.
    var scheduled: Set<String> = []
    /// The functions that request a task.
    var schedulers: Set<String> = []
    /// Whether it has time in the background that only its expiration handler ends.
    var hasLastingTime = false
    /// For each mention of a request for a task, the functions through which handlers of tasks
    /// alone lead to it; `nil` if others may.
    var taskRequests: [Set<String>?] = []

    /// The calls that each launch of the app makes.
    var launchCalls: [LaunchCall] = []

    /// What the handlers of the events of background sessions call; an element is `nil` if that is
    /// not known.
    var eventCalls: [Set<String>?] = []

    /// The properties that keep completion handlers of the events of background sessions.
    var transferKeepers: Set<SourceReader.TransferKeeper> = []

    /// Whether it mentions a request for a task other than to make or to cast one.
    var mayHideRequests = false
    /// Whether SwiftUI may register a task of any name.
    var mayHideRegistrations = false

    /// Whether the file is part of other targets too.
    var isShared: Bool { entries.first?.observation.isShared == true }

    /// Whether the identifier of a request is neither a literal nor a constant of its file: a
    /// property may be set to another one, and a local name may hide it.
    var namesRequestsElsewhere: Bool {
        entries.contains {
            guard case .requestedTask = $0.observation.subject else { return false }
            return $0.reference != nil && !$0.isReferenceFixed
        }
    }

    /// Whether the identifier of a registration is neither a literal nor a constant of its file.
    var namesRegistrationsElsewhere: Bool {
        entries.contains {
            guard case .taskHandler(let name) = $0.observation.subject else { return false }
            return name == nil && !$0.isReferenceFixed
        }
    }

    /// Takes back what was found in functions that are followed quietly.
    mutating func makeQuiet() {
        entries = []
        for index in handovers.indices { handovers[index].isQuiet = true }
    }

    /// Marks the file as part of other targets too.
    mutating func markShared() {
        for index in entries.indices { entries[index].observation.isShared = true }
    }

    /// The names of the constants to resolve.
    var wantedNames: Set<String> {
        Set(entries.compactMap(\.reference?.name) + entries.compactMap(\.delay?.reference?.name))
    }

    /// The words that decide whether some code runs.
    var callers: Set<String> {
        entries.reduce(into: []) { $0.formUnion(($1.callers + $1.askers).joined()) }
    }

    /// Settles the observations that other files do not change, by the number of files that name
    /// each word.
    mutating func settle(_ counts: [String: Int]) {
        for index in entries.indices {
            guard let others = entries[index].others, !others.areThere(counts) else { continue }
            entries[index].others = nil
        }
    }

    /// Settles the faults whose calls begin work.
    mutating func confirm(_ begun: Set<Handover>) {
        for index in entries.indices where entries[index].begun.map(begun.contains) == true {
            entries[index].begun = nil
        }
    }

    /// Takes back some observations. If there are none, nothing is copied: the files of a target
    /// share what is kept of them for all targets.
    mutating func drop(where isMeant: (Entry) -> Bool) {
        if entries.contains(where: isMeant) { entries.removeAll(where: isMeant) }
    }

    /// Takes back that time in the background lasts until it expires, or that other files matter
    /// for it.
    mutating func dropLastingTime() {
        drop {
            [.fault(.assertionEndedByExpiration), .fault(.timerInLastingTime)]
                .contains($0.observation.subject) || $0.others != nil
        }
    }

    /// The files that name something, but for one: no set of them is copied for each observation.
    struct Others {
        private let all: Set<String>
        private let own: String

        /// The files besides that of an observation.
        init(_ all: Set<String>?, _ entry: Entry) {
            self.all = all ?? []
            own = entry.observation.place.file
        }

        /// The number of files.
        var count: Int { all.count - (all.contains(own) ? 1 : 0) }

        /// Whether there are none.
        var isEmpty: Bool { count == 0 }

        /// Whether one meets a condition.
        func contains(where isMeant: (String) -> Bool) -> Bool {
            all.contains { $0 != own && isMeant($0) }
        }
    }

    /// Takes back faults of properties that other files name. `files` are those with each name, or
    /// `nil` if not all are known; `mayComplete` tells whether some of them may undo a fault.
    mutating func dropUsedProperties(
        _ files: [String: Set<String>]?,
        unless mayComplete: (SourceReader.MadeObject, String, Others) -> Bool
    ) {
        drop { entry in
            guard !entry.unusedNames.isEmpty else { return false }
            // Hardly any file looks up the actions of calls: one that is not read is taken not to.
            guard let files else { return entry.unusedNames != SourceReader.lookups }
            return entry.unusedNames.contains { name in
                let others = Others(files[name], entry)
                return !others.isEmpty && (entry.made.map { mayComplete($0, name, others) } ?? true)
            }
        }
    }

    /// The properties of other types that nothing may read for a fault.
    var keptElsewhere: Set<SourceReader.KeptElsewhere> { Set(entries.compactMap(\.keptElsewhere)) }

    /// Takes back faults of such properties that something may read.
    mutating func dropCompletions(besides unread: Set<SourceReader.KeptElsewhere>) {
        drop { $0.keptElsewhere.map { !unread.contains($0) } == true }
    }

    /// The sessions that only transfers make.
    var lazySessions: Set<SourceReader.LazySession> { Set(entries.compactMap(\.lazySession)) }

    /// Takes back that nothing makes such a session at launch.
    mutating func dropSessions(besides late: Set<SourceReader.LazySession>) {
        drop { $0.lazySession.map { !late.contains($0) } == true }
    }

    /// Takes back faults in calls of what keeps no completion handler of transfers.
    mutating func dropCalls(besides keepers: Set<SourceReader.TransferKeeper>) {
        drop { entry in
            entry.transferKeeper.map { call in !keepers.contains { $0.isCalled(by: call) } }
                == true
        }
    }

    /// Whether the file has handlers of background tasks.
    var handlesTasks: Bool {
        entries.contains {
            if case .taskHandler = $0.observation.subject { true } else { false }
        }
    }

    /// The properties that keep requests which the file itself does not submit.
    var keepers: Set<String> { Set(entries.compactMap(\.keeper)) }

    /// The names of properties that the launch copies into objects with such ones of their own.
    var copiedNames: Set<String> {
        let names = entries.filter(\.isCopiedAtLaunch).flatMap(\.unusedNames)
        return Set(names).subtracting(keepers)
    }

    /// The names of properties that other files may use.
    var unusedNames: Set<String> {
        entries.reduce(into: []) { $0.formUnion($1.unusedNames) }
    }

    /// Takes back the requests in properties that no other file names. `files` are those with each
    /// name.
    mutating func dropRequests(keptIn files: [String: Set<String>]) {
        drop { entry in
            entry.keeper.map { name in
                Others(files[name], entry).isEmpty
            } == true
        }
    }

    /// The app delegates that observations belong to.
    var delegates: Set<String> { Set(entries.compactMap(\.delegate)) }

    /// Sets the times of code in functions that are called only at one time; `unknown` stands for
    /// several.
    mutating func apply(_ occasions: [CalledFunction: SourceObservation.Occasion]) {
        for index in entries.indices {
            guard let occasion = entries[index].calls.flatMap({ occasions[$0] }) else { continue }
            switch entries[index].observation.subject {
            case .registeredTask(let name, let own):
                if occasion.isLate || occasion == .permission {
                    entries[index].observation.subject = .registeredTask(name, .afterLaunch)
                } else if own.isLate {
                    entries[index].observation.subject = .registeredTask(name, .unknown)
                }
            case .voipRegistration(.unknown):
                entries[index].observation.subject = .voipRegistration(occasion)
            case .remoteNotificationRegistration where occasion == .permission:
                entries[index].observation.subject = .remoteNotificationRegistration(occasion)
            default: continue
            }
        }
    }

    /// Marks the observations in functions that no file calls, unless the system may.
    mutating func markUncalled(_ functions: Set<CalledFunction>) {
        for index in entries.indices
        where entries[index].calls.map(functions.contains) == true
            && !entries[index].callers.isEmpty
        {
            entries[index].observation.isUncalled = true
        }
    }

    /// Marks the observations in these types as code that does not run.
    mutating func markUnused(_ delegates: Set<String>) {
        for index in entries.indices
        where entries[index].delegate.map(delegates.contains) == true {
            entries[index].observation.isUncalled = true
        }
    }

    /// Whether no file calls a function, or one of those that alone call it.
    private static func isUncalled(_ chain: [Set<String>], _ mentions: [String: Int]) -> Bool {
        for words in chain {
            let count = words.map { mentions[$0] ?? 2 }.max() ?? 2
            if count == 0 { return true }
            // Another file may call it.
            if count != 1 { return false }
        }
        return false
    }

    /// The observations, with identifiers from constants. `mentions` are the numbers of files with
    /// each word, as far as they are known.
    func observations(
        _ constants: SourceConstants, guarded: Set<String> = [], scheduled: Set<String> = [],
        schedulers: Set<String> = [], mentions: [String: Int] = [:]
    ) -> [SourceObservation] {
        entries.compactMap { entry in
            if entry.others != nil || entry.begun != nil { return nil }
            if let function = entry.function {
                let isOfNext = entry.observation.subject == .fault(.refreshWithoutNext)
                if (isOfNext ? scheduled : guarded).contains(function) { return nil }
            }
            if !entry.called.isDisjoint(with: schedulers) { return nil }
            if let delay = entry.delay {
                guard let seconds = delay.value(constants), seconds > SourceReader.farthestSeconds
                else { return nil }
            }
            var observation = entry.observation
            if Self.isUncalled(entry.callers, mentions) { observation.isUncalled = true }
            if let reference = entry.reference {
                observation.subject = observation.subject.named(constants.value(of: reference))
            }
            if case .requestedTask(_?, _) = observation.subject {
                observation.mayBeAsked = !Self.isUncalled(entry.askers, mentions)
                observation.isCertainRequest =
                    (entry.reference == nil || entry.isReferenceFixed) && observation.mayBeAsked
            }
            return observation
        }
    }
}

extension SourceObservation.Subject {
    /// Whether it matters only if the code runs.
    var needsCaller: Bool {
        switch self {
        // What nothing calls is the fault.
        case .fault(.strayHandler): false
        case .fault, .pathWithoutCompletion, .remoteNotificationRegistration,
            .obsoleteRegistration, .voipRegistration, .tokenForFirebase,
            .pushRegistry, .registeredTask, .taskHandler, .castTask, .unsubmittedRequest,
            .alwaysNewFetch:
            true
        default: false
        }
    }

    /// The identifier of its task.
    fileprivate var identifier: String? {
        switch self {
        case .registeredTask(let name, _), .requestedTask(let name, _), .sceneTask(let name),
            .taskHandler(let name), .castTask(let name, _, _), .unsubmittedRequest(let name):
            name
        default: nil
        }
    }

    /// The subject with this identifier.
    fileprivate func named(_ identifier: String?) -> SourceObservation.Subject {
        switch self {
        case .registeredTask(_, let occasion): .registeredTask(identifier, occasion)
        case .requestedTask(_, let work): .requestedTask(identifier, work)
        case .sceneTask: .sceneTask(identifier)
        case .taskHandler: .taskHandler(identifier)
        case .castTask(_, let kind, let isForced):
            .castTask(identifier, kind, isForced: isForced)
        case .unsubmittedRequest: .unsubmittedRequest(identifier)
        default: self
        }
    }
}

extension AppFacts.Sources {
    /// Puts the identifier of the bundle into those of tasks; without one these are not known.
    mutating func name(_ bundle: String?) {
        let placeholder = SourceText.bundleIdentifier
        for index in observations.indices {
            guard let name = observations[index].subject.identifier, name.contains(placeholder)
            else { continue }
            let known = bundle.map { name.replacing(placeholder, with: $0) }
            observations[index].subject = observations[index].subject.named(known)
            if known == nil { knowsRegistrations = false }
        }
        guard case .named(let names) = backgroundRequests else { return }
        let known = bundle.map { bundle in
            BackgroundRequests.named(Set(names.map { $0.replacing(placeholder, with: bundle) }))
        }
        if names.contains(where: { $0.contains(placeholder) }) {
            backgroundRequests = known ?? .unknown
        }
    }
}
