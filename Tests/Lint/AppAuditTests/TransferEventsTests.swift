// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Background sessions, the events of which the app delegate gets, and requests for tasks.
@Suite("Events of transfers, and requests")
struct TransferEventsTests: SourceFaultSuite {
    @Test("a scheduled notification is no next request")
    func notifications() {
        func refresh(_ call: String) -> String {
            "class A {\nfunc handle(task: BGAppRefreshTask) {\n"
                + "task.expirationHandler = { w.cancel() }\n\(call)\n"
                + "task.setTaskCompleted(success: true)\n}\n"
                + "func scheduleLocalNotification() { center.add(r) }\n}"
        }
        #expect(Self.faults(refresh("scheduleLocalNotification()")) == [.refreshWithoutNext])
        #expect(Self.faults(refresh("scheduleNext()\nscheduleLocalNotification()")) == [])
        #expect(Self.faults(refresh("T.scheduleNotificationFetch()\nload()")) == [])
    }

    @Test("the error of a function that submits is ignored where it is called")
    func thrownErrors() {
        let own =
            "func next(_ d: Date) throws {\nlet r = BGAppRefreshTaskRequest(identifier: \"a\")\n"
            + "try BGTaskScheduler.shared.submit(r)\n}\n"
        for call in ["try? next(d)", "try? self.next(d)", "try? Self.next(d)"] {
            #expect(
                Self.faults(own + "func f() { \(call) }") == [.ignoredSubmitError], "\(call)")
        }
        for call in [
            "do { try next(d) } catch { log(error) }", "try next(d)", "try? other.next(d)",
        ] {
            #expect(Self.faults(own + "func f() throws { \(call) }") == [], "\(call)")
        }
    }
}
