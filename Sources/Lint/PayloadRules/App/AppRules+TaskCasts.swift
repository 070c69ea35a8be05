// SPDX-License-Identifier: Apache-2.0

/// Rules about the kind of a background task that a handler gets.
extension AppRules {
    /// A cast that fails for a request of an app.
    private struct FailingCast {
        let app: AppFacts.Bundle
        let place: AppPlace
        let identifier: String
        let kind: SourceObservation.BackgroundWork
        let requested: SourceObservation.BackgroundWork
        let isForced: Bool
    }

    /// Reports casts of tasks to another kind than that of their request.
    static func miscastTasks(_ facts: AppFacts, _ findings: inout AppFindings) {
        for cast in failingCasts(in: facts) {
            let request = "\(cast.requested.rawValue)Request"
            findings.report(
                cast.app, at: cast.place,
                cast.isForced
                    ? "the cast to \(cast.kind.rawValue) ends the app: `\(cast.identifier)` is "
                        + "asked for by a \(request)"
                    : "the handler of `\(cast.identifier)` takes only a \(cast.kind.rawValue), "
                        + "and a \(request) asks for it",
                severity: cast.isForced ? .error : .warning)
        }
    }

    /// The first cast of a file stands for all of it, and of its copies.
    static func forcedCasts(_ facts: AppFacts, _ findings: inout AppFindings) {
        var files: Set<String> = []
        var copies: Set<String> = []
        var told: Set<AppPlace> = []
        // Rule CF056 reports these.
        let failing = Set(failingCasts(in: facts).map(\.place))
        eachObservation(in: facts) { bundle, seen in
            guard seen.subject == .fault(.forcedTaskCast), bundle.platform != .macOS,
                !failing.contains(seen.place),
                !seen.isUncalled || asksForTask(in: seen.place.file, bundle)
            else { return }
            let file = seen.place.file
            if files.insert(file).inserted {
                let name = file.split(separator: "/").last ?? ""
                let place = "\(name):\(seen.place.line):\(seen.place.column)"
                if copies.insert(place).inserted { told.insert(seen.place) }
            }
            // For each target that has the file.
            if told.contains(seen.place) { findings.report(bundle, at: seen.place) }
        }
    }

    /// Whether a file asks for tasks, as rules CF020 and CF049 tell: what registers them has no
    /// caller yet, and is meant to run.
    private static func asksForTask(in file: String, _ bundle: AppFacts.Bundle) -> Bool {
        bundle.observations.contains { seen in
            if case .requestedTask = seen.subject { seen.place.file == file } else { false }
        }
    }

    private static func failingCasts(in facts: AppFacts) -> [FailingCast] {
        facts.apps.filter(\.hasBackgroundTasks).flatMap { app in
            app.observations.compactMap { seen in
                guard case .castTask(let name?, let kind, let isForced) = seen.subject,
                    !seen.isUncalled, app.builds(seen),
                    let requested = failingRequest(for: name, kind, in: app)
                else { return nil }
                return FailingCast(
                    app: app, place: seen.place, identifier: name, kind: kind,
                    requested: requested, isForced: isForced)
            }
        }
    }

    /// The kind of a request for an identifier whose task is none of a kind; `nil` if there is
    /// none, or one for such a task too.
    private static func failingRequest(
        for name: String, _ kind: SourceObservation.BackgroundWork, in app: AppFacts.Bundle
    ) -> SourceObservation.BackgroundWork? {
        var failing: SourceObservation.BackgroundWork?
        for seen in app.observations {
            guard case .requestedTask(let requested, let work) = seen.subject,
                requested == nil || requested == name
            else { continue }
            // A task for health research is a processing task.
            if work == kind || work == .healthResearch && kind == .processing { return nil }
            if requested != nil, seen.mayBeAsked, app.builds(seen) { failing = failing ?? work }
        }
        return failing
    }
}
