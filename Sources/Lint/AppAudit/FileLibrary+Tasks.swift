// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Looks for the requests for background tasks and for their registrations in all files.
extension FileLibrary {
    /// Notes where a project asks for tasks, if an app handles any, and whether each registration
    /// is among the observations, if it asks for any.
    func noteTasks(
        of files: [String], _ digests: [SourceDigest], _ modules: Set<String>,
        in sources: inout AppFacts.Sources
    ) {
        let handlesTasks = digests.contains(where: \.handlesTasks)
        sources.namesTasks = handlesTasks || digests.contains { !$0.taskRequests.isEmpty }
        let asksForTasks = sources.observations.contains(where: \.isCertainRequest)
        guard handlesTasks || asksForTasks else { return }
        let search = requestSearch ?? TaskRequestSearch(below: folders, tree)
        requestSearch = search
        if handlesTasks {
            sources.backgroundRequests = search.requests(
                in: files.map { ($0, digest(of: $0)?.taskRequests ?? []) }, modules)
            if sources.backgroundRequests == .unknown, search.areOnly(in: files, modules),
                !digests.contains(where: { $0.mayHideRequests || $0.namesRequestsElsewhere })
            {
                sources.backgroundRequests = .named(in: sources.observations)
            }
        }
        if asksForTasks || handlesTasks {
            sources.knowsRegistrations =
                !digests.contains { $0.mayHideRegistrations || $0.namesRegistrationsElsewhere }
                && search.areRegistrationsOnly(in: files, modules)
        }
    }

    /// Notes that a file may report the progress of a task, also if it names no task.
    func noteProgress(in files: [String], _ sources: inout AppFacts.Sources) {
        let seen = Set(sources.observations.map(\.subject))
        guard seen.contains(.backgroundWork(.continued)), !seen.contains(.taskProgress) else {
            return
        }
        let words = tree.index.words([
            "completedUnitCount", "totalUnitCount", "ProgressReporting", "becomeCurrent",
        ])
        let reporter = files.first { tree.index.words(words, .named, in: $0)?.isEmpty != true }
        guard let reporter else { return }
        sources.observations.append(
            SourceObservation(.taskProgress, at: AppPlace(file: reporter)))
    }
}
