// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Calls that look like those of UIKit for time in the background, and what they are told of.
@Suite("Calls for time in the background")
struct AssertionTests: SourceFaultSuite {
    private static func faults(in body: String, _ rest: String = "") -> Set<Fault> {
        faults("class A {\nfunc f(_ application: UIApplication) {\n\(body)\n}\n\(rest)\n}")
    }

    @Test("a function of the app with the name of UIKit's")
    func ownFunction() {
        let own = "func beginBackgroundTask(_ application: UIApplication) { keep() }"
        for call in [
            "beginBackgroundTask(application)", "self.beginBackgroundTask(application)",
            "application.isIdleTimerDisabled = true\nbeginBackgroundTask()",
            "UIApplication.shared.beginReceivingRemoteControlEvents()\nbeginBackgroundTask { }",
            "let app = UIApplication.shared\nmanager.beginBackgroundTask(withName: \"a\")",
        ] {
            #expect(Self.faults(in: call, own) == [], "\(call)")
        }
        #expect(
            Self.faults(
                "@implementation A\n- (void)f:(UIApplication *)application {\n"
                    + "[application endIgnoringInteractionEvents];\n"
                    + "[self beginBackgroundTaskWithName:@\"a\" expirationHandler:nil];\n}\n@end",
                "a.m") == [])
    }

    @Test("UIKit's function, however its receiver is written")
    func ofUIKit() {
        let missing: Set<Fault> = [.assertionWithoutExpiration]
        for call in [
            "id = application.beginBackgroundTask()",
            "id = application.beginBackgroundTask(withName: \"a\")",
            "id = UIApplication.shared.beginBackgroundTask(expirationHandler: nil)",
            "id = UIApplication.shared\n.beginBackgroundTask(expirationHandler: { })",
            "id = (UIApplication.shared as Host).beginBackgroundTask()",
            "let host = UIApplication.shared\nid = host.beginBackgroundTask()",
            "id = self.application?.beginBackgroundTask()",
        ] {
            #expect(Self.faults(in: call).isSuperset(of: missing), "\(call)")
        }
        let own = "extension UIApplication {\nfunc f() { id = beginBackgroundTask() }\n}"
        #expect(Self.faults(own).isSuperset(of: missing))
        #expect(
            Self.faults(
                "@implementation A\n- (void)f {\nUIApplication *host = "
                    + "[UIApplication sharedApplication];\n_id = "
                    + "[host beginBackgroundTaskWithName:@\"a\" expirationHandler:nil];\n}\n@end",
                "a.m") == missing)
    }

    @Test("an identifier that nothing keeps is told of once")
    func thrownAway() {
        let lost: Set<Fault> = [.assertionThrownAway]
        let end = "UIApplication.shared.endBackgroundTask(UIBackgroundTaskIdentifier.invalid)"
        #expect(Self.faults(in: "UIApplication.shared.beginBackgroundTask { \(end) }") == lost)
        #expect(
            Self.faults(
                in: "application.beginBackgroundTask(withName: \"a\", expirationHandler: {\n"
                    + "UIApplication.shared.endBackgroundTask(.invalid)\n})") == lost)
        #expect(
            Self.faults(
                "@implementation A\n- (void)f {\n[[UIApplication sharedApplication] "
                    + "beginBackgroundTaskWithExpirationHandler:^{ [[UIApplication "
                    + "sharedApplication] endBackgroundTask:UIBackgroundTaskInvalid]; }];\n}\n@end",
                "a.m") == lost)
        // Behind it, or where the identifier is kept, it is a fault of its own.
        let both: Set<Fault> = [.assertionThrownAway, .assertionEndedInvalid]
        #expect(
            Self.faults(in: "UIApplication.shared.beginBackgroundTask { stop() }\n\(end)") == both)
        #expect(
            Self.faults(in: "id = UIApplication.shared.beginBackgroundTask { \(end) }")
                .contains(.assertionEndedInvalid))
    }
}
