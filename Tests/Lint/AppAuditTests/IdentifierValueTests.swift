// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// The identifiers that loops and callers hand to a registration or a request.
@Suite("Values of identifiers")
struct IdentifierValueTests {
    private static let register =
        "BGTaskScheduler.shared.register(forTaskWithIdentifier: id, using: nil) { t in f(t) }"
    private static let request =
        "try? BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: id))"

    /// The identifiers of a file's registrations and requests.
    private static func names(_ source: String) throws -> Set<String> {
        Set(
            try OccasionTests.subjects(["A.swift": source]).compactMap { subject in
                switch subject {
                case .registeredTask(let name, _), .requestedTask(let name, _): name
                default: nil
                }
            })
    }

    private static func inClass(_ body: String) -> String {
        "final class Jobs {\nlet first = \"a.b\"\nstatic let second = \"c.d\"\n\(body)\n}"
    }

    @Test(
        "the elements of an array",
        arguments: [
            "for id in [first, Self.second] { \(register) }",
            "[first, Jobs.second].forEach { id in \(register) }",
            "let all = [first, Self.second]\nfor id in all { \(register) }",
            "let all: [String] = [\nfirst,\nJobs.second,\n]\nall.forEach { id in\n\(request)\n}",
            "let all = [first, Self.second]\nfor id in all { \(register) }\n}\n"
                + "func other() {\nlet all = [third]",
            "for id in [\"a.b\", \"c.d\"] {\nlog(1)\nif #available(iOS 13, *) { \(request) }\n}",
            "guard #available(iOS 13, *) else { return }\n"
                + "for id in [first, Self.second] { \(register) }",
            "for id in [first, Self.second] {\nprint(\"\\(id)\")\n"
                + "BGTaskScheduler.shared.cancel(taskRequestWithIdentifier: id)\n\(request)\n}",
            "for id in [self.first, \"c.d\"] { queue.async { \(request) } }",
        ])
    func arrays(body: String) throws {
        #expect(try Self.names(Self.inClass("init() {\n\(body)\n}")) == ["a.b", "c.d"], "\(body)")
    }

    @Test(
        "an array whose elements are not all known",
        arguments: [
            "for id in load([first]) { \(register) }", "for id in [first] + all { \(register) }",
            "let all = [first] + others\nfor id in all { \(register) }",
            "var all = [first]\nall = []\nfor id in all { \(register) }",
            "let all = [first].filter { $0 == x }\nfor id in all { \(register) }",
            "let all = [first]\n.map { $0 + x }\nfor id in all { \(register) }",
            "for id in [first] {\nlet id = id + x\n\(register)\n}",
            "for id in [first] {\nguard permitted.contains(id) else { continue }\n\(register)\n}",
            "for id in [first] where isOn(id) { \(register) }",
            "[first].forEach { id in\nif isOn(id) { \(register) }\n}",
            "for id in model.all { \(register) }", "[first].map { id in \(register) }",
            "[first].forEach { name in names.forEach { id in \(register) } }",
            "for name in [first] { \(register) }", "for id in [prefix + first] { \(register) }",
            "for id in [\"a.\\(name)\"] { \(register) }",
            "for id in [first] {\nif isOn { \(request) }\n}",
            "if isOn { for id in [first] { \(register) } }",
            "guard isPro else { return }\nfor id in [first] { \(register) }",
            "for id in [first] {\nif isPro { continue }\n\(register)\n}",
            "switch app {\ncase .pro: for id in [first] { \(register) }\ndefault: break\n}",
            "for id in all { \(register) }\n}\nstruct Old {\nlet all = [\"a.b\"]",
        ])
    func unknown(body: String) throws {
        #expect(try Self.names(Self.inClass("init() {\n\(body)\n}")).isEmpty, "\(body)")
    }

    @Test("what the calls of a function hand on")
    func arguments() throws {
        let plan = "private func plan(_ id: String) {\n\(Self.request)\n}\n"
        func names(_ calls: String, _ function: String = plan) throws -> Set<String> {
            try Self.names(Self.inClass(function + "init() {\n\(calls)\n}"))
        }
        #expect(try names("plan(first)\nself.plan(\"c.d\")") == ["a.b", "c.d"])
        let labelled = plan.replacing("(_ id", with: "(after: Int, for id")
        #expect(try names("plan(after: 1, for: first)", labelled) == ["a.b"])
        #expect(try names("plan(name)").isEmpty)
        #expect(try names("other.plan(first)").isEmpty)
        #expect(try names("plan(first + x)").isEmpty)
        #expect(try names("plan(first)", plan + "func plan(_ id: Int) { }\n").isEmpty)
        #expect(try names("if isPro { plan(first) }").isEmpty)
        #expect(try names("guard isPro else { return }\nplan(first)").isEmpty)
        #expect(try names("let plan = { log($0) }\nplan(first)").isEmpty)
        let checked = plan.replacing("{\n", with: "{\nguard isOn else { return }\n")
        #expect(try names("plan(first)", checked).isEmpty)
        let hidden = plan.replacing("{\n", with: "{\nlet id = id + x\n")
        #expect(try names("plan(first)", hidden).isEmpty)
    }

    @Test(
        "the cases of an enumeration",
        arguments: [
            "for id in Kind.allCases { \(register) }",
            "Kind.allCases.forEach { id in \(register) }",
            "Kind.allCases.forEach { id in add(id) }", "for k in Kind.allCases { add(k) }",
            "add(.first)\nadd(Kind.second)",
        ])
    func enumerations(body: String) throws {
        func names(
            _ more: String = "", inherited: String = "String, CaseIterable"
        ) throws -> Set<String> {
            let kind =
                "enum Kind: \(inherited) {\ncase first = \"a.b\"\ncase second = \"c.d\"\n"
                + "\(more)\n}\n"
            let register = Self.register.replacing(
                "Identifier: id", with: "Identifier: id.rawValue")
            let add = "private func add(_ id: Kind) {\n\(register)\n}\n"
            let calls = body.replacing("Identifier: id", with: "Identifier: id.rawValue")
            return try Self.names(kind + Self.inClass(add + "init() {\n\(calls)\n}"))
        }
        #expect(try names() == ["a.b", "c.d"], "\(body)")
        if body.contains("allCases") {
            #expect(try names("static var allCases: [Kind] { [.first] }").isEmpty)
            #expect(try names("static let allCases: [Kind] = [.first]").isEmpty)
            #expect(try names(inherited: "String").isEmpty)
        }
        #expect(try names("var rawValue: String { base }").isEmpty)
        let third = "case third = \"e.f\""
        #expect(try names("#if PRO\n\(third)\n#endif").count == 2)
        #expect(try names(third).count == (body.contains("allCases") ? 3 : 2))
    }

    @Test("an enumeration of another file with the same name")
    func namesakes() throws {
        let register = Self.register.replacing("Identifier: id", with: "Identifier: id.rawValue")
        func names(_ own: String) throws -> [String] {
            let add = "func add(_ id: Kind) {\n\(register)\n}\ninit() { add(.first) }\n"
            let other = "enum Analytics { enum Kind: String { case first = \"ui_first\" } }"
            let files = ["A.swift": Self.inClass(add + own), "B.swift": other]
            return try OccasionTests.subjects(files).compactMap { subject in
                if case .registeredTask(let name?, _) = subject { name } else { nil }
            }
        }
        #expect(try names("enum Kind: String { case first }").isEmpty)
        #expect(try names("typealias Kind = TaskKind").isEmpty)
        #expect(try names("enum Kind: String { case first = \"a.b\" }") == ["a.b"])
        #expect(try names("") == ["ui_first"])
    }

    @Test(
        "a name that hides a constant of the type",
        arguments: [
            "for first in load() { plan(first) }", "load().forEach { first in plan(first) }",
            "load { (first: String) in plan(first) }", "let first = load()\nplan(first)",
            "guard let first = load() else { return }\nplan(first)",
            "if let first = load() { BGTaskScheduler.shared.register(forTaskWithIdentifier: first, "
                + "using: nil) { t in f(t) } }",
        ])
    func hidden(body: String) throws {
        let plan = "private func plan(_ id: String) {\n\(Self.request)\n}\n"
        #expect(try Self.names(Self.inClass(plan + "init() {\n\(body)\n}")).isEmpty, "\(body)")
        let own = body.replacing("first = load()", with: "first = \"a.b\"")
        guard own.hasPrefix("let") else { return }
        #expect(try Self.names(Self.inClass(plan + "init() {\n\(own)\n}")) == ["a.b"])
    }

    @Test("a function with the label of the scheduler's, which registers what it gets")
    func wrappers() throws {
        func isTold(_ call: String, _ more: String = "") throws -> Bool {
            let own =
                "func register(forTaskWithIdentifier id: String) {\n\(Self.register)\n}\n\(more)"
            let source = Self.inClass("\(own)\ninit() {\n\(call)\n}")
            return try RequestUseTests.rules(["A.swift": source]).contains("CF021")
        }
        #expect(try !isTold("register(forTaskWithIdentifier: \"a.b\")"))
        #expect(try !isTold("register(\nforTaskWithIdentifier: \"a.b\")"))
        let further = "func add(_ id: String) { register(forTaskWithIdentifier: id) }\n"
        #expect(try !isTold("add(\"a.b\")", further))
        #expect(
            try isTold(
                "for id in [first] { \(Self.register) }\nfor id in [first] { \(Self.register) }"))
    }

    @Test("a continued task that a function registers on demand")
    func continued() throws {
        let source = Self.inClass(
            "private func add(_ id: String) { "
                + Self.register.replacing("f(t)", with: "f(t as! BGContinuedProcessingTask)")
                + " }\nfunc start() { add(first) }")
        let view = "struct V: View { var body: some View { Button(\"a\") { Jobs().start() } } }"
        let found = try OccasionTests.subjects(["A.swift": source, "B.swift": view])
        #expect(found.contains(.registeredTask("a.b", .elsewhere)))
        #expect(!found.contains(.registeredTask("a.b", .afterLaunch)))
    }

    @Test("an identifier of a loop that Info.plist does not permit")
    func unpermitted() throws {
        func rules(_ body: String) throws -> [String] {
            try RequestUseTests.rules(["A.swift": Self.inClass("init() {\n\(body)\n}")])
        }
        #expect(try rules("for id in [first, Self.second] { \(Self.register) }").contains("CF020"))
        #expect(try !rules("for id in [first] { \(Self.register) }").contains("CF020"))
        let second = Self.register.replacing("Identifier: id", with: "Identifier: \"c.d\"")
        #expect(try rules(second).contains("CF020"))
        #expect(try rules("#if os(iOS)\n\(second)\n#endif").contains("CF020"))
        for condition in ["os(macOS)", "DEBUG", "PRO", "targetEnvironment(macCatalyst)"] {
            #expect(try !rules("#if \(condition)\n\(second)\n#endif").contains("CF020"))
        }
        let asked = ["Bundle.main.bundleIdentifier == pro", "permitted.contains(\"c.d\")"]
        for condition in asked {
            #expect(try !rules("if \(condition) { \(second) }").contains("CF020"))
        }
    }
}
