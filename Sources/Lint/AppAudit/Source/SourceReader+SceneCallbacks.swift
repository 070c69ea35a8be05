// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads what runs when an app leaves the foreground.
extension SourceReader {
    /// Reads the app delegate's function for it, which iOS does not call in an app with scenes, if
    /// it asks for background work, and that of a scene.
    mutating func readBackgroundCallback(
        _ head: SourceScope.FunctionHead, _ scope: SourceScope
    ) {
        let body = text.content(ofBracket: scope.open)
        switch head.name {
        case "sceneDidEnterBackground", "sceneWillResignActive":
            if !body.isEmpty { see(.sceneCallback, at: scope.head) }
        case "applicationDidEnterBackground":
            guard isInAppDelegate(scope),
                schedulesNext(body, depth: 0, trusts: false)
                    || body.contains(where: isAssertion)
            else { return }
            see(.applicationCallback, at: scope.head)
        default: return
        }
    }

    /// Reads a name by which other code learns that the app leaves the foreground.
    mutating func readSceneName(_ name: String, _ index: Int) {
        // `appDelegate.applicationDidEnterBackground(application)`
        if name == "applicationDidEnterBackground", !isCall(index) || isDeclaration(index) {
            return
        }
        see(.sceneCallback, at: index)
    }

    private func isDeclaration(_ index: Int) -> Bool {
        text.isObjectiveC
            ? text.sees(")", at: index - 1) && function(around: index) == nil
            : text.sees("func", at: index - 1)
    }

    private func isInAppDelegate(_ scope: SourceScope) -> Bool {
        guard let type = owner(around: scope.head) else { return false }
        return type.name.hasSuffix("AppDelegate")
            || type.inherited.contains("UIApplicationDelegate")
    }
}
