// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Background sessions that a function makes beside one with the same identifier.
@Suite("Sessions beside one with the same identifier")
struct DoubleSessionTests: SourceFaultSuite {
    private static let fault = Fault.sessionMadeAnew

    // MARK: Swift

    private static let make =
        "let c = URLSessionConfiguration.background(withIdentifier: \"a\")\n"
        + "let s = URLSession(configuration: c, delegate: self, delegateQueue: nil)\n"
    private static let kept =
        "lazy var kept = URLSession(configuration: .background(withIdentifier: \"a\"), "
        + "delegate: self, delegateQueue: nil)\nfunc start() { kept.getAllTasks { _ in } }"
    private static let start = "s.downloadTask(with: url).resume()"

    private static func isFound(
        _ body: String, _ kept: String = kept, more: String = ""
    ) -> Bool {
        faults("class A: NSObject {\n\(kept)\nfunc load(_ url: URL) {\n\(body)\n}\n}\n\(more)")
            .contains(fault)
    }

    @Test("a function of Swift makes one for each call")
    func swift() {
        #expect(Self.isFound(Self.make + Self.start))
        #expect(
            Self.isFound(
                "let s = URLSession(configuration: .background(withIdentifier: \"a\"), delegate: "
                    + "self, delegateQueue: nil)\nlet t = s.uploadTask(with: r, fromFile: f)"))
        let closure =
            "lazy var kept: URLSession = {\nlet c = URLSessionConfiguration.background("
            + "withIdentifier: Self.id)\nreturn URLSession(configuration: c, delegate: self, "
            + "delegateQueue: nil)\n}()\nfunc start() { _ = kept }\nstatic let id = \"a\""
        #expect(Self.isFound(Self.make + Self.start, closure))
        let initializer =
            "let kept: URLSession\noverride init() {\nlet c = URLSessionConfiguration.background("
            + "withIdentifier: \"a\")\nkept = URLSession(configuration: c)\n}"
        #expect(Self.isFound(Self.make + Self.start, initializer))
    }

    @Test(
        "a function of Swift that keeps it, ends it, or may make the only one",
        arguments: [
            make + start + "\ns.finishTasksAndInvalidate()", make + "kept = s\n" + start,
            make + "return s", make + start + "\nadd(s)", make + "s.getAllTasks { _ in }",
            "if kept == nil {\n" + make + start + "\n}",
            "guard kept == nil else { return }\n" + make + start,
            make.replacing("\"a\"", with: "\"b\"") + start,
            make.replacing("\"a\"", with: "\"a.\\(id)\"") + start,
            make.replacing("\"a\"", with: "id") + start,
            make.replacing(".background(withIdentifier: \"a\")", with: ".default") + start,
            "var c = URLSessionConfiguration.background(withIdentifier: \"a\")\nc = .default\n"
                + "let s = URLSession(configuration: c)\n" + start,
        ])
    func otherSwift(body: String) { #expect(!Self.isFound(body), "\(body)") }

    @Test("no other session of Swift is certainly there")
    func alone() {
        for kept in [
            "", Self.kept.replacing("kept.get", with: "other.get"),
            Self.kept.replacing("\"a\"", with: "\"b\""),
            "func start() {\nother = URLSession(configuration: .background(withIdentifier: "
                + "\"a\"), delegate: self, delegateQueue: nil)\n}",
            "init() { super.init()\nend(URLSessionConfiguration.background(withIdentifier: "
                + "\"a\")) }",
            Self.kept + "\nfunc end() { kept.invalidateAndCancel() }",
        ] {
            #expect(!Self.isFound(Self.make + Self.start, kept), "\(kept)")
        }
        #expect(
            !Self.isFound(Self.make + Self.start, "", more: "class B {\n\(Self.kept)\n}"))
    }

    // MARK: Objective-C

    private static let makeC =
        "NSURLSessionConfiguration *c = [NSURLSessionConfiguration "
        + "backgroundSessionConfigurationWithIdentifier:@\"a\"];\n"
    private static let session =
        "[NSURLSession sessionWithConfiguration:c delegate:self delegateQueue:nil];\n"
    private static let startC = "[[s downloadTaskWithURL:u] resume];"

    private static func isFoundInC(
        _ body: String, kept: String = "_s = ", identifier: String = "@\"a\"",
        function: String = "load", more: String = ""
    ) -> Bool {
        let source =
            more + "@implementation A\n- (id)init {\nself = [super init];\nif (self) {\n"
            + makeC.replacing("@\"a\"", with: identifier) + kept + session
            + "}\nreturn self;\n}\n- (void)\(function):(NSURL *)u {\n\(body)\n}\n@end"
        return faults(source, "A.m").contains(fault)
    }

    @Test("a method of Objective-C makes one for each call")
    func objectiveC() {
        let local = Self.makeC + "NSURLSession *s = " + Self.session
        #expect(Self.isFoundInC(local + Self.startC))
        #expect(Self.isFoundInC(local + "id t = [s uploadTaskWithRequest:r fromFile:u];"))
        #expect(
            Self.isFoundInC(
                local.replacing("@\"a\"", with: "kId") + Self.startC, identifier: "kId",
                more: "static NSString *const kId = @\"a\";\n"))
        for body in [
            local + Self.startC + "\n[s finishTasksAndInvalidate];", local + "self.t = s;",
            local + "[self keep:s];\n" + Self.startC, local + Self.startC + "\nreturn s;",
            Self.makeC + "_s = " + Self.session, "if (!_s) {\n" + local + Self.startC + "\n}",
            "if (_s) { return; }\n" + local + Self.startC,
            local.replacing("@\"a\"", with: "@\"b\"") + Self.startC,
            local.replacing("@\"a\"", with: "name") + Self.startC,
            local.replacing(
                "backgroundSessionConfigurationWithIdentifier:@\"a\"",
                with: "defaultSessionConfiguration") + Self.startC,
        ] {
            #expect(!Self.isFoundInC(body), "\(body)")
        }
        #expect(!Self.isFoundInC(local + Self.startC, identifier: "@\"b\""))
        #expect(!Self.isFoundInC(local + Self.startC, function: "initWith"))
    }
}
