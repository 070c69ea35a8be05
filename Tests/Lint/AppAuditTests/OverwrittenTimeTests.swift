// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Time in the background whose identifier another one replaces.
@Suite("Replaced identifiers of time")
struct OverwrittenTimeTests: SourceFaultSuite {
    private static let property = "private var id: UIBackgroundTaskIdentifier = .invalid"
    private static let begin =
        "id = UIApplication.shared.beginBackgroundTask { UIApplication.shared.endBackgroundTask("
        + "self.id) }\n"
    private static let end = "UIApplication.shared.endBackgroundTask(id)\n"

    private static func isReplaced(
        _ body: String, _ declaration: String = property, more: String = ""
    ) -> Bool {
        faults(
            "class A {\n\(declaration)\nfunc f() {\n\(body)\n}\nfunc finish() { \(end)}\n\(more)\n}"
        ).contains(.assertionOverwritten)
    }

    @Test(
        "a second call on one path, and nothing between that ends the first",
        arguments: [
            begin + begin, begin + "print(1)\n" + begin + "work { finish() }",
            "if x {\n\(begin)\(begin)}", begin + "let a = 1\n" + begin,
            "var id = UIBackgroundTaskIdentifier.invalid\n\(begin)work()\n\(begin)" + end,
        ])
    func replaced(body: String) { #expect(Self.isReplaced(body), "\(body)") }

    @Test(
        "what ends the first, or may",
        arguments: [
            begin, begin + end + begin, begin + "finish()\n" + begin, begin + "stop()\n" + begin,
            begin + "let old = id\n" + begin + "end(old)", begin + "all.append(id)\n" + begin,
            begin + "if id == .invalid { \(begin)}", "if x { \(begin)} else { \(begin)}",
            "switch x {\ncase a: \(begin)default: \(begin)}", begin + "return\n" + begin,
            "if x {\n\(begin)return\n}\n" + begin, "#if DEBUG\n\(begin)#else\n\(begin)#endif",
            begin + "helper.stop()\n" + begin, "for a in b { \(begin)}",
            begin + "post(name, object: nil)\n" + begin, "work { \(begin)}\nother { \(begin)}",
            begin + "work {\n\(begin)}", begin + "perform(#selector(finish))\n" + begin,
            begin + "defer { finish() }\n" + begin,
            begin + begin.replacing("id = ", with: "other = "),
            begin.replacing("id = ", with: "a.id = ") + begin.replacing("id = ", with: "b.id = "),
            "var id = x\nlet end = { \(end)}\n\(begin)end()\n" + begin,
            "var id = x\ndefer { \(end)}\n\(begin)\(begin)",
            "id = x ? app.beginBackgroundTask {} : app.beginBackgroundTask {}",
        ])
    func ended(body: String) { #expect(!Self.isReplaced(body), "\(body)") }

    @Test(
        "a property that does something with the first",
        arguments: [
            property + " {\ndidSet { end(oldValue) }\n}", "@Ending " + property,
            "@Ending(1)\n" + property,
            "var id: UIBackgroundTaskIdentifier {\nget { all[0] }\nset { all.append(newValue) }\n}",
            "",
        ])
    func observed(declaration: String) {
        #expect(!Self.isReplaced(Self.begin + Self.begin, declaration), "\(declaration)")
    }

    @Test("Objective-C")
    func objectiveC() {
        func isReplaced(_ body: String, _ more: String = "") -> Bool {
            Self.faults(
                "@implementation A\n- (void)f {\n\(body)\n}\n\(more)\n@end", "a.m"
            ).contains(.assertionOverwritten)
        }
        let local = "__block UIBackgroundTaskIdentifier bg;\n"
        let named =
            "bg = [application beginBackgroundTaskWithExpirationHandler:^{ "
            + "[application endBackgroundTask:bg]; }];\n"
        #expect(isReplaced(local + named + named))
        #expect(!isReplaced(local + named + "[application endBackgroundTask:bg];\n" + named))
        #expect(!isReplaced(local + "if (a) " + named + "else " + named))
        let own = named.replacing("bg = ", with: "self.bg = ")
        #expect(isReplaced(own + own))
        #expect(!isReplaced(own + own, "- (void)setBg:(UIBackgroundTaskIdentifier)bg { }"))
    }
}
