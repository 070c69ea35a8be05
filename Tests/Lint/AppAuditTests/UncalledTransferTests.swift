// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Tasks of background sessions in functions that nothing calls yet.
@Suite("Transfers in functions without a caller")
struct UncalledTransferTests {
    /// What rule CF046 tells of a class that starts a task, and of another file.
    private static func told(_ task: String, _ more: String = "") throws -> [String] {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([("LSRequiresIPhoneOS", "<true/>")]), to: "App/Info.plist")
        try folder.write(
            "final class Loads: NSObject {\nlazy var s = URLSession(configuration: "
                + ".background(withIdentifier: \"a\"), delegate: self, delegateQueue: nil)\n"
                + "func send(_ r: URLRequest, _ body: Data) {\n\(task)\n}\n}",
            to: "App/Loads.swift")
        try folder.write(
            "class AppDelegate: UIResponder, UIApplicationDelegate {\nfunc application(_ a: A, "
                + "handleEventsForBackgroundURLSession i: String, completionHandler h: @escaping "
                + "() -> Void) {\nkeep(h)\n}\n}\n\(more)", to: "App/AppDelegate.swift")
        return try Audit(paths: [folder.path]).report().findings
            .filter { $0.diagnostic.rule == "CF046" }
            .map { "\($0.diagnostic.severity.rawValue): \($0.diagnostic.message)" }
    }

    @Test(
        "a task that the session refuses is told of, and that nothing calls its function",
        arguments: [
            ("s.uploadTask(with: r, from: body).resume()", "uploads data"),
            ("s.dataTask(with: r) { _, _, _ in }.resume()", "has a completion handler"),
        ])
    func refused(task: String, words: String) throws {
        let uncalled = try Self.told(task)
        #expect(uncalled.count == 1)
        #expect(uncalled.allSatisfy { $0.hasPrefix("note") && $0.contains(words) })
        #expect(uncalled.allSatisfy { $0.hasSuffix("nothing calls its function yet") })
        let called = try Self.told(task, "func f(_ l: Loads) { l.send(r, d) }")
        #expect(called.count == 1)
        #expect(called.allSatisfy { $0.hasPrefix("warning") && $0.contains(words) })
        #expect(called.allSatisfy { !$0.contains("nothing calls") })
    }

    @Test(
        "a task that the session starts",
        arguments: [
            "s.uploadTask(with: r, fromFile: f).resume()", "s.downloadTask(with: r).resume()",
            "other.uploadTask(with: r, from: body).resume()",
        ])
    func started(task: String) throws { #expect(try Self.told(task) == []) }
}
