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
        let explicit = own.replacing("= begin", with: "= self.begin")
        #expect(Self.faults(explicit).isSuperset(of: missing))
        #expect(Self.faults(explicit.replacing("UIApplication", with: "Host")) == [])
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

    // MARK: Blocks

    private static func isCaptured(_ body: String) -> Bool {
        faults("@implementation A\n- (void)f {\n\(body)\n}\n@end", "a.m")
            .contains(.assertionEndedInvalid)
    }

    private static let endInC = "[app endBackgroundTask:task];"
    private static let variable = "UIBackgroundTaskIdentifier task"
    private static let begin = "[app beginBackgroundTaskWithExpirationHandler:^{ BODY }];"

    @Test("a block that has the identifier from before")
    func captured() {
        let ends = Self.begin.replacing("BODY", with: Self.endInC)
        #expect(Self.isCaptured("\(Self.variable) = \(ends)"))
        #expect(Self.isCaptured("\(Self.variable) = UIBackgroundTaskInvalid;\ntask = \(ends)"))
        #expect(
            Self.isCaptured(
                "\(Self.variable) = UIBackgroundTaskInvalid;\nvoid (^end)(void) = ^{ "
                    + "\(Self.endInC) };\ntask = "
                    + Self.begin.replacing("BODY", with: "end();") + "\n[self run:end];"))
    }

    @Test("a block that has the identifier itself")
    func capturedLater() {
        let ends = Self.begin.replacing("BODY", with: Self.endInC)
        for body in [
            "__block \(Self.variable) = \(ends)", "static \(Self.variable);\ntask = \(ends)",
            "self.task = \(ends)", "_task = \(ends)",
            "__block \(Self.variable);\ntask = \(ends)",
            "\(Self.variable) = \(Self.begin.replacing("BODY", with: "[self stop];"))\n"
                + "dispatch_async(q, ^{ \(Self.endInC) });",
            "dispatch_async(q, ^{\n__block \(Self.variable) = \(ends)\n});",
            "if (a) {\n\(Self.variable) = 1;\n} else {\n__block \(Self.variable) = \(ends)\n}",
            "__block volatile \(Self.variable) = \(ends)",
            "\(Self.variable) = [app beginBackgroundTaskWithExpirationHandler:nil];\n"
                + "dispatch_async(q, ^{ \(Self.endInC) });\n"
                + "task = [app beginBackgroundTaskWithExpirationHandler:nil];",
        ] {
            #expect(!Self.isCaptured(body), "\(body)")
        }
    }

    // MARK: Renewal

    @Test("an expiration handler that begins time again")
    func renewed() {
        func isRenewed(_ handler: String, _ more: String = "") -> Bool {
            Self.faults(
                "class A {\nfunc stay() {\nend()\ntask = UIApplication.shared.beginBackgroundTask "
                    + "{ \(handler) }\n}\n\(more)\nfunc end() {\n"
                    + "UIApplication.shared.endBackgroundTask(task)\ntask = .invalid\n}\n}"
            ).contains(.assertionRenewed)
        }
        #expect(isRenewed("self.stay()"))
        #expect(isRenewed("[weak self] in\nself?.end()\nself?.stay()"))
        #expect(isRenewed("task = UIApplication.shared.beginBackgroundTask { self.end() }"))
        #expect(!isRenewed("self.end()"))
        #expect(!isRenewed("self.end()\nqueue.async { self.stay() }"))
        #expect(!isRenewed("self.end()\nself.next()", "func next() { later { self.stay() } }"))
        #expect(isRenewed("[weak self] in\nguard let self else { return }\nself.stay()"))
        #expect(
            !isRenewed(
                "self.end()\nif UIApplication.shared.applicationState == .active { self.stay() }"))
        let toggle =
            "func turn(_ on: Bool) {\nguard on else {\nend()\nreturn\n}\n"
            + "task = UIApplication.shared.beginBackgroundTask { self.turn(false) }\n}"
        #expect(!isRenewed("self.turn(false)", toggle))
        #expect(!isRenewed("if self.isOpen { self.stay() }"))
        let flag =
            "func flip() {\nif task != .invalid {\nend()\nreturn\n}\n"
            + "task = UIApplication.shared.beginBackgroundTask { self.flip() }\n}"
        #expect(!isRenewed("self.flip()", flag))
    }
}
