// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// What reports the call of a VoIP push in functions and types of the same file.
@Suite("Reports of calls")
struct ReportTests: SourceFaultSuite {
    private static func handler(_ body: String) -> String {
        "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, "
            + "for type: PKPushType, completion: @escaping () -> Void) {\n\(body)\n}"
    }

    @Test("a type of this file that only tells a script reports no call, whatever its name")
    func scriptType() {
        let source = Self.handler(
            "Script.shared.reportIncoming(payload)\n"
                + "guard let id = payload.dictionaryPayload[\"id\"] else { return completion() }\n"
                + "provider.reportNewIncomingCall(with: id, update: u) { _ in }\ncompletion()")
        #expect(Self.faults(source) == [])
        func type(_ body: String) -> String {
            "\nclass Script {\nstatic let shared = Script()\n"
                + "func reportIncoming(_ push: PKPushPayload) {\n\(body)\n}\n}"
        }
        #expect(
            Self.faults(source + type("channel.invokeMethod(\"push\", arguments: push)"))
                == [.voipPathWithoutReport])
        #expect(Self.faults(source + type("calls.ring(push)")) == [])
    }

    @Test("a function that gets the payload alone has to hand each kind of push on")
    func otherKinds() {
        let source = Self.handler("take(payload.dictionaryPayload)\ncompletion()")
        func take(_ rest: String) -> String {
            "\nfunc take(_ push: [AnyHashable: Any]) {\nlet type = push[\"type\"] as? String\n"
                + "switch type {\n"
                + "case \"call\": handleCall(push)\n\(rest)\n}\n}"
                + "\nfunc handleCall(_ push: [AnyHashable: Any]) { sdk.handle(push) }\n"
        }
        let show =
            "func show(_ title: String) {\nlet content = UNMutableNotificationContent()\n"
            + "content.title = title\nlet r = UNNotificationRequest(identifier: title, content: "
            + "content, trigger: nil)\nUNUserNotificationCenter.current().add(r)\n}"
        #expect(Self.faults(source + take("default: handleOther(push)")) == [])
        #expect(
            Self.faults(source + take("default: show(\"message\")") + show)
                == [.voipPathWithoutReport])
        let shown = show.replacing("content.title = title", with: "calls.title = title")
        #expect(Self.faults(source + take("default: show(\"message\")") + shown) == [])
    }

    @Test("an alert, or an option that is set without the push, is no report")
    func alerts() {
        let source = Self.handler("take(payload.dictionaryPayload)\ncompletion()")
        func take(_ other: String) -> String {
            "\nfunc take(_ push: [AnyHashable: Any]) {\n"
                + "guard let id = push[\"id\"] as? String else {\n\(other)\nreturn\n}\n"
                + "start(id)\n}\n"
        }
        let show =
            "func show(_ title: String) {\nlet alert = UIAlertController(title: title)\n"
            + "alert.addAction(UIAlertAction(title: title, handler: { _ in }))\n"
            + "self.present(alert, animated: true)\n}\n"
        #expect(Self.faults(source + take("show(push)") + show) == [.voipPathWithoutReport])
        let shown = show.replacing("UIAlertController", with: "CallController")
        #expect(Self.faults(source + take("show(push)") + shown) == [])
        #expect(
            Self.faults(source + take("manager.setConfigInt(1, forKey: \"unknown\")"))
                == [.voipPathWithoutReport])
        #expect(Self.faults(source + take("manager.setConfig(push)")) == [])
        #expect(Self.faults(source + take("manager.setCall(1)")) == [])
    }

    @Test("what reports a call for something that is named after a log is a report")
    func logs() {
        func source(_ call: String) -> String {
            Self.handler(
                "guard let id = payload.dictionaryPayload[\"id\"] else {\n\(call)\n"
                    + "return completion()\n}\n"
                    + "provider.reportNewIncomingCall(with: id, update: u) { _ in }\ncompletion()")
        }
        #expect(Self.faults(source("CallLog.shared.reportIncomingCall(payload)")) == [])
        #expect(
            Self.faults(source("CallLog.shared.add(payload)")) == [.voipPathWithoutReport])
    }
}
