// SPDX-License-Identifier: Apache-2.0

/// Rules about the life of apps with scenes.
extension AppRules {
    static let scenes: [AppRule] = [
        AppRule(
            "CF058", .warning, "background work is asked for in a function that iOS does not call",
            why: """
                In an app with scenes UIKit calls sceneDidEnterBackground(_:) of the scene's \
                delegate, and not applicationDidEnterBackground(_:) of the app's.
                """,
            from: [.sceneLifeCycle],
            fix: """
                Do it in sceneDidEnterBackground(_:), or when SwiftUI's scenePhase becomes \
                background.
                """,
            check: uncalledCallbacks)
    ]

    private static func uncalledCallbacks(_ facts: AppFacts, _ findings: inout AppFindings) {
        for app in facts.apps
        where app.role == .app && app.platform == .iOS && app.sources?.isOwnComplete == true {
            guard hasScenes(app), !app.shows({ $0 == .sceneCallback }),
                let callback = app.own(.applicationCallback)
            else { continue }
            findings.suspect(
                app, at: callback.place,
                "iOS does not call applicationDidEnterBackground in an app with scenes, and the "
                    + "background work is asked for there")
        }
    }

    /// Whether the scenes of an app are those of SwiftUI, or those that Info.plist or the app
    /// delegate configures.
    private static func hasScenes(_ app: AppFacts.Bundle) -> Bool {
        func builds(_ subject: SourceObservation.Subject) -> Bool {
            app.observations.contains { $0.subject == subject && app.builds($0) }
        }
        if builds(.appOfScenes) { return true }
        guard let manifest = app.info?["UIApplicationSceneManifest"] else { return false }
        // The scenes of CarPlay alone leave the phone's window to the app delegate.
        let windows = manifest["UISceneConfigurations"]?["UIWindowSceneSessionRoleApplication"]
        if case .array(let scenes)? = windows?.value, !scenes.isEmpty { return true }
        return builds(.sceneConfiguration)
    }

    /// Reports tasks that SwiftUI and the app's own code register.
    static func doubleTasks(_ facts: AppFacts, _ findings: inout AppFindings) {
        for bundle in facts.bundles {
            let scenes = bundle.observations.filter {
                if case .sceneTask(_?) = $0.subject { true } else { false }
            }
            guard !scenes.isEmpty else { continue }
            let own = Set(scenes.map(\.place))
            // The first registration by hand of each task.
            var others: [String: AppPlace] = [:]
            for seen in bundle.observations {
                guard case .registeredTask(let identifier?, _) = seen.subject,
                    others[identifier] == nil, !own.contains(seen.place)
                else { continue }
                others[identifier] = seen.place
            }
            for scene in scenes {
                guard case .sceneTask(let identifier?) = scene.subject,
                    let other = others[identifier]
                else { continue }
                findings.suspect(
                    bundle, at: scene.place,
                    "`\(identifier)` is registered here and in \(other.file), line "
                        + "\(other.line)")
            }
        }
    }
}

extension Evidence {
    fileprivate static let sceneLifeCycle = Evidence(
        "Apple, applicationDidEnterBackground(_:), and Managing your app's life cycle", .documented)
}
