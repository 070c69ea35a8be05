// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Constants whose value is a literal, and those of which it is only a part.
@Suite("Constants of source files")
struct SourceConstantsTests {
    private static func identifier(_ source: String, path: String) -> String? {
        let text = SourceText(Array(source.utf8), path: path)
        var constants = SourceConstants()
        constants.add(text)
        return SourceReader.observations(in: text, constants).lazy.compactMap { seen in
            if case .registeredTask(let name, _) = seen.subject { name } else { nil }
        }.first
    }

    @Test(
        "a literal that is a part of a value is not the value",
        arguments: [
            ("let id = \"a.\" + name", nil), ("let id = \"a.\"\n+ name", nil),
            ("let id = \"a.\".appending(name)", nil), ("var id: String { \"a.\" + name }", nil),
            ("var id: String { return \"a.\" + name }", nil),
            ("let id = \"a.b\"", "a.b"), ("let id = \"a.b\"\n@MainActor func f() { }", "a.b"),
            ("let id = \"a.b\", other = 1", "a.b"), ("var id: String { \"a.b\" }", "a.b"),
        ] as [(String, String?)])
    func parts(declaration: String, value: String?) {
        let source = "\(declaration)\n\(SourceReaderTests.register("id"))"
        #expect(Self.identifier(source, path: "a.swift") == value)
    }

    @Test("a member of an object has the value that the object's declared type gives it")
    func members() {
        func identifier(_ declaration: String, _ name: String = "settings.id") -> String? {
            Self.identifier(
                "class Settings { let id = \"a.b\" }\nclass Other { let id = \"c.d\" }\n"
                    + "class App {\n\(declaration)\nfunc f() {\n"
                    + "\(SourceReaderTests.register(name))\n} }", path: "a.swift")
        }
        #expect(identifier("let settings: Settings") == "a.b")
        #expect(identifier("let settings = Other()") == "c.d")
        #expect(identifier("let settings: Settings", "self.settings.id") == "a.b")
        #expect(identifier("let settings: Settings", "model.settings.id") == nil)
        #expect(identifier("let settings: SettingsProtocol") == nil)
        #expect(identifier("let settings = make()") == nil)
        #expect(identifier("") == nil)
        #expect(identifier("let settings: Settings\nlet a = A(settings: settings)") == "a.b")
        for other in ["func g() { let settings = make() }", "func g(settings: Other) { }"] {
            #expect(identifier("let settings: Settings\n\(other)") == "a.b", "\(other)")
        }
        let shadowed = "class Settings { let id = \"a.b\" }\nclass App {\nlet settings: Settings\n"
        for head in [
            "func f(settings: Other) {", "func f() {\nfor settings in all {",
            "func f() {\nload { settings in", "func f() {\nlet settings = make()\nif on {",
            "func f() {\nfor (_, settings) in all {",
            "func f() {\nlet (settings, n) = make()\nif on {",
            "func f() {\nif case .loaded(let settings) = state {",
        ] {
            let end = head.contains("\n") ? "} } }" : "} }"
            let source = "\(shadowed)\(head)\n\(SourceReaderTests.register("settings.id"))\n\(end)"
            #expect(Self.identifier(source, path: "a.swift") == nil, "\(head)")
        }
        // Another declaration of the name in the file may be the one.
        #expect(identifier("let settings: Settings }\nclass B { let settings: Other") == nil)
        #expect(identifier("let settings: Settings }\nclass B { let settings: Settings") == "a.b")
        #expect(identifier("let settings: Model.Settings") == nil)
        #expect(identifier("let settings: Settings = make()") == "a.b")
        // A label is no declaration.
        #expect(identifier("func g() { show(settings: Settings()) }") == nil)
        for label in ["Settings.shared", "Other()"] {
            #expect(
                identifier("let settings: Settings\nlet a = show(settings: \(label))") == "a.b",
                "\(label)")
        }
    }

    @Test("a member that an object may have another value of is not known")
    func variables() {
        for member in [
            "var id = \"a.b\"", "var id: String { \"a.b\" }",
            "static let id = \"a.b\"",
        ] {
            let source =
                "class Settings { \(member) }\nclass App {\nlet settings = Settings()\nfunc f() {\n"
                + "\(SourceReaderTests.register("settings.id"))\n} }"
            #expect(Self.identifier(source, path: "a.swift") == nil)
        }
    }

    @Test("literals that stand together are one value in Objective-C")
    func objectiveC() {
        func identifier(_ value: String) -> String? {
            Self.identifier(
                "static NSString *const kID = \(value);\nvoid f(void) { [[BGTaskScheduler "
                    + "sharedScheduler] registerForTaskWithIdentifier:kID usingQueue:nil "
                    + "launchHandler:^(BGTask *task) { }]; }", path: "a.m")
        }
        #expect(identifier("@\"a.b\"") == "a.b")
        #expect(identifier("@\"a.\" @\"b\"") == nil)
        #expect(identifier("@\"a.\" \"b\"") == nil)
    }
}
