// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Tasks of continued processing, the dates and the submission of tasks, and SwiftUI's tasks that
/// end before their work.
@Suite("Continued tasks and submissions")
struct ContinuedTaskTests: SourceFaultSuite {
    private static let make =
        "let r = BGContinuedProcessingTaskRequest(identifier: i, title: t, subtitle: s)"

    @Test(
        "a request when the app leaves the foreground",
        arguments: [
            "class S { func sceneDidEnterBackground(_ s: UIScene) {\n\(make)\nsubmit(r)\n} }",
            "class A { func applicationDidEnterBackground(_ a: UIApplication) {\n\(make)\n} }",
            "let v = x.onChange(of: phase) { phase in\nif phase == .background {\n\(make)\n}\n}",
            "let v = x.onChange(of: phase) { phase in\nswitch phase {\n"
                + "case .active: go()\ncase .background: \(make)\ndefault: break\n}\n}",
        ])
    func inBackground(source: String) {
        #expect(Self.faults(source).contains(.continuedInBackground), "\(source)")
    }

    @Test(
        "a request that the user starts",
        arguments: [
            "func export() {\n\(make)\nsubmit(r)\n}",
            "class S { func sceneWillEnterForeground(_ s: UIScene) {\n\(make)\n} }",
            "let v = x.onChange(of: phase) { phase in\nif phase == .active {\n\(make)\n}\n}",
            "let v = x.onChange(of: phase) { old, new in\nif old == .background {\n\(make)\n}\n}",
            "let v = Button(\"Go\") {\n\(make)\nsubmit(r)\n}",
            "class S { func sceneDidEnterBackground(_ s: UIScene) {\n"
                + "let r = BGProcessingTaskRequest(identifier: i)\nsubmit(r)\n} }",
        ])
    func inForeground(source: String) {
        #expect(!Self.faults(source).contains(.continuedInBackground), "\(source)")
    }

    @Test("progress and the GPU are seen")
    func resources() {
        func subjects(_ body: String) -> [SourceObservation.Subject] {
            let source = "func run(_ task: BGContinuedProcessingTask) {\n\(body)\n}"
            return SourceReader.observations(
                in: SourceText(Array(source.utf8), path: "a.swift"), SourceConstants()
            ).map(\.subject)
        }
        #expect(subjects("task.progress.totalUnitCount = 3").contains(.taskProgress))
        #expect(!subjects("show(progress: 3)").contains(.taskProgress))
        #expect(subjects("request.requiredResources = .gpu").contains(.gpuRequest))
        #expect(subjects("request.requiredResources = [.gpu]").contains(.gpuRequest))
        #expect(!subjects("request.requiredResources = .default").contains(.gpuRequest))
        #expect(!subjects("let all = request.requiredResources").contains(.gpuRequest))
    }

    @Test("a submission by force")
    func forcedSubmission() {
        let submit = "BGTaskScheduler.shared.submit(request)"
        #expect(Self.faults("func f() { try! \(submit) }") == [.forcedSubmission])
        #expect(Self.faults("func f() { try? \(submit) }") == [.droppedSubmitError])
        #expect(Self.faults("func f() throws { try \(submit) }").isEmpty)
    }

    @Test(
        "a date that is counted from another day than today",
        arguments: [
            ("Date(timeIntervalSince1970: 30 * 60)", true),
            ("Date(timeIntervalSinceReferenceDate: 3600)", true),
            ("Date(timeIntervalSince1970: 1_900_000_000)", false),
            ("Date(timeIntervalSince1970: next)", false),
            ("Date(timeIntervalSince1970: Date().timeIntervalSince1970 + 60)", false),
            ("Date(timeIntervalSinceNow: 30 * 60)", false),
            ("max(Date(timeIntervalSince1970: 60), next)", false),
            ("Date(timeIntervalSince1970: 0)", false),
            ("stored ?? Date(timeIntervalSince1970: 3600)", false),
            ("Date(timeIntervalSince1970: 0).advanced(by: now + 60)", false),
        ])
    func pastDates(date: String, isPast: Bool) {
        let source =
            "func f(_ request: BGAppRefreshTaskRequest) {\n"
            + "request.earliestBeginDate = \(date)\n}"
        #expect(Self.faults(source).contains(.pastBeginDate) == isPast)
    }

    @Test(
        "SwiftUI's task ends when its closure returns",
        arguments: [
            ("next()\nTask { await model.load() }", true),
            ("next()\nTask.detached { await model.load() }", true),
            ("next()\nawait model.load()", false),
            ("next()\nlet work = Task { await model.load() }\nawait work.value", false),
            ("next()\n_ = await Task { await model.load() }.value", false),
            ("next()\nTask { log(1) }\nawait model.load()", false),
            ("next()\ndo { try await load() } catch { }\nTask { await log.flush() }", false),
            ("next()\nfor x in all { await run(x) }\nTask { await log.flush() }", false),
            ("next()\nTask { @MainActor in show() }", false),
            ("next()\nTask { await load(URLRequest(url: u)) }", true),
            (
                "next()\nawait withTaskCancellationHandler {\nTask { await a() }\n} "
                    + "onCancel: { stop() }",
                false
            ),
        ])
    func sceneTasks(body: String, isEarly: Bool) {
        let source =
            "func next() { try? BGTaskScheduler.shared.submit(request) }\n"
            + "let scene = group.backgroundTask(.appRefresh(\"a\")) {\n\(body)\n}"
        #expect(Self.faults(source).contains(.earlyEnd) == isEarly, "\(body)")
    }
}
