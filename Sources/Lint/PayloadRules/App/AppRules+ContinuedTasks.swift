// SPDX-License-Identifier: Apache-2.0

/// Rules about tasks of continued processing, which the user starts and sees.
extension AppRules {
    static let continuedTasks: [AppRule] = [
        AppRule(
            "CF057", .warning, "a continued processing task lacks what the system asks of it",
            why: """
                The system shows the task's progress to the user, ends a task without progress \
                first, and takes a request only from the foreground.
                """,
            from: [.continuedProcessing],
            fix: "Set totalUnitCount and completedUnitCount of the task's progress.",
            check: incompleteContinuedTasks)
    ]

    private static let gpuEntitlement =
        "com.apple.developer.background-tasks.continued-processing.gpu"

    private static func incompleteContinuedTasks(
        _ facts: AppFacts, _ findings: inout AppFindings
    ) {
        for app in facts.apps where app.platform == .iOS || app.platform == nil {
            let seen = app.observations.filter { !$0.isUncalled && app.builds($0) }
            for fault in seen where fault.subject == .fault(.continuedInBackground) {
                findings.report(
                    app, at: fault.place,
                    "a continued processing task is asked for when the app leaves the foreground",
                    fix: "Submit the request when the user starts the work.")
            }
            let task = seen.first {
                $0.subject == .backgroundWork(.continued) && !$0.isShared
            }
            if let task, app.lacks(.likelyTasks, { $0 == .taskProgress }) {
                findings.suspect(
                    app, at: task.place, "a continued processing task never reports its progress")
            }
            if let request = seen.first(where: { $0.subject == .gpuRequest }),
                app.entitlement(gpuEntitlement).placeIfNotTrue != nil
            {
                findings.suspect(
                    app, at: request.place,
                    "the GPU is asked for, and the entitlements lack `\(gpuEntitlement)`",
                    fix: "Add the capability Background GPU Access.")
            }
        }
    }
}

extension Evidence {
    fileprivate static let continuedProcessing = Evidence(
        "Apple, BGContinuedProcessingTask, and Performing long-running tasks on iOS and iPadOS",
        .documented)
}
