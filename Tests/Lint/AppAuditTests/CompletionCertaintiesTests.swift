// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Conditions that tell whether a completion handler was called, and code that never returns.
@Suite("Certainties on completion paths")
struct CompletionCertaintiesTests {
    private static let swift =
        "func application(_ a: A, didReceiveRemoteNotification u: U, "
        + "fetchCompletionHandler done: @escaping (R) -> Void)"
    private static let objectiveC =
        "- (void)application:(UIApplication *)a didReceiveRemoteNotification:(NSDictionary *)u "
        + "fetchCompletionHandler:(void (^)(UIBackgroundFetchResult))done"
    private static let content =
        "func didReceive(_ r: UNNotificationRequest, withContentHandler done: @escaping (C) -> "
        + "Void)"
    private static let objectiveCContent =
        "- (void)didReceiveNotificationRequest:(UNNotificationRequest *)r "
        + "withContentHandler:(void (^)(UNNotificationContent *))done"

    /// The lines of the body, from 1, on which paths end without a call; 0 for the whole.
    private static func gaps(_ head: String, _ body: String, _ rest: String = "") -> [Int] {
        let path = head.hasPrefix("-") ? "a.m" : "a.swift"
        let text = SourceText(Array("\(head) {\n\(body)\n}\n\(rest)".utf8), path: path)
        let faults: [SourceObservation.Subject] = [
            .pathWithoutCompletion, .fault(.contentPathWithoutHandler),
        ]
        return SourceReader.observations(in: text, SourceConstants())
            .filter { faults.contains($0.subject) }.map { $0.place.line - 1 }
    }

    @Test("a flag that is set beside each call tells of it")
    func flags() {
        let set = "var isDone = false\nif a {\ndone(.newData)\nisDone = true\n}\n"
        for rest in [
            "if !isDone { done(.noData) }", "guard !isDone else { return }\ndone(.noData)",
            "if isDone { return }\ndone(.noData)", "if isDone == false { done(.noData) }",
        ] {
            #expect(Self.gaps(Self.swift, set + rest) == [], "\(rest)")
        }
        // It says nothing where it is set without a call, or somewhere else.
        #expect(
            Self.gaps(Self.swift, set + "if c { isDone = true }\nif !isDone { done(x) }") == [0])
        #expect(Self.gaps(Self.swift, set + "if isDone { done(.noData) }") == [0])
        for change in ["check(&isDone)", "isDone.toggle()", "(isDone, n) = (true, 1)"] {
            #expect(
                Self.gaps(Self.swift, "\(set)\(change)\nif !isDone { done(y) }") == [0], "\(change)"
            )
        }
        #expect(Self.gaps(Self.swift, set + "if !isDone { done(y) } else { log() }") == [])
        let other = set.replacing("var isDone = false\n", with: "")
        #expect(Self.gaps(Self.swift, other + "if isDone { return }\ndone(.noData)") == [5])
        let objectiveC =
            "BOOL isDone = NO;\nif (a) {\ndone(1);\nisDone = YES;\n}\nif (!isDone) { done(2); }"
        #expect(Self.gaps(Self.objectiveC, objectiveC) == [])
        #expect(Self.gaps(Self.objectiveC, "static " + objectiveC) == [0])
        let cases =
            "var isDone = false\nswitch a {\ncase .b:\ndone(x)\nisDone = true\ndefault: break\n}\n"
        #expect(Self.gaps(Self.swift, cases + "if !isDone { done(y) }") == [])
    }

    @Test(
        "one of two opposite conditions is met",
        arguments: [
            ("if p { done(x) } else if !p { done(y) }", []),
            ("if n > 2 { done(x) } else if n <= 2 { done(y) }", []),
            ("if n > 2 { done(x) } else if n <= 3 { done(y) }", [0]),
            // What is asked twice may have changed.
            ("if p { done(x) }\nload()\nguard !p else { return }\ndone(y)", [3]),
            ("if p { done(x) }\nload()\nif p { return }\ndone(y)", [3]),
            ("if u[\"a\"] != nil { done(x) } else if u[\"b\"] == nil { done(y) }", [0]),
        ])
    func opposites(body: String, lines: [Int]) {
        #expect(Self.gaps(Self.swift, body) == lines, "\(body)")
    }

    @Test("a copy of a content that can be changed is always there")
    func copies() {
        let copy = "let c = r.content.mutableCopy() as? UNMutableNotificationContent\n"
        for body in [
            "if let c { done(c) }", "guard let c else { return }\ndone(c)",
            "if c != nil { done(c!) }", "if c == nil { return }\ndone(c!)",
            "if let best = c { done(best) }",
        ] {
            #expect(Self.gaps(Self.content, copy + body) == [], "\(body)")
            let other = copy.replacing("mutableCopy()", with: "loaded()")
            #expect(Self.gaps(Self.content, other + body) != [], "\(body)")
        }
        #expect(
            Self.gaps(Self.content, copy + "guard let c, let u = url(c) else { return }\ndone(c)")
                == [2])
        for value in [
            "cached?.mutableCopy() as? UNMutableNotificationContent",
            "change(r.content.mutableCopy() as! UNMutableNotificationContent)",
            "r.content.mutableCopy() as? UNMutableNotificationContent\nc = change(c)",
        ] {
            let body = "var c = \(value)\nif let c { done(c) }"
            #expect(Self.gaps(Self.content, body) == [0], "\(value)")
        }
        for (blank, line) in [("= r", "=\nr"), (" as?", "\nas?"), (".m", "\n.m")] {
            let broken = copy.replacing(blank, with: line)
            #expect(Self.gaps(Self.content, broken + "if let c { done(c) }") == [], "\(broken)")
        }
        let typed = copy.replacing("let c", with: "let c: UNMutableNotificationContent?")
        #expect(Self.gaps(Self.content, typed + "if let c { done(c) }") == [])
        let objectiveC = "UNMutableNotificationContent *c = [r.content mutableCopy];\n"
        for body in ["if (c) { done(c); }", "if (!c) return;\ndone(c);"] {
            #expect(Self.gaps(Self.objectiveCContent, objectiveC + body) == [], "\(body)")
        }
    }

    @Test("code that never returns ends a path")
    func noReturn() {
        for call in ["exit(0)", "abort()", "Darwin.exit(1)", "fail(\"a\")"] {
            let rest = "func fail(_ text: String) -> Never { fatalError(text) }"
            let body = "guard let a else {\n\(call)\n}\ndone(a)"
            #expect(
                Self.gaps(Self.swift, "if b { done(x) } else { \(call) }", rest) == [], "\(call)")
            #expect(Self.gaps(Self.swift, body, rest) == [], "\(call)")
        }
        #expect(Self.gaps(Self.swift, "if b { done(x) } else { task.exit() }") == [0])
        for own in ["func exit(_ code: Int) { log() }", "struct E { func exit(_ c: Int) {} }"] {
            #expect(
                Self.gaps(Self.swift, "if b { done(x) } else { exit(0) }", own) == [0], "\(own)")
        }
        let never = "enum E { static func stop() -> Never { fatalError() } }"
        #expect(Self.gaps(Self.swift, "if b { done(x) } else { player.stop() }", never) == [0])
        for call in ["abort();", "[NSException raise:@\"a\" format:@\"b\"];"] {
            #expect(
                Self.gaps(Self.objectiveC, "if (b) { done(1); } else { \(call) }") == [], "\(call)")
        }
    }

    @Test("what runs where it stands may leave the call to what follows")
    func closuresAtOnce() {
        let first = "queue.sync {\nload()\nif x == nil { return done(y) }\n}\n"
        #expect(Self.gaps(Self.swift, first + "Task { await run()\ndone(x) }") == [])
        #expect(Self.gaps(Self.swift, first) == [0])
        #expect(Self.gaps(Self.swift, first.replacing("sync", with: "async")) == [1])
    }

    @Test(
        "an endless loop is left by a call",
        arguments: [
            (swift, "repeat {\nif a { done(x)\nreturn }\n} while true", []),
            (swift, "repeat {\nif a { done(x)\nbreak }\n} while b", [0]),
            (objectiveC, "for (;;) {\nif (a) { done(1); return; }\n}", []),
            (objectiveC, "for (;;) {\nif (a) { break; }\n}", [0]),
        ])
    func loops(head: String, body: String, lines: [Int]) {
        #expect(Self.gaps(head, body) == lines, "\(body)")
    }

    @Test("a case that falls through to an unknown one, and expressions with braces, end nothing")
    func readings() {
        let cases = "switch a {\ncase .b: fallthrough\n@unknown default:\ndone(x)\n}"
        #expect(Self.gaps(Self.swift, cases) == [])
        for value in ["/\\}/", "try! Regex(\"}\")", "split(by: /[}]/)", "#/}/#", "a / b"] {
            #expect(Self.gaps(Self.swift, "let v = \(value)\ndone(x)") == [], "\(value)")
        }
        #expect(
            Self.gaps(Self.swift, "let v = a /b\nif c { return }\nlet w = d/ e\ndone(x)") == [2])
    }

    @Test("thousands of conditions take no longer each", .timeLimit(.minutes(1)))
    func manyConditions() {
        let guards = (0..<3_000).map { "guard let a\($0) = b else { done(x)\nreturn }\n" }
        #expect(Self.gaps(Self.swift, guards.joined() + "done(x)") == [])
        let cases = (0..<3_000).map { "case \($0): if c\($0) { done(x) } else { done(y) }\n" }
        #expect(Self.gaps(Self.swift, "switch a {\n\(cases.joined())default: break\n}") != [])
    }
}
