// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Background sessions, the events of which the app delegate gets, and requests for tasks.
@Suite("Events of transfers, and requests")
struct TransferEventsTests: SourceFaultSuite {
    private static func events(_ body: String, _ more: String = "") -> String {
        "class D {\nfunc application(_ a: UIApplication, handleEventsForBackgroundURLSession i: "
            + "String, completionHandler: @escaping () -> Void) {\n\(body)\n}\n\(more)\n}"
    }

    private static func subjects(_ source: String) -> [SourceObservation.Subject] {
        SourceReader.observations(
            in: SourceText(Array(source.utf8), path: "a.swift"), SourceConstants()
        ).map(\.subject)
    }

    @Test("a handler of events in the delegate of a scene, which UIKit does not call")
    func inSceneDelegate() {
        let body = Self.events("Shared.done = completionHandler")
        #expect(Self.subjects(body).contains(.backgroundSessionEvents))
        for type in ["SceneDelegate: UIResponder", "D: UIResponder, UIWindowSceneDelegate"] {
            let source = body.replacing("class D", with: "class \(type)")
            #expect(!Self.subjects(source).contains(.backgroundSessionEvents), "\(type)")
        }
        let both = "class SceneDelegate: UIResponder, UIApplicationDelegate, UISceneDelegate"
        #expect(
            Self.subjects(body.replacing("class D", with: both))
                .contains(.backgroundSessionEvents))
    }

    @Test("a handler of events that completes at once")
    func atOnce() {
        let fault = Fault.transferEventsCompletedAtOnce
        #expect(Self.faults(Self.events("print(i)\ncompletionHandler()")) == [fault])
        #expect(
            Self.faults(Self.events("DispatchQueue.main.async { completionHandler() }")) == [fault])
        for call in ["completionHandler()", "DispatchQueue.main.async { completionHandler() }"] {
            let other = "guard i == id else {\n\(call)\nreturn\n}\nloads.restore()\n"
            #expect(Self.faults(Self.events(other + "completionHandler()")) == [fault])
            #expect(Self.faults(Self.events(other + "loads.done = completionHandler")) == [])
            #expect(Self.faults(Self.events(other + "loads.add { completionHandler() }")) == [])
            let both = "if i == id {\nload()\n\(call)\n} else {\ncompletionHandler()\n}"
            #expect(Self.faults(Self.events(both)) == [])
            #expect(
                Self.faults(Self.events(other + "semaphore.wait()\ncompletionHandler()")) == [])
        }
        for body in [
            "Shared.done = completionHandler",
            "guard i == id else { completionHandler(); return }\ndone = completionHandler",
            "manager.restore(i) { completionHandler() }",
            "if i == id { completionHandler() }",
            "sdk.handle(i, completionHandler)",
        ] {
            #expect(Self.faults(Self.events(body)) == [], "\(body)")
        }
    }

    @Test("a completion handler that is kept, and may be called in the same file")
    func kept() {
        let call = "func end() { done?()\ndone = nil }"
        let keep = "S.shared.done = completionHandler"
        #expect(
            Self.subjects(Self.events(keep, call))
                .contains(.keptTransferCompletion))
        // What calls it elsewhere may ask which transfers are left.
        #expect(!Self.subjects(Self.events(keep)).contains(.keptTransferCompletion))
        #expect(
            Self.subjects("func urlSessionDidFinishEvents(forBackgroundURLSession s: S) { }")
                == [.endOfSessionEvents])
        // AFNetworking is the delegate.
        #expect(
            Self.subjects("func f() { manager.setDidFinishEventsForBackgroundURLSessionBlock(b) }")
                == [.endOfSessionEvents])
    }

    @Test("a session that is made to end earlier transfers needs no delegate")
    func ended() {
        let session = "let s = URLSession(configuration: .background(withIdentifier: \"a\"))\n"
        for end in [
            "s.invalidateAndCancel()", "s.finishTasksAndInvalidate()",
            "s.getAllTasks { tasks in tasks.forEach { $0.cancel() } }",
        ] {
            #expect(Self.subjects("func f() {\n" + session + end + "\n}") == [], "\(end)")
        }
        for use in [
            "s.downloadTask(with: r).resume()",
            "s.getAllTasks { $0.forEach { $0.cancel() } }\ns.downloadTask(with: r).resume()",
            "s.getAllTasks { show($0.count) }",
        ] {
            #expect(
                Self.faults("func f() {\n" + session + use + "\n}") == [.sessionWithoutDelegate],
                "\(use)")
        }
    }

    @Test("a session of another type or function has the same name")
    func sameNames() {
        let make =
            "URLSession(configuration: .background(withIdentifier: \"a\"), delegate: self, "
            + "delegateQueue: nil)"
        let load = "func load() { session.downloadTask(with: u) { _, _, _ in }.resume() }"
        func hasClosure(_ source: String) -> Bool {
            Self.faults(source).contains(.closureInBackgroundSession)
        }
        let property = "class A {\nlazy var session = \(make)\n"
        #expect(hasClosure(property + load + "\n}"))
        #expect(hasClosure(property + "}\nextension A { \(load) }"))
        #expect(!hasClosure(property + "}\nclass B { \(load) }"))
        let other = load.replacing("{ session", with: "{ let session = other\nsession")
        #expect(!hasClosure(property + other + "\n}"))
        #expect(!hasClosure("class A {\nfunc f() { let session = \(make) }\n\(load)\n}"))
    }

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
                Self.faults(own + "func f() { \(call) }") == [.droppedSubmitError], "\(call)")
        }
        for call in [
            "do { try next(d) } catch { log(error) }", "try next(d)", "try? other.next(d)",
        ] {
            #expect(Self.faults(own + "func f() throws { \(call) }") == [], "\(call)")
        }
    }
}
