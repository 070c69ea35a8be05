// SPDX-License-Identifier: Apache-2.0

/// What a reader found out about the functions of its file, each of which it asks about once.
final class FunctionNotes {
    /// A question for a path without a report: of a function, by its brace, and those that it calls
    /// at this depth.
    struct ReportGap: Hashable {
        let function: Int
        let depth: Int
        let strictness: CompletionPaths.Strictness
    }

    /// A question for work that a function begins, by its brace, and how many lead to it.
    struct BegunWork: Hashable {
        let function: Int
        let depth: Int
    }

    /// Whether a function contains the report of a call, by its brace.
    var holdsReport: [Int: Bool] = [:]
    /// Whether a function does nothing that could report one, by its brace.
    var reportsNothing: [Int: Bool] = [:]
    /// The first token of a function's body that names the background modes, by its brace.
    var modes: [Int: Int?] = [:]
    /// The words of which one has to be there for a function to run, by its brace.
    var callers: [Int: Set<String>?] = [:]
    /// The functions by the first token of their heads.
    var heads: [Int: SourceScope]?
    /// The words by which a function can run, by its brace.
    var callChains: [Int: [Set<String>]] = [:]
    /// The first path without a report in functions that get a push.
    var reportGaps: [ReportGap: Int?] = [:]
    /// Whether a function asks for the permission to show alerts, and hands the answer on, by its
    /// name.
    var answersForAlerts: [String: Bool] = [:]
    /// Whether this file makes a property of Objective-C, and no setter of it, by its name.
    var isPlainProperty: [String: Bool] = [:]
    /// Whether a name of Objective-C stands for a background session, or for its configuration.
    var isSession: [String: Bool] = [:]
    /// The number of sessions of functions that were compared with others.
    var localSessions = 0
    /// The literals that constants of this file stand for, by their names.
    var literalConstants: [String: String?] = [:]
    /// Whether the file asks of its scene only whether it is active.
    var asksForActiveAlone: Bool?
    /// The functions that lead to a report in this file, by their braces.
    var reporting: Set<Int>?
    /// Whether a function asks for time in the background, by the first token of its body.
    var asksForTime: [Int: Bool] = [:]
    /// Whether a function returns while work that it began still runs, by its brace.
    var begunWork: [BegunWork: Bool] = [:]
    /// Whether something else gets the identifiers of time with a name.
    var handedTime: [String: Bool] = [:]
    /// Whether a name stands for what the scenes of the app have.
    var leadsToScene: [String: Bool] = [:]
    /// Whether a function of the file may have time of its own in the background.
    var asksForOwnTime: Bool?
    /// Whether a function only logs, and no other takes its place, by its brace.
    var onlyLogs: [Int: Bool] = [:]
    /// Whether a function only submits a further request for a task, by its brace.
    var asksAgain: [Int: Bool] = [:]
    /// Whether only this file can make objects of a class, by its brace.
    var hasPrivateInitializersOnly: [Int: Bool] = [:]
    /// Whether a function ends time in the background, by its brace.
    var endsTime: [Int: Bool] = [:]
    /// Whether a function looks at the state of the app, by its brace.
    var looksAtState: [Int: Bool] = [:]
    /// Whether a function runs when the app leaves the foreground, by its brace.
    var runsOnLeaving: [Int: Bool] = [:]
    /// The labels of the cases of a `switch`, by its brace.
    var labels: [Int: [Int]] = [:]
    /// Whether all that declares a name makes it the application.
    var applications: [String: Bool] = [:]
    /// The calls of functions of this file that end time in the background.
    var endCalls: [Int]?
    /// The number of calls that ask for time whose paths were followed, by the brace of their
    /// function.
    var followedBegins: [Int: Int] = [:]
    /// Whether the functions that request a task were looked for.
    var knowsSchedulers = false
    /// The literals of the file.
    var literals: [String]?
    /// The parts of the literals between dots, and the literals with values in them.
    var nameLiterals: (parts: Set<String>, interpolated: [String])?
    /// The places at which each function is named, and not declared.
    var uses: [String: [Int]]?
    /// Whether a use of progress was seen.
    var showsProgress = false
    /// The first token of a function that may leave it, by its brace.
    var firstExits: [Int: Int] = [:]
    /// Whether a reference is to a constant of the file that nothing sets or hides.
    var isFixed: [ConstantReference: Bool] = [:]
    /// The cases of enumerations whose raw values are texts; `nil` for types that are not in the
    /// file.
    var cases: [String: [(name: String, value: String)]?] = [:]
    /// Whether types of the file have no functions; `nil` for types that are not in it.
    var isPlain: [String: Bool?] = [:]
}
