// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Identifiers of tasks that are joined from constants, and from the identifier of the app.
@Suite("Joined identifiers")
struct JoinedIdentifierTests {
    /// The identifiers of a registration, which may be a part of each other.
    private static func names(
        _ use: String, _ constants: String, more: String = "", base: String = "NSObject"
    ) throws -> Set<String> {
        let end = more.hasSuffix("{") || more.hasSuffix("in") ? "}\n" : ""
        let source =
            "\(constants)\nfinal class Jobs: \(base) {\nfunc f(id: String) {\n\(more)\n"
            + "BGTaskScheduler.shared.register(forTaskWithIdentifier: \(use), using: nil) { t in "
            + "g(t) }\n\(end)}\n}"
        return Set(
            try OccasionTests.subjects(["A.swift": source]).compactMap { subject in
                if case .registeredTask(let name, _) = subject { name } else { nil }
            })
    }

    private static let prefix = "enum IDs {\nstatic let prefix = \"a.\"\n"

    @Test(
        "constants of one file that are joined",
        arguments: [
            ("IDs.prefix + \"b\"", prefix + "}"), ("\"\\(IDs.prefix)b\"", prefix + "}"),
            ("IDs.job", prefix + "static let job = prefix + \"b\"\n}"),
            ("IDs.job", prefix + "static let job: String = \"\\(prefix)b\"\n}"),
            ("IDs.job", prefix + "static let job = Self.prefix + \"b\"\nstatic let x = 1\n}"),
            ("IDs.job", prefix + "static var job: String { prefix + \"b\" }\n}"),
            ("IDs.job", prefix + "static var job: String { return \"\\(prefix)b\" }\n}"),
            ("IDs.job", "let prefix = \"a.\"\nenum IDs { static let job = prefix + \"b\" }"),
            ("prefix + \"b\"", "private let prefix = \"a.\""),
            ("\"\\(x).\\(y)\"", "let x = \"a\"\nlet y = \"b\""),
            ("z + \"b\"", "let x = \"a\"\nlet y = \"\\(x).\"\nlet z = y"),
            ("(IDs.prefix + \"b\")", prefix + "}"),
        ])
    func joined(use: String, constants: String) throws {
        #expect(try Self.names(use, constants) == ["a.b"], "\(use) \(constants)")
    }

    @Test(
        "texts of which a part is not known",
        arguments: [
            ("IDs.prefix + \"b\"", "enum IDs { static var prefix = \"a.\" }"),
            ("IDs.prefix + \"b\"", "enum IDs { static let prefix = make() }"),
            ("Other.IDs.prefix + \"b\"", prefix + "}"),
            ("#\"a\\#(IDs.prefix)b\"#", prefix + "}"), ("IDs.prefix + name", prefix + "}"),
            ("IDs.prefix.lowercased() + \"b\"", prefix + "}"),
            ("(IDs.prefix + \"B\").lowercased()", prefix + "}"),
            ("IDs.job", prefix + "static let job = prefix + \"B\"\n.lowercased()\n}"),
            ("IDs.job", prefix + "static let job = isBeta ? \"x\" : prefix + \"b\"\n}"),
            ("IDs.job", prefix + "static let job = { prefix + \"b\" }()\n}"),
            ("IDs.job", prefix + "static let job = \"\\(prefix)\\n\"\n}"),
            ("IDs.job", prefix + "static let job = \"\\(prefix, default: x)b\"\n}"),
            (
                "IDs.job",
                "#if DEBUG\nlet prefix = \"d.\"\n#else\nlet prefix = \"a.\"\n#endif\n"
                    + "enum IDs { static let job = prefix + \"b\" }"
            ),
            (
                "IDs.job",
                "enum IDs {\n#if DEBUG\nstatic let job = \"a.\" + \"d\"\n#else\n"
                    + "static let job = \"a.\" + \"b\"\n#endif\n}"
            ),
            (
                "Own.prefix + \"b\"",
                "class Own { class var prefix: String { \"a.\" } }\n"
                    + "class Other: Own { override class var prefix: String { \"b.\" } }"
            ),
            (
                "P.job",
                "protocol P {}\nextension P {\nstatic var prefix: String { \"a.\" }\n"
                    + "static var job: String { prefix + \"b\" }\n}"
            ),
            ("id + \"b\"", "let id = \"a.\""), ("\"\\(id)b\"", "let id = \"a.\""),
            ("IDs.prefix + \"b\"", "enum A { \(prefix)} }\nenum B { \(prefix)} }"),
            ("Bundle.main.bundleIdentifier", ""), ("\"\\(Bundle.main.bundleIdentifier)b\"", ""),
        ])
    func unknown(use: String, constants: String) throws {
        #expect(try Self.names(use, constants) == [], "\(use) \(constants)")
    }

    @Test(
        "a name of the function hides the constant",
        arguments: [
            "let prefix = make()", "let prefix = \"x.\"", "for prefix in all {",
            "guard let prefix = x else { return }", "run { prefix in",
            "let (prefix, rest) = split(id)", "if case let .some(prefix) = x {",
            "if case .some(let prefix) = x {", "run { (prefix: String) -> Void in",
        ])
    func hidden(more: String) throws {
        let constants = "let prefix = \"a.\""
        #expect(try Self.names("prefix + \"b\"", constants) == ["a.b"])
        #expect(try Self.names("prefix + \"b\"", constants, more: more) == [], "\(more)")
        #expect(try Self.names("prefix + \"b\"", constants, base: "BaseJobs") == [])
    }

    /// What rule CF020 finds in an app with these settings, permitted identifiers and identifier.
    private static func isRefused(
        _ use: String, permitted: String = "com.app.job", app: String = "", release: String = "",
        info: [(String, String)] = []
    ) throws -> Bool {
        let folder = try TestFolder()
        try folder.write(
            SampleProject.text(app: "INFOPLIST_FILE = Info.plist; " + app, release: release),
            to: "App.xcodeproj/project.pbxproj")
        try folder.write("BASE_ID = com", to: "App.xcconfig")
        try folder.write(
            XML.dictionary(
                [("BGTaskSchedulerPermittedIdentifiers", XML.array(permitted))] + info),
            to: "Info.plist")
        try folder.write(
            "enum Jobs {\nstatic func f() {\nBGTaskScheduler.shared.register("
                + "forTaskWithIdentifier: \(use), using: nil) { t in g(t) }\n}\n}\nlet x: Void = "
                + "Jobs.f()\n", to: "App/AppDelegate.swift")
        try folder.write("let a = 1\n", to: "Shared/Tasks.swift")
        return try Audit(paths: [folder.path]).report().findings
            .contains { $0.diagnostic.rule == "CF020" }
    }

    @Test("the identifier of the app, which its settings have")
    func bundleIdentifier() throws {
        for use in [
            "Bundle.main.bundleIdentifier! + \".job\"",
            "\"\\(Bundle.main.bundleIdentifier!).job\"",
            "(Bundle.main.bundleIdentifier ?? \"x\") + \".job\"",
        ] {
            let other = use.replacing("job", with: "other")
            #expect(try !Self.isRefused(use), "\(use)")
            #expect(try Self.isRefused(other), "\(other)")
            #expect(try !Self.isRefused(use, permitted: "$(PRODUCT_BUNDLE_IDENTIFIER).job"))
            // Each configuration may have an identifier of its own.
            let debug = "PRODUCT_BUNDLE_IDENTIFIER = com.app.release;"
            #expect(try !Self.isRefused(other, release: debug), "\(other)")
            #expect(try !Self.isRefused(other, app: "PRODUCT_BUNDLE_IDENTIFIER = \"$(ID)\";"))
            #expect(
                try !Self.isRefused(
                    other, info: [("CFBundleIdentifier", "<string>com.other</string>")]))
        }
        // A sum binds more than the other text.
        #expect(try !Self.isRefused("Bundle.main.bundleIdentifier ?? \"x\" + y"))
    }
}
