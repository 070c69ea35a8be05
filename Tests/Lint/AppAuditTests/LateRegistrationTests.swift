// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Tasks that are registered in a closure which runs only after the launch.
@Suite("Registrations behind a wait")
struct LateRegistrationTests {
    private static let register =
        "BGTaskScheduler.shared.register(forTaskWithIdentifier: \"a.b\", using: nil) { t in f(t) }"

    private static func isLate(_ body: String, _ more: String = "") throws -> Bool {
        let source = "final class Jobs {\nfunc setUp() {\n\(body)\n}\n\(more)\n}\n"
        return try OccasionTests.subjects(["A.swift": source])
            .contains(.registeredTask("a.b", .afterLaunch))
    }

    @Test(
        "a closure that runs after a time or an answer",
        arguments: [
            "DispatchQueue.main.asyncAfter(deadline: .now() + 5) { \(register) }",
            "DispatchQueue.main.asyncAfter(deadline: DispatchTime.now() + 0.5) { \(register) }",
            "queue.asyncAfter(deadline: .now() + delay, execute: { \(register) })",
            "Timer.scheduledTimer(withTimeInterval: 1, repeats: false) { _ in \(register) }",
            "Task {\nawait load()\n\(register)\n}",
            "Task { @MainActor in\ntry? await Task.sleep(nanoseconds: 1)\n\(register)\n}",
            "Task {\nlet user = try await load()\nif user.isOn { \(register) }\n}",
            "center.requestAuthorization(options: [.alert]) { granted, _ in\n\(register)\n}",
            "center.requestAuthorization(options: [.alert]) { granted, _ in\n"
                + "if granted { \(register) }\n}",
            "center.getNotificationSettings { settings in\n\(register)\n}",
            "URLSession.shared.dataTask(with: url) { data, _, _ in\n\(register)\n}.resume()",
            "if #available(iOS 13, *) {\n"
                + "queue.asyncAfter(deadline: .now() + 1) { \(register) }\n}",
        ])
    func late(body: String) throws {
        #expect(try Self.isLate(body))
        let launch =
            "func application(_ a: A, didFinishLaunchingWithOptions o: O) -> Bool {\n\(body)\n"
            + "return true\n}"
        #expect(
            try OccasionTests.subjects(["A.swift": "class D {\n\(launch)\n}"])
                .contains(.registeredTask("a.b", .afterLaunch)))
    }

    @Test(
        "a closure that may run while the app launches",
        arguments: [
            register, "queue.sync { \(register) }", "ids.forEach { _ in \(register) }",
            "once { \(register) }", "DispatchQueue.main.async { \(register) }",
            "Task { \(register) }", "Task { @MainActor in \(register) }",
            "queue.asyncAfter(deadline: .now()) { \(register) }",
            "queue.asyncAfter(deadline: .now() + 0) { \(register) }",
            "Task {\n\(register)\nawait load()\n}",
            "Task {\nawait MainActor.run { \(register) }\n}",
            "Task {\nif isOn { await load() }\n\(register)\n}",
            "store.requestAuthorization { \(register) }", "state.sink { _ in \(register) }",
            "if CLLocationManager.authorizationStatus() == .authorizedAlways { \(register) }",
        ])
    func soon(body: String) throws { #expect(try !Self.isLate(body), "\(body)") }

    @Test("a function of the app with the name of one that waits")
    func ownFunctions() throws {
        let body = "asyncAfter(deadline: .now() + 5) { \(Self.register) }"
        let own = "func asyncAfter(deadline: T, _ work: () -> Void) { work() }"
        #expect(try Self.isLate(body))
        #expect(try !Self.isLate(body, own))
    }

    @Test("a registration that may be of a continued task with a name that is not known")
    func unnamed() throws {
        let late = "DispatchQueue.main.asyncAfter(deadline: .now() + 5) { \(Self.register) }"
        func isTold(_ request: String, of name: String = "\"a.b\"") throws -> Bool {
            let late = late.replacing("\"a.b\"", with: name)
            let source =
                "final class Jobs {\ninit() { setUp() }\nfunc setUp() {\n\(late)\n}\n"
                + "func go() { try? BGTaskScheduler.shared.submit(\(request)) }\n}\n"
            return try RequestUseTests.rules(["A.swift": source]).contains("CF021")
        }
        let continued = "BGContinuedProcessingTaskRequest(identifier: name, title: t, subtitle: s)"
        #expect(try !isTold(continued))
        let alias = "BGContinuedProcessingTaskRequest\n"
        #expect(try !isTold("make())\n}\ntypealias Long = \(alias)func g() { run()"))
        let named = continued.replacing("name,", with: "\"c.d\",")
        #expect(try isTold(named))
        #expect(try !isTold(named, of: "name"))
        #expect(try isTold("BGAppRefreshTaskRequest(identifier: \"a.b\")"))
        #expect(try isTold("BGAppRefreshTaskRequest(identifier: \"a.b\"), \(continued)"))
    }

    @Test("a continued task may be registered at any time")
    func continued() throws {
        let register = Self.register.replacing(
            "f(t)", with: "f(t as! BGContinuedProcessingTask)")
        #expect(
            try !Self.isLate("DispatchQueue.main.asyncAfter(deadline: .now() + 5) { \(register) }"))
    }
}
