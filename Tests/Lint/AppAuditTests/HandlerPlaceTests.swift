// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Handlers of silent pushes that iOS does not call.
@Suite("Places of handlers")
struct HandlerPlaceTests {
    private typealias Fault = SourceObservation.Fault

    private static func faults(_ files: [String: String]) throws -> Set<Fault> {
        let faults: Set<Fault> = [.mistypedHandler, .strayHandler, .delegateWithoutAdaptor]
        let found = try OccasionTests.subjects(files).compactMap { subject -> Fault? in
            if case .fault(let fault) = subject { fault } else { nil }
        }
        return faults.intersection(found)
    }

    private static func handler(_ payload: String = "[AnyHashable: Any]") -> String {
        "func application(_ a: UIApplication, didReceiveRemoteNotification userInfo: \(payload), "
            + "fetchCompletionHandler done: @escaping (UIBackgroundFetchResult) -> Void) {\n"
            + "done(.noData)\n}\n"
    }

    private static let head = "class AppDelegate: UIResponder, UIApplicationDelegate {\n"

    @Test("a handler that leaves its pushes to a scene's delegate, which there may not be")
    func scenes() throws {
        func isLeft(_ call: String, _ rest: String) throws -> Bool {
            let handler = Self.handler().replacing("done(.noData)", with: call)
            return try OccasionTests.subjects([
                "A.swift": "@main\n" + Self.head + handler + "}\n" + rest
            ])
            .contains(.fault(.pushHandedToScene))
        }
        let call = "a.scene?.application(a, didReceive: userInfo, done: done)"
        let scene =
            "extension UIApplication {\nvar scene: SceneDelegate? {\nconnectedScenes.compactMap "
            + "{ $0.delegate as? SceneDelegate }.first\n}\n}"
        #expect(try isLeft(call, scene))
        let chain = "(a.connectedScenes.first?.delegate as? SceneDelegate)?.handle(userInfo, done)"
        #expect(try isLeft(chain, ""))
        let fallback = scene.replacing(".first\n", with: ".first ?? Sync.shared\n")
        #expect(try !isLeft(call, fallback))
        let handler = "extension UIApplication { var scene: Handler? { Handler.shared } }"
        #expect(try !isLeft(call, handler))
        #expect(try !isLeft("\(call)\nif a.scene == nil { done(.noData) }", scene))
        #expect(try !isLeft("Handler.shared.handle(userInfo, done)", scene))
    }

    @Test("a handler whose dictionary has another type")
    func mistyped() throws {
        func faults(_ payload: String, _ before: String = "") throws -> Set<Fault> {
            try Self.faults([
                "A.swift": "@main\n" + Self.head + before + Self.handler(payload) + "}"
            ])
        }
        #expect(try faults("[String: Any]") == [.mistypedHandler])
        #expect(try faults("[String: AnyObject]") == [.mistypedHandler])
        #expect(try faults("[AnyHashable: Any]") == [])
        #expect(try faults("[AnyHashable : Any]") == [])
        #expect(try faults("NSDictionary") == [])
        let mac =
            "@main\n" + Self.head.replacing("UIApp", with: "NSApplicationDelegate, UIApp")
            + "func application(_ a: NSApplication, didReceiveRemoteNotification u: [String: Any]) "
            + "{ }\n}"
        #expect(try Self.faults(["A.swift": mac]) == [])
        // It has the selector that iOS asks for.
        #expect(try faults("[String: Any]", "@objc ") == [])
    }

    @Test("a handler in a class that iOS does not ask")
    func stray() throws {
        let app = "@main\n" + Self.head + "}\n"
        func faults(_ type: String, _ app: String = app, rest: String = "") throws -> Set<Fault> {
            try Self.faults([
                "A.swift": app, "B.swift": type + " {\n" + Self.handler() + "}\n" + rest,
            ])
        }
        for type in [
            "final class Pushes: NSObject", "class FeedViewController: UIViewController",
            "struct Pushes", "final class Pushes: NSObject, UNUserNotificationCenterDelegate",
        ] {
            #expect(try faults(type) == [.strayHandler])
            // The app delegate hands its pushes on.
            let forwarding =
                "@main\n" + Self.head
                + Self.handler().replacing(
                    "done(.noData)",
                    with: "pushes.application(a, didReceiveRemoteNotification: userInfo, "
                        + "fetchCompletionHandler: done)") + "}\n"
            #expect(try faults(type, forwarding) == [])
            #expect(
                try faults(
                    type,
                    rest: "func f(_ p: Pushes) { p.application(a, "
                        + "didReceiveRemoteNotification: i) { _ in } }") == [])
        }
        for type in [
            "class Pushes: NSObject, FlutterPlugin",
            "class Pushes: UIResponder, UIApplicationDelegate",
            "class Pushes: BaseDelegate", "extension AppDelegate", "protocol Pushes",
            "class MyAppDelegate: NSObject", "open class Pushes: NSObject",
            "class S: SceneDelegate",
        ] {
            #expect(try faults(type).contains(.strayHandler) == false)
        }
    }

    @Test("the delegate of an app of SwiftUI needs an adaptor")
    func adaptor() throws {
        let delegate =
            "class AppDelegate: NSObject, UIApplicationDelegate {\n" + Self.handler() + "}\n"
        func faults(_ app: String, _ delegate: String = delegate) throws -> Set<Fault> {
            try Self.faults(["A.swift": app, "B.swift": delegate])
        }
        let app = "@main\nstruct Main: App {\nvar body: some Scene { WindowGroup { V() } }\n}\n"
        #expect(try faults(app) == [.delegateWithoutAdaptor])
        let adaptor = "@UIApplicationDelegateAdaptor(AppDelegate.self) var delegate\n"
        #expect(try faults(app.replacing("var body", with: adaptor + "var body")) == [])
        #expect(
            try faults(app + "func f() { UIApplication.shared.delegate = AppDelegate() }") == [])
        #expect(try faults("", "@main\n" + delegate) == [])
        #expect(try faults("", "@UIApplicationMain\n" + delegate) == [])
        #expect(try faults("let name = NSStringFromClass(AppDelegate.self)") == [])
        let seen = try OccasionTests.subjects(["A.swift": app])
        #expect(seen.contains(.appOfScenes))
    }
}
