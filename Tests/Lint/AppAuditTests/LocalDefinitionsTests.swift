// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

@Suite("Functions and closures inside of a function")
struct LocalDefinitionsTests {
    /// The lines of a handler's body, from 1, on which a path ends without its completion handler;
    /// 0 for the function as a whole.
    private static func gaps(_ body: String) -> [Int] {
        let source =
            "func application(_ a: A, didReceiveRemoteNotification u: U, "
            + "fetchCompletionHandler done: @escaping (R) -> Void) {\n\(body)\n}"
        return gaps(in: source, "a.swift")
    }

    private static func objectiveCGaps(_ body: String) -> [Int] {
        let source =
            "- (void)application:(A *)a didReceiveRemoteNotification:(U *)u "
            + "fetchCompletionHandler:(void (^)(R))done {\n\(body)\n}"
        return gaps(in: source, "a.m")
    }

    private static func gaps(in source: String, _ path: String) -> [Int] {
        let text = SourceText(Array(source.utf8), path: path)
        return SourceReader.observations(in: text, SourceConstants())
            .filter { $0.subject == .pathWithoutCompletion }.map { $0.place.line - 1 }
    }

    @Test(
        "a definition does nothing until it is used",
        arguments: [
            ("func end() { done(.noData) }\nguard a else { return }\nend()", [2]),
            ("guard a else { return }\nend()\nfunc end() { done(.noData) }", [1]),
            ("func end() { done(.noData) }\nsync()", [0]),
            ("let end = { done(.noData) }\nguard a else { return }\nend()", [2]),
            ("let end: (R) -> Void = { r in done(r) }\nguard a else { return }\nend(.noData)", [2]),
            ("func end() { done(.noData) }\nlet fail = { end() }\nif a { fail() }", [0]),
        ])
    func unused(body: String, lines: [Int]) { #expect(Self.gaps(body) == lines) }

    @Test(
        "a use on every path is enough",
        arguments: [
            "func end() { done(.noData) }\nguard a else { end(); return }\nend()",
            "func end() { done(.noData) }\nlet fail = { end() }\nif a { fail() } else { end() }",
            "let end = { done(.noData) }\nsync(completion: end)",
            "let end: (R) -> Void = { r in done(r) }\nsync { end(.noData) }",
            "var end: () -> Void = { done(.noData) }\nself.end = end",
            // One that is called in place runs.
            "let value = { done(.noData); return 1 }()\nprint(value)",
        ])
    func used(body: String) { #expect(Self.gaps(body) == []) }

    @Test("a block of Objective-C with a name does nothing until it is used")
    func blocks() {
        let block = "void (^end)(void) = ^{ done(UIBackgroundFetchResultNoData); };\n"
        #expect(Self.objectiveCGaps(block + "[self sync];") == [0])
        #expect(Self.objectiveCGaps(block + "if (a) {\nreturn;\n}\nend();") == [3])
        #expect(Self.objectiveCGaps(block + "end();") == [])
        #expect(Self.objectiveCGaps(block + "[self syncWithCompletion:end];") == [])
        let typed = "dispatch_block_t end = ^{ done(UIBackgroundFetchResultNoData); };\n"
        #expect(Self.objectiveCGaps(typed + "[self sync];") == [0])
        #expect(Self.objectiveCGaps(typed + "[self syncWithCompletion:end];") == [])
    }
}
