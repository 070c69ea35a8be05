// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Completion handlers of the events of background sessions that a shared object keeps.
@Suite("Completion handlers that a shared object keeps")
struct KeptElsewhereTests {
    /// Whether rule CF046 tells that nothing calls what is kept.
    private static func isTold(_ files: [String: String]) throws -> Bool {
        try TestFolder.messages(of: "CF046", files).contains {
            $0.contains("is kept, and nothing calls it")
        }
    }

    // MARK: Swift

    private static let swiftProperty = "var done: (() -> Void)?"
    private static let swiftEnd =
        "func urlSessionDidFinishEvents(forBackgroundURLSession s: URLSession) {\nEND\n}"

    private static func isToldInSwift(
        _ keep: String = "Loads.shared.done = completionHandler", end: String = "print(1)",
        property: String = swiftProperty, bases: String = "NSObject", more: String = ""
    ) throws -> Bool {
        try isTold([
            "AppDelegate.swift":
                "class AppDelegate: UIResponder, UIApplicationDelegate {\nfunc application(_ a: "
                + "UIApplication, handleEventsForBackgroundURLSession i: String, "
                + "completionHandler: @escaping () -> Void) {\n\(keep)\n}\n}",
            "Loads.swift":
                "final class Loads: \(bases) {\nstatic let shared = Loads()\n\(property)\n"
                + "lazy var s = URLSession(configuration: .background(withIdentifier: \"a\"), "
                + "delegate: self, delegateQueue: nil)\n}\nextension Loads: "
                + "URLSessionDownloadDelegate {\n"
                + swiftEnd.replacing("END", with: end) + "\n}",
            "More.swift": more,
        ])
    }

    @Test("nothing in Swift calls it")
    func swift() throws {
        #expect(try Self.isToldInSwift())
        #expect(try Self.isToldInSwift(end: "DispatchQueue.main.async { self.done = nil }"))
        #expect(try Self.isToldInSwift(end: "print(\"All is done.\")"))
        #expect(try Self.isToldInSwift(more: "// done"))
        #expect(try Self.isToldInSwift(end: "if done != nil { print(1) }"))
        #expect(
            try Self.isToldInSwift(
                end: "let end = self.done\ndone = nil\npending = end == nil ? 0 : 1"))
        #expect(
            try Self.isToldInSwift(property: "private(set) var other = 1\n" + Self.swiftProperty))
    }

    @Test("a property of the app delegate is the object that keeps it")
    func ownProperty() throws {
        for property in [
            "let loads = Loads()", "lazy var loads = Loads.shared", "let loads: Loads",
        ] {
            for object in ["loads", "self.loads"] {
                let keep = "\(object).done = completionHandler\n}\n\(property)\nfunc go() {"
                #expect(try Self.isToldInSwift(keep), "\(keep)")
                #expect(try !Self.isToldInSwift(keep, end: "done?()"), "\(keep)")
            }
        }
        let guarded =
            "guard i == Loads.id else {\ncompletionHandler()\nreturn\n}\n"
            + "Loads.shared.done = completionHandler"
        #expect(try Self.isToldInSwift(guarded))
        #expect(try !Self.isToldInSwift(guarded, end: "done?()"))
        let local = "let loads = Loads.shared\nloads.done = completionHandler\nloads.start()"
        #expect(try Self.isToldInSwift(local))
        #expect(try !Self.isToldInSwift(local, end: "done?()"))
        for unknown in [
            "let loads = make()", "var loads = Loads.shared\nloads = other",
            "let loads = Loads.shared.next",
        ] {
            #expect(try !Self.isToldInSwift(unknown + "\nloads.done = completionHandler"))
        }
    }

    @Test(
        "something in Swift may call it",
        arguments: [
            "done?()", "self.done?()\nself.done = nil", "if let done { done() }",
            "guard let end = done else { return }\nend()", "queue.run(done)",
            "let end = done\ndone = nil\nend?()", "let end = done\nrun(end)",
            "guard\nlet end = done\nelse { return }\nend()", "let end = done ?? other\nend()",
            "if let end = done {\nend()\n}", "perform(#selector(getter: done))",
            "run(\\.done)", "value(forKey: \"done\")", "value(forKeyPath: \"shared.done\")",
            "print(\"\\(run(done))\")",
        ])
    func calledInSwift(end: String) throws {
        #expect(try !Self.isToldInSwift(end: end))
        #expect(try !Self.isToldInSwift(more: "func f() {\n\(end)\n}"))
    }

    @Test("a property in Swift of which more is to be known")
    func otherProperty() throws {
        for property in [
            "var done: (() -> Void)? { didSet { oldValue?() } }", "@Kept var done: (() -> Void)?",
            "public var done: (() -> Void)?", "",
            "var done: (() -> Void)? {\nset { run(newValue) }"
                + "\nget { nil }\n}",
        ] {
            #expect(try !Self.isToldInSwift(property: property), "\(property)")
        }
        #expect(try !Self.isToldInSwift(bases: "SDKLoads"))
        #expect(try !Self.isToldInSwift(bases: "NSObject, SDKHandler"))
        #expect(try !Self.isToldInSwift("SDK.shared.done = completionHandler"))
        #expect(try !Self.isToldInSwift("loads.done = completionHandler"))
        #expect(try !Self.isToldInSwift("Loads.shared.done = { completionHandler() }"))
        #expect(try !Self.isToldInSwift("a.Loads.shared.done = completionHandler"))
        #expect(
            try !Self.isToldInSwift("Loads.shared.done = completionHandler\ncompletionHandler()"))
    }

    // MARK: Objective-C

    private static let header =
        "@interface Loads : NSObject <NSURLSessionDownloadDelegate>\n"
        + "@property (nonatomic, copy) void (^done)(void);\n+ (instancetype)shared;\n@end"

    private static func isToldInObjectiveC(
        _ keep: String = "[Loads shared].done = handler;", end: String = "NSLog(@\"All done\");",
        header: String = header, more: String = ""
    ) throws -> Bool {
        try isTold([
            "AppDelegate.m":
                "@implementation AppDelegate\n- (void)application:(UIApplication *)a "
                + "handleEventsForBackgroundURLSession:(NSString *)i completionHandler:"
                + "(void (^)(void))handler {\n\(keep)\n}\n@end",
            "Loads.h": header,
            "Loads.m":
                "@implementation Loads\n- (id)init {\nNSURLSessionConfiguration *c = "
                + "[NSURLSessionConfiguration backgroundSessionConfigurationWithIdentifier:@\"a\"];"
                + "\n_s = [NSURLSession sessionWithConfiguration:c delegate:self "
                + "delegateQueue:nil];\nreturn self;\n}\n"
                + "- (void)URLSessionDidFinishEventsForBackgroundURLSession:(NSURLSession *)s {\n"
                + "\(end)\n}\n@end",
            "More.m": more,
        ])
    }

    @Test(
        "nothing in Objective-C calls it",
        arguments: [
            "[Loads shared].done = handler;", "Loads.shared.done = handler;",
            "[Loads shared].done = [handler copy];", "[[Loads shared] setDone:handler];",
        ])
    func objectiveC(keep: String) throws {
        #expect(try Self.isToldInObjectiveC(keep))
        #expect(
            try Self.isToldInObjectiveC(
                keep, end: "dispatch_async(q, ^{ self.done = nil; [self setDone:nil]; });"))
        #expect(
            try Self.isToldInObjectiveC(
                keep,
                end: "void (^end)(void) = self.done;\nself.done = nil;\nif (end) { log(1); }"))
    }

    @Test(
        "something in Objective-C may call it",
        arguments: [
            "self.done();", "if (_done) { _done(); _done = nil; }", "[self done]();",
            "void (^end)(void) = self.done;\nself.done = nil;\nend();",
            "void (^end)(void) = self.done;\nif (end) { dispatch_async(q, end); }",
            "if (self.done) self.done();", "[self run:self.done];",
            "[self valueForKey:@\"done\"];", "dispatch_async(q, self.done);",
        ])
    func calledInObjectiveC(end: String) throws {
        #expect(try !Self.isToldInObjectiveC(end: end))
        #expect(try !Self.isToldInObjectiveC(more: "void f(Loads *self) {\n\(end)\n}"))
    }

    @Test("a property in Objective-C of which more is to be known")
    func otherPropertyInObjectiveC() throws {
        for (old, new) in [
            ("copy", "copy, getter=end"), ("NSObject <", "Base <"),
            ("NSURLSessionDownloadDelegate", "SDKHandler"), ("^done", "^other"),
        ] {
            let header = Self.header.replacing(old, with: new)
            #expect(try !Self.isToldInObjectiveC(header: header), "\(new)")
        }
        for keep in [
            "[SDK shared].done = handler;", "loads.done = handler;",
            "[[Loads shared] keep:handler];", "[Loads shared].done = ^{ handler(); };",
        ] {
            #expect(try !Self.isToldInObjectiveC(keep), "\(keep)")
        }
        let setter = "- (void)setDone:(void (^)(void))done { done(); }"
        #expect(try !Self.isToldInObjectiveC(end: "}\n\(setter)\n- (void)f {"))
        #expect(
            try !Self.isToldInObjectiveC(
                more: "@interface Other : NSObject\n@end\n@implementation Other\n@synthesize done;"
                    + "\n@end"))
    }
}
