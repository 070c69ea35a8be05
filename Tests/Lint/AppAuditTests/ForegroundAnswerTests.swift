// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Handlers of silent pushes that work only while the app is in the foreground.
@Suite("Answers for work in the foreground")
struct ForegroundAnswerTests {
    private static func worksInForeground(_ body: String) throws -> Bool {
        let source =
            "class A: UIResponder, UIApplicationDelegate { func application(_ a: UIApplication, "
            + "didReceiveRemoteNotification info: [AnyHashable: Any], fetchCompletionHandler done: "
            + "@escaping (UIBackgroundFetchResult) -> Void) {\n\(body)\ndone(.newData)\n} }"
        return try OccasionTests.subjects(["A.swift": source])
            .contains(.fault(.answerInForeground))
    }

    @Test(
        "work for the foreground alone is none for iOS",
        arguments: [
            "a.applicationState == .active", "UIApplication.shared.applicationState == .active",
            "let p = info[1] as? String, a.applicationState == .active",
        ])
    func foreground(condition: String) throws {
        let start = "if \(condition) { store(info)\nself.last = info }"
        #expect(try Self.worksInForeground(start))
        #expect(try Self.worksInForeground(start + " else { print(info) }"))
        #expect(try !Self.worksInForeground(start + " else { store(info) }"))
        #expect(try !Self.worksInForeground(start + "\nstore(info)"))
    }

    @Test(
        "another condition",
        arguments: [
            "a.applicationState != .active", "a.applicationState == .background",
            "a.applicationState == .active || x", "!(a.applicationState == .active)",
            "x || a.applicationState == .active", "store(info), a.applicationState == .active",
            "a.applicationState == .active, store(info)", "a.isActive == .active",
            "a.applicationState == state.active",
        ])
    func others(condition: String) throws {
        #expect(try !Self.worksInForeground("if \(condition) { store(info) }"))
    }

    @Test(
        "Objective-C",
        arguments: [
            ("a.applicationState == UIApplicationStateActive", true),
            ("[a applicationState] == UIApplicationStateActive", true),
            (
                "info[@\"x\"] && [UIApplication sharedApplication].applicationState == "
                    + "UIApplicationStateActive", true
            ),
            (
                "[[UIApplication sharedApplication] applicationState] == UIApplicationStateActive",
                true
            ),
            ("[self keep:info] && a.applicationState == UIApplicationStateActive", false),
            ("a.applicationState != UIApplicationStateActive", false),
            ("a.applicationState == UIApplicationStateInactive", false),
        ])
    func objectiveC(state: String, isForeground: Bool) throws {
        let source =
            "@implementation AppDelegate\n- (void)application:(UIApplication *)a "
            + "didReceiveRemoteNotification:(NSDictionary *)info fetchCompletionHandler:"
            + "(void (^)(UIBackgroundFetchResult))done {\nif (\(state)) { [self show:info]; }\n"
            + "done(UIBackgroundFetchResultNewData);\n}\n@end"
        let subjects = try OccasionTests.subjects(["A.m": source])
        #expect(subjects.contains(.fault(.answerInForeground)) == isForeground)
    }
}
