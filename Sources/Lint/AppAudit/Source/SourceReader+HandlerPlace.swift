// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds handlers of silent pushes that iOS does not call.
extension SourceReader {
    private static let handlerWord = "didReceiveRemoteNotification"

    /// Whether a method of an app delegate in Swift has another type of dictionary than the
    /// protocol's, so that it does not meet the requirement: `[String: Any]` for `[AnyHashable:
    /// Any]`. With `@objc` it has the same selector.
    func isMistypedHandler(_ head: SourceScope.FunctionHead, _ scope: SourceScope) -> Bool {
        guard !text.isObjectiveC, head.name == "application",
            text.places(of: "objcMembers").isEmpty,
            // The true handler may call this one.
            text.places(of: Self.handlerWord).count == 1,
            // The delegate of macOS has one with texts for keys.
            head.isAsync || head.has("fetchCompletionHandler"),
            modifiers(before: scope.head).isDisjoint(with: ["objc", "override"]),
            let around = text.scopes(around: scope.head).first(where: { _ in true }),
            !modifiers(before: around.head).contains("objc"),
            let type = plainType(around: scope.head),
            type.inherited.contains("UIApplicationDelegate"),
            let label = text.places(of: Self.handlerWord, in: scope.head..<scope.open).first
        else { return false }
        let colon = text.sees(":", at: label + 1) ? label + 1 : label + 2
        return text.sees(":", "[", "String", ":", at: colon)
    }

    /// Reads whether iOS calls a handler of the delegate's form: only that of the app delegate,
    /// which the app must have.
    mutating func readPlace(of scope: SourceScope, _ head: SourceScope.FunctionHead) {
        guard !text.isObjectiveC, head.name == "application", !isOfProtocol(scope),
            text.places(of: Self.handlerWord).count == 1,
            modifiers(before: scope.head).isDisjoint(with: ["override", "open"]),
            let type = plainType(around: scope.head), WordFilter.canFind(type.name)
        else { return }
        if type.inherited.contains("UIApplicationDelegate") {
            // The attribute of another type may name it.
            let words = ["UIApplicationDelegateAdaptor", "UIApplicationMain"]
            guard !words.contains(where: { !text.places(of: $0).isEmpty }),
                !text.places(of: "main").contains(where: { text.sees("@", at: $0 - 1) }),
                !isNamed(type.name)
            else { return }
            see(.fault(.delegateWithoutAdaptor), at: scope.head)
            digest.entries[digest.entries.count - 1].unusedNames = [type.name]
        } else if !type.name.hasSuffix("AppDelegate"), !type.name.hasSuffix("SceneDelegate"),
            type.inherited.allSatisfy(Self.basesWithoutPushes), hasNoSubclass(type.name)
        {
            see(.fault(.strayHandler), at: scope.head)
            digest.entries[digest.entries.count - 1].unusedNames = [Self.handlerWord]
        }
    }

    /// Whether a type of the system has nothing to do with the app's delegate.
    private static func basesWithoutPushes(_ name: String) -> Bool {
        name.hasSuffix("ViewController")
            || [
                "NSObject", "UNUserNotificationCenterDelegate", "MessagingDelegate",
                "ObservableObject",
            ]
            .contains(name)
    }

    /// Whether a file imports a module that may register for pushes: one that is none of the
    /// system's, or the host of scripts.
    var importsOthers: Bool {
        !imports.isSubset(of: TaskRequestSearch.systemModules)
            || ["RCTBridge", "RCTRootView", "RCTBridgeDelegate", "CAPBridge"].contains {
                !text.places(of: $0).isEmpty
            }
    }

    /// Whether no app delegate inherits from a class, as its declaration shows: it is final, a
    /// screen, or the one object of its kind.
    private func hasNoSubclass(_ type: String) -> Bool {
        text.scopes.contains { scope in
            guard case .type(let head) = scope.kind, head.name == type,
                !text.sees("extension", at: scope.head)
            else { return false }
            return type.hasSuffix("ViewController") || text.sees("struct", at: scope.head)
                || modifiers(before: scope.head).contains("final")
                || text.content(ofBracket: scope.open).contains {
                    text.sees("static", "let", "shared", at: $0)
                }
        }
    }

    /// Whether a type of this file is named other than where it is declared or extended.
    private func isNamed(_ type: String) -> Bool {
        text.places(of: type).contains { index in
            !["class", "extension"].contains { text.sees($0, at: index - 1) }
        }
    }
}
