// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// The queue that the completion handler of a background session's events is called on.
@Suite("The queue of the end of transfers")
struct TransferQueueTests {
    private static let delegate =
        "class AppDelegate: NSObject, UIApplicationDelegate {\nvar done: (() -> Void)?\n"
        + "func application(_ a: UIApplication, handleEventsForBackgroundURLSession i: String, "
        + "completionHandler: @escaping () -> Void) {\nKEEP\n}\n}"
    private static let making =
        "let c = URLSessionConfiguration.background(withIdentifier: \"a\")\n"
        + "s = URLSession(configuration: c, delegate: self, delegateQueue: QUEUE)"

    /// Whether the call of the handler is told of in an app with these files.
    private static func isTold(_ files: [String: String]) throws -> Bool {
        try TestFolder.messages(of: "CF046", files).contains {
            $0.contains("on the queue")
        }
    }

    private static func isTold(
        _ end: String, queue: String = "nil", keep: String = "done = completionHandler",
        rest: String = "", head: String = "class Loads: NSObject, URLSessionDelegate"
    ) throws -> Bool {
        try isTold([
            "AppDelegate.swift": delegate.replacing("KEEP", with: keep),
            "Loads.swift": "\(head) {\n\(rest)\nfunc make() {\n"
                + making.replacing("QUEUE", with: queue) + "\n}\n"
                + "func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {\n"
                + "\(end)\n}\n}",
        ])
    }

    private static let call = "(UIApplication.shared.delegate as? AppDelegate)?.done?()"
    private static let local =
        "guard let app = UIApplication.shared.delegate as? AppDelegate, let end = app.done "
        + "else { return }\napp.done = nil\nend()"

    @Test("a handler that is called on the session's own queue")
    func ownQueue() throws {
        #expect(try Self.isTold(Self.call))
        #expect(try Self.isTold(Self.local))
        #expect(try Self.isTold(Self.call, queue: "OperationQueue()"))
        #expect(
            try Self.isTold(Self.call, queue: "queue", rest: "let queue = OperationQueue()"))
        #expect(
            try Self.isTold(
                "done?()", keep: "Loads.shared.done = completionHandler",
                rest: "var done: (() -> Void)?\nstatic let shared = Loads()"))
        #expect(
            try Self.isTold(
                "if let end = app.ends.removeValue(forKey: id) { end() }",
                keep: "ends[i] = completionHandler"))
    }

    @Test("a handler that is called on the main queue, or may be")
    func mainQueue() throws {
        for body in [
            "DispatchQueue.main.async { \(Self.call) }",
            "OperationQueue.main.addOperation {\n\(Self.local)\n}",
            "Task { @MainActor in \(Self.call) }",
            "if Thread.isMainThread { \(Self.call) }",
            "print(session)", "finish()", "delegate?.transfersEnded()",
        ] {
            #expect(try !Self.isTold(body), "\(body)")
        }
        for queue in [".main", "OperationQueue.main", "queue", "makeQueue()", "other.queue"] {
            #expect(try !Self.isTold(Self.call, queue: queue), "\(queue)")
        }
        let main = "let queue = OperationQueue()\nfunc set() { queue.underlyingQueue = .main }"
        #expect(try !Self.isTold(Self.call, queue: "queue", rest: main))
        let changed = "var queue = OperationQueue()\nfunc set() { queue = .main }"
        #expect(try !Self.isTold(Self.call, queue: "queue", rest: changed))
        // What is called is not what the app delegate keeps.
        #expect(try !Self.isTold("app.ended?()"))
        #expect(try !Self.isTold("done?()", rest: "var done: (() -> Void)?"))
        // Another session has the main queue.
        let other =
            "func other() { t = URLSession(configuration: d, delegate: self, "
            + "delegateQueue: .main) }"
        #expect(try !Self.isTold(Self.call, rest: other))
        #expect(
            try !Self.isTold(
                Self.call, head: "@MainActor final class Loads: NSObject, URLSessionDelegate"))
    }

    @Test("the same in Objective-C")
    func objectiveC() throws {
        func isTold(
            _ end: String, queue: String = "nil", delegate: String = "self",
            keep: String = "self.done = handler;"
        ) throws -> Bool {
            try Self.isTold([
                "AppDelegate.m": "@implementation AppDelegate\n- (void)application:(UIApplication "
                    + "*)a handleEventsForBackgroundURLSession:(NSString *)i completionHandler:"
                    + "(void (^)(void))handler {\n\(keep)\n}\n@end",
                "Loads.m": "@implementation Loads\n- (void)make {\n"
                    + "__weak __typeof(self) weakSelf = self;\n"
                    + "NSURLSessionConfiguration *c = [NSURLSessionConfiguration "
                    + "backgroundSessionConfigurationWithIdentifier:@\"a\"];\n"
                    + "self.queue = [[NSOperationQueue alloc] init];\n"
                    + "_s = [NSURLSession sessionWithConfiguration:c delegate:\(delegate) "
                    + "delegateQueue:\(queue)];\n}\n"
                    + "- (void)URLSessionDidFinishEventsForBackgroundURLSession:(NSURLSession *)s "
                    + "{\nAppDelegate *app = (AppDelegate *)[UIApplication sharedApplication]"
                    + ".delegate;\n\(end)\n}\n@end",
            ])
        }
        let local = "if (app.done) {\nvoid (^end)(void) = app.done;\napp.done = nil;\nend();\n}"
        #expect(try isTold("app.done();"))
        #expect(try isTold(local))
        #expect(try isTold(local, queue: "self.queue", delegate: "weakSelf"))
        #expect(try isTold("if (_done) { _done(); }", keep: "[[Loads shared] setDone:handler];"))
        #expect(try !isTold("dispatch_async(dispatch_get_main_queue(), ^{ app.done(); });"))
        #expect(
            try !isTold("[[NSOperationQueue mainQueue] addOperationWithBlock:^{ app.done(); }];"))
        #expect(try !isTold(local, queue: "[NSOperationQueue mainQueue]"))
        #expect(try !isTold(local, queue: "_mainQueue"))
        #expect(try !isTold(local, delegate: "other"))
        #expect(try !isTold("if (_done) { _done(); }"))
        #expect(try !isTold("app.other();"))
    }
}
