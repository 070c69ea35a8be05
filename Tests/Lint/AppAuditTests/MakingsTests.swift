// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Tasks that the initializer of an object registers, which only some code makes.
@Suite("Makings of objects")
struct MakingsTests {
    private static let jobs =
        "final class Jobs: ObservableObject {\nstatic let shared = Jobs()\ninit() { setUp() }\n"
        + "private func setUp() { BGTaskScheduler.shared.register(forTaskWithIdentifier: \"a.b\", "
        + "using: nil) { t in f(t) } }\nfunc run() { }\n}\n"

    private static func isLate(_ files: String...) throws -> Bool {
        var all = ["Z.swift": jobs]
        for (index, text) in files.enumerated() { all["A\(index).swift"] = text }
        return try OccasionTests.subjects(all).contains(.registeredTask("a.b", .afterLaunch))
    }

    private static let view =
        "struct V: View {\n@StateObject private var jobs = Jobs.shared\n"
        + "var body: some View { T() }\n}\n"

    @Test(
        "an object that only views make",
        arguments: [
            view, view.replacing("Jobs.shared", with: "Jobs()"),
            view.replacing("jobs =", with: "jobs: Jobs ="),
            view + "struct W: View {\n@EnvironmentObject var jobs: Jobs\n}\n",
            view + "struct P: PreviewProvider { static var previews: some View { V(Jobs()) } }",
            view + "#Preview { V().environmentObject(Jobs.shared) }\n",
            view + "struct W: View { var body: some View { T().onAppear { Jobs.shared.run() } } }",
            view + "struct W: View { var body: some View { if Jobs.shared.isOn { T() } } }",
            view + "struct W: View { private var a: some View { T(Jobs.shared.isOn) } }",
            view + "#Preview(\"a\") { V(Jobs.shared) }\n",
            view + "extension Jobs { func again() { Jobs.shared.run() } }",
            "class C: UIViewController { override func viewDidLoad() { Jobs.shared.run() } }",
        ])
    func late(text: String) throws { #expect(try Self.isLate(text)) }

    @Test(
        "an object that something else may make",
        arguments: [
            "@main struct M: App { @StateObject var jobs = Jobs.shared }\n",
            "@main struct M: App { init() { Jobs.shared.run() } }\n",
            "class D { func application(_ a: A, didFinishLaunchingWithOptions o: O) -> Bool {\n"
                + "Jobs.shared.run()\nreturn true } }",
            "class D { let jobs = Jobs() }", "let jobs = Jobs.shared\n", "class K: Jobs { }",
            "func f() { _ = Jobs.shared }", "typealias Work = Jobs\n",
            "struct W: View { @State var jobs = Jobs.shared }",
            "struct W: View { let jobs = Jobs() }",
            "@main struct M: App { var main: some View { V(Jobs.shared) } }",
            "struct W: View { init() { Jobs.shared.run() } }",
            "struct M: App { var body: some Scene { WindowGroup { V(Jobs.shared) } } }",
            "struct W: View { @ObservedObject var jobs: Jobs }",
            "func f(_ jobs: Jobs = .shared) { }", "struct W { let type = Jobs.self }",
            "class D { lazy var jobs: Jobs = .shared }",
        ])
    func others(text: String) throws {
        #expect(try !Self.isLate(text))
        #expect(try !Self.isLate(Self.view, text))
    }

    @Test("an object that a storyboard or the system makes")
    func system() throws {
        for base in ["UIViewController", "UIResponder, UIApplicationDelegate", "Base"] {
            let source = Self.jobs.replacing("ObservableObject", with: base)
            let files = ["A.swift": Self.view, "Z.swift": source]
            #expect(
                try !OccasionTests.subjects(files).contains(.registeredTask("a.b", .afterLaunch)))
        }
    }
}
