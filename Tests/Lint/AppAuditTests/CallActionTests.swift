// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadRules
import Testing

@testable import AppAudit

/// Handlers of CallKit's actions, and providers without a delegate.
@Suite("Actions of CallKit")
struct CallActionTests: SourceFaultSuite {
    private static func isLeftOpen(_ body: String, _ rest: String = "") -> Bool {
        faults(
            "class A: NSObject, CXProviderDelegate {\nfunc provider(_ provider: CXProvider, "
                + "perform action: CXEndCallAction) {\n\(body)\n}\n\(rest)\n}"
        )
        .contains(.actionLeftOpen)
    }

    @Test(
        "a path that neither fulfils nor fails an action",
        arguments: [
            "", "print(\"end\")", "calls[action.callUUID] = nil", "calls.end(id: action.callUUID)",
            "guard let c = calls[action.callUUID] else { return }\nc.end()\naction.fulfill()",
            "if let c = calls[action.callUUID] { c.end()\naction.fulfill() }",
            "api.end { ok in\nif ok { action.fulfill() }\n}",
            "do { try join(); action.fulfill() } catch { print(error) }",
            "log(action: action.uuid)",
        ])
    func leftOpen(body: String) { #expect(Self.isLeftOpen(body)) }

    @Test(
        "an action that is ended, or handed on",
        arguments: [
            "action.fulfill()", "defer { action.fulfill() }\ncalls[action.callUUID] = nil",
            "guard let c = calls[action.callUUID] else {\naction.fail()\nreturn\n}\nc.end()\n"
                + "action.fulfill()",
            "api.end { ok in\nif ok { action.fulfill() } else { action.fail() }\n}",
            "api.end { [weak self] in self?.done()\naction.fulfill() }",
            "Task {\ndo { try await join(); action.fulfill() } catch { action.fail() }\n}",
            "finish(action)", "pending = action", "pending[action.callUUID] = action",
            "delegate?.provider(self, didEnd: action)", "queue.async { self.end(action) }",
            "action.fulfill(withDateEnded: Date())",
            "session.end { [action] in finish() }", "actions.append(action)",
            "center.post(name: n, object: action)", "fatalError()",
            "call.end { [weak self, weak call] ok in\nguard let self = self, let call = call "
                + "else {\n"
                + "return\n}\naction.fulfill()\n}",
        ])
    func ended(body: String) { #expect(!Self.isLeftOpen(body)) }

    @Test("what only the simulator or a debug build has is no path of the app")
    func builds() {
        for condition in ["targetEnvironment(simulator)", "DEBUG"] {
            #expect(!Self.isLeftOpen("#if \(condition)\n#else\naction.fulfill()\n#endif"))
            #expect(Self.isLeftOpen("#if \(condition)\naction.fulfill()\n#endif"))
            #expect(!Self.isLeftOpen("#if !\(condition)\naction.fulfill()\n#endif"))
            #expect(Self.isLeftOpen("#if \(condition)\naction.fulfill()\n#else\nlog()\n#endif"))
        }
        #expect(Self.isLeftOpen("#if FLAG\n#else\naction.fulfill()\n#endif"))
    }

    @Test("an action in an app of which a build makes a file")
    func absentFiles() throws {
        let folder = try TestFolder()
        let source =
            "class A: NSObject, CXProviderDelegate {\nfunc provider(_ p: CXProvider, perform "
            + "action: CXEndCallAction) {\nguard let id else { return }\naction.fulfill()\n}\n}"
        try AuditScopeTests.write(
            folder, "App", settings: "",
            objects: "SB = { isa = PBXBuildFile; fileRef = SF; }; SF = { isa = PBXFileReference; "
                + "path = Secrets.swift; sourceTree = \"<group>\"; };",
            source: source)
        let project = folder.path + "/App/App.xcodeproj/project.pbxproj"
        let text = try String(contentsOfFile: project, encoding: .utf8)
        try folder.write(
            text.replacing("files = ( B )", with: "files = ( B, SB )")
                .replacing("children = ( F )", with: "children = ( F, SF )"),
            to: "App/App.xcodeproj/project.pbxproj")
        let report = try Audit(paths: [folder.path]).report()
        #expect(report.unjudged.contains { $0.reason.contains("Secrets.swift") })
        #expect(report.findings.contains { $0.diagnostic.rule == "CF053" })
    }

    @Test("a weak object in a closure of a closure, and another value of its name")
    func weak() {
        func body(_ value: String) -> String {
            "call.end { [weak call] ok in\nqueue.async {\nguard let call = \(value) else { "
                + "return }\n"
                + "call.done()\naction.fulfill()\n}\n}"
        }
        #expect(!Self.isLeftOpen(body("call")))
        #expect(Self.isLeftOpen(body("find(id)")))
    }

    @Test("an action that is found again by its identifier, and other functions")
    func others() {
        let later =
            "func done(_ id: UUID) { provider.pendingCallActions(of: CXEndCallAction.self, "
            + "withCall: id).forEach { $0.fulfill() } }"
        #expect(!Self.isLeftOpen("ids.append(action.callUUID)", later))
        let timedOut =
            "func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) { log() }"
        #expect(!Self.isLeftOpen("action.fulfill()", timedOut))
        let requirement =
            "protocol P { func provider(_ provider: CXProvider, perform action: CXEndCallAction) }"
        #expect(Self.faults(requirement) == [])
    }

    @Test("handlers that do nothing")
    func idle() {
        func places(_ actions: String...) -> Int {
            let handlers = actions.map {
                "func provider(_ provider: CXProvider, perform action: CX\($0)CallAction) { }\n"
            }
            let text = SourceText(Array("class A {\n\(handlers.joined())}".utf8), path: "a.swift")
            return SourceReader.observations(in: text, SourceConstants()).filter {
                $0.subject == .fault(.actionLeftOpen)
            }
            .count
        }
        // Besides answers and ends they are one fault, and what calls cannot do never comes.
        #expect(places("SetMuted", "End", "Answer") == 3)
        #expect(places("End", "SetMuted", "SetHeld") == 1)
        #expect(places("Start", "SetHeld", "PlayDTMF", "SetGroup") == 0)
        #expect(places("Start", "Answer") == 1)
    }

    @Test("actions in Objective-C")
    func objectiveC() {
        func isLeftOpen(_ body: String) -> Bool {
            Self.faults(
                "@implementation A\n- (void)provider:(CXProvider *)provider performEndCallAction:"
                    + "(CXEndCallAction *)action {\n\(body)\n}\n@end", "a.m"
            )
            .contains(.actionLeftOpen)
        }
        #expect(isLeftOpen("[self.calls removeObjectForKey:action.callUUID];"))
        #expect(isLeftOpen("if (self.call == nil) { return; }\n[action fulfill];"))
        #expect(isLeftOpen("[self endCall:[action callUUID]];"))
        for body in [
            "[action fulfill];", "[self end:action];", "self.action = action;",
            "[action fulfillWithDateEnded:[NSDate date]];",
            "if (self.call == nil) { [action fail]; return; }\n[action fulfill];",
            "[api end:^{ [action fulfill]; }];",
        ] {
            #expect(!isLeftOpen(body))
        }
    }

    @Test("a provider without a delegate")
    func provider() {
        func lacksDelegate(_ body: String, _ path: String = "a.swift") -> Bool {
            Self.faults(body, path).contains(.callsWithoutDelegate)
        }
        func source(_ delegate: String) -> String {
            "class A {\nprivate let provider: CXProvider\ninit() {\n"
                + "provider = CXProvider(configuration: c)\n\(delegate)\n}\n"
                + "func f() { provider.reportCall(with: id, endedAt: nil, reason: .failed) }\n"
                + "func provider(_ provider: CXProvider, perform action: CXEndCallAction) { "
                + "action.fulfill() }\n}"
        }
        #expect(lacksDelegate(source("")))
        // One that only reports calls that have ended.
        #expect(
            !lacksDelegate(source("").replacing("perform action: CXEnd", with: "did end: CXEnd")))
        for delegate in [
            "provider.setDelegate(self, queue: nil)", "center.add(provider)",
            "Self.shared = provider",
        ] {
            #expect(!lacksDelegate(source(delegate)))
        }
        let made = "provider: CXProvider = {\nlet c = Configuration()\nreturn CXProvider("
        let property =
            source("").replacing("provider: CXProvider\n", with: made + "configuration: c)\n}()\n")
            .replacing("provider = CXProvider(configuration: c)", with: "")
        #expect(lacksDelegate(property))
        #expect(
            !lacksDelegate(
                property.replacing(
                    "init() {", with: "init() {\nprovider.setDelegate(self, queue: nil)")))
        let old =
            "@interface A ()\n@property (nonatomic) CXProvider *provider;\n@end\n"
            + "@implementation A\n- (id)init {\n"
            + "_provider = [[CXProvider alloc] initWithConfiguration:c];\nreturn self;\n}\n"
            + "- (void)provider:(CXProvider *)provider performEndCallAction:(CXEndCallAction *)a "
            + "{ [a fulfill]; }\n@end"
        #expect(lacksDelegate(old, "a.m"))
        let given = old.replacing(
            "return self", with: "[_provider setDelegate:self queue:nil];\nreturn self")
        #expect(!lacksDelegate(given, "a.m"))
    }
}
