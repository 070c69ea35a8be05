// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// The completion handlers of the events of background sessions.
@Suite("Completion handlers of the events of transfers")
struct TransferCompletionTests {
    private static let objectiveC =
        "- (void)application:(UIApplication *)a handleEventsForBackgroundURLSession:(NSString *)i "
        + "completionHandler:(void (^)(void))handler {\n"
    private static let property =
        "@interface AppDelegate ()\n@property (nonatomic, copy) void (^done)(void);\n@end\n"
    private static let session =
        "@implementation Loads\n- (id)init {\nNSURLSessionConfiguration *c = "
        + "[NSURLSessionConfiguration backgroundSessionConfigurationWithIdentifier:@\"a\"];\n"
        + "_s = [NSURLSession sessionWithConfiguration:c delegate:self delegateQueue:nil];\n"
        + "return self;\n}\n@end"

    /// What rule CF046 finds in an app delegate with this handler, and some other files.
    private static func found(
        _ body: String, _ rest: String = "", header: String = property,
        more: [String: String] = ["Loads.m": session]
    ) throws -> [String] {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([("LSRequiresIPhoneOS", "<true/>")]), to: "App/Info.plist")
        try folder.write(
            header + "@implementation AppDelegate\n\(objectiveC)\(body)\n}\n\(rest)\n@end",
            to: "App/AppDelegate.m")
        for (name, text) in more { try folder.write(text, to: "App/" + name) }
        return try Audit(paths: [folder.path]).report().findings
            .filter { $0.diagnostic.rule == "CF046" }.map(\.diagnostic.message)
    }

    private static func isKept(_ messages: [String]) -> Bool {
        messages.contains { $0.contains("is kept, and nothing calls it") }
    }

    @Test(
        "a property that nothing calls",
        arguments: ["self.done = handler;", "_done = handler;", "self.done = [handler copy];"])
    func keptForNothing(body: String) throws {
        #expect(Self.isKept(try Self.found(body)))
        #expect(Self.isKept(try Self.found(body, "- (void)reset { self.done = nil; }")))
    }

    @Test(
        "a property that something may call",
        arguments: [
            ("self.done = handler;", "- (void)end { self.done(); }"),
            ("self.done = handler;", "- (void)end { if (_done) { _done(); } }"),
            ("self.done = handler;", "- (id)end { return [self valueForKey:@\"done\"]; }"),
            ("self.done = handler;", "- (void)end { [self run:self.done]; }"),
            ("self.other.done = handler;", ""), ("other->done = handler;", ""),
            ("[self setDone:handler];", ""), ("self.done[i] = handler;", ""),
            ("self.done = handler;\n[self take:handler];", ""),
        ])
    func used(body: String, rest: String) throws {
        #expect(!Self.isKept(try Self.found(body, rest)), "\(body) \(rest)")
    }

    @Test(
        "another file may call it",
        arguments: [
            "void f(AppDelegate *d) { d.done(); }", "void f(AppDelegate *d) { [d done](); }",
            "void f(AppDelegate *d) { [d setDone:nil]; }", "// done",
        ])
    func otherFile(text: String) throws {
        let files = ["Loads.m": Self.session, "Use.m": text]
        #expect(!Self.isKept(try Self.found("self.done = handler;", more: files)))
    }

    @Test("a property of a header, or of a base, may be used elsewhere")
    func header() throws {
        #expect(!Self.isKept(try Self.found("self.done = handler;", header: "")))
        let named = Self.property.replacing("copy", with: "copy, getter=pendingEvents")
        #expect(!Self.isKept(try Self.found("self.done = handler;", header: named)))
        let without = "@implementation Loads\n- (void)load { }\n@end"
        #expect(
            !Self.isKept(try Self.found("self.done = handler;", more: ["Loads.m": without])))
    }

    @Test("a property in Swift that nothing calls")
    func swift() throws {
        func isKept(_ declaration: String, _ base: String, _ more: String = "") throws -> Bool {
            let folder = try TestFolder()
            try folder.write(
                XML.dictionary([("LSRequiresIPhoneOS", "<true/>")]), to: "App/Info.plist")
            try folder.write(
                "class AppDelegate: \(base) {\n\(declaration)\n"
                    + "func application(_ a: UIApplication, "
                    + "handleEventsForBackgroundURLSession i: String, completionHandler: "
                    + "@escaping () -> Void) {\ndone = completionHandler\n}\n}\n"
                    + "class L: NSObject { lazy var s = URLSession(configuration: "
                    + ".background(withIdentifier: \"a\"), delegate: self, delegateQueue: nil) }",
                to: "App/A.swift")
            try folder.write(more, to: "App/B.swift")
            return Self.isKept(
                try Audit(paths: [folder.path]).report().findings.map(\.diagnostic.message))
        }
        let plain = "UIResponder, UIApplicationDelegate"
        #expect(try isKept("var done: (() -> Void)?", plain))
        #expect(try isKept("private var done: (() -> Void)?", plain + ", Hosted"))
        #expect(try !isKept("var done: (() -> Void)?", plain + ", Hosted"))
        #expect(try !isKept("public var done: (() -> Void)?", plain))
        #expect(try !isKept("@Published var done: (() -> Void)?", plain))
        #expect(try !isKept("@Shared private var done: (() -> Void)?", plain))
        #expect(try !isKept("@Shared\nprivate var done: (() -> Void)?", plain))
        #expect(
            try !isKept("private var done: (() -> Void)?\n{\nwillSet { run(newValue) }\n}", plain))
        #expect(try !isKept("var done: (() -> Void)? { didSet { done?() } }", plain))
        #expect(try !isKept("var done: (() -> Void)?\nfunc f() { done?() }", plain))
        #expect(
            try !isKept("var done: (() -> Void)?", plain, "func f(_ a: AppDelegate) { a.done?() }"))
        #expect(try !isKept("", plain))
        // The launch copies it while it is nil, into an object with a property of that name.
        func isCopied(_ copy: String, _ loader: String, launch: String = "Launching") throws -> Bool
        {
            try isKept(
                "var done: (() -> Void)?\nfunc application(_ a: UIApplication, "
                    + "didFinish\(launch)WithOptions o: O) -> Bool {\n\(copy)\nreturn true\n}",
                plain, loader)
        }
        let loader =
            "class Loader { var done: (() -> Void)?\nfunc end() { done?()\nself.done = nil } }"
        #expect(try isCopied("loader.done = done", loader))
        #expect(try isCopied("if var l = make() {\nl.done = self.done\nuse(l)\n}", loader))
        #expect(try isCopied("loader.done = done", "protocol P { var done: D { get set } }"))
        #expect(try !isCopied("loader.done = done", loader, launch: "Loading"))
        #expect(try !isCopied("loader.done = { self.done?() }", loader))
        #expect(try !isCopied("later { loader.done = self.done }", loader))
        #expect(try !isCopied("loader.done = done ?? { }", loader))
        #expect(try !isCopied("loader.done = done", loader + "\nfunc f(_ a: A) { a.done?() }"))
        #expect(
            try !isCopied(
                "loader.done = done", loader + "\nextension AppDelegate { func f() { done?() } }"))
    }

    @Test("a dictionary or a static property that nothing reads")
    func otherProperties() throws {
        func isKept(_ property: String, _ keep: String, _ more: String = "") throws -> Bool {
            let folder = try TestFolder()
            try folder.write(
                XML.dictionary([("LSRequiresIPhoneOS", "<true/>")]), to: "App/Info.plist")
            try folder.write(
                "class AppDelegate: UIResponder, UIApplicationDelegate {\n\(property)\n"
                    + "func application(_ a: UIApplication, "
                    + "handleEventsForBackgroundURLSession i: String, completionHandler: "
                    + "@escaping () -> Void) {\n\(keep) = completionHandler\n}\n}\n"
                    + "class L: NSObject { lazy var s = URLSession(configuration: "
                    + ".background(withIdentifier: \"a\"), delegate: self, delegateQueue: nil) }",
                to: "App/A.swift")
            try folder.write(more, to: "App/B.swift")
            return Self.isKept(
                try Audit(paths: [folder.path]).report().findings.map(\.diagnostic.message))
        }
        let all = "var all: [String: () -> Void] = [:]"
        let one = "static var done: (() -> Void)?"
        #expect(try isKept(all, "all[i]"))
        #expect(try isKept("private " + all, "self.all[i]"))
        for keep in ["Self.done", "AppDelegate.done"] {
            #expect(try isKept(one, keep), "\(keep)")
            #expect(try !isKept(one, keep, "func f() { AppDelegate.done?() }"), "\(keep)")
            #expect(try !isKept(one + "\nstatic func f() { done?() }", keep), "\(keep)")
            #expect(try !isKept(one + " { didSet { done?() } }", keep), "\(keep)")
        }
        #expect(try isKept("var done: (() -> Void)?\nfunc f() { log(done != nil) }", "done"))
        #expect(
            try !isKept("var done: (() -> Void)?\nfunc f() { if done != nil { done!() } }", "done"))
        #expect(try !isKept(all, "other.all[i]"))
        #expect(try !isKept(all, "all[i]", "func f(_ a: AppDelegate) { a.all[\"a\"]?() }"))
        #expect(try !isKept(all, "all[i]", "protocol P { var all: [String: () -> Void] { get } }"))
        #expect(try !isKept(all, "all[i]?[\"a\"]"))
        for property in [
            all + " {\ndidSet { run(all) }\n}", "@Shared " + all, "@objc dynamic public " + all,
            all + "\nfunc f() { all.values.forEach { $0() } }",
            all + "\nfunc f() { all.removeValue(forKey: \"a\")?() }",
            "var all: [String: () -> Void] {\nget { x.all }\nset { x.all = newValue }\n}",
            "var all: Keeper = Keeper()", "let all = Keeper()", "",
        ] {
            #expect(try !isKept(property, "all[i]"), "\(property)")
        }
    }

    @Test("a handler of Objective-C that completes at once")
    func atOnce() throws {
        func isTold(_ body: String, _ files: [String: String]) throws -> Bool {
            try Self.found(body, more: files).contains { $0.contains("before they come") }
        }
        let files = ["Loads.m": Self.session]
        for body in [
            "handler();", "if (handler) { handler(); }", "if (handler != nil) {\nhandler();\n}",
            "[Loads shared];\nif (handler) handler();",
        ] {
            #expect(try isTold(body, files), "\(body)")
            for other in [
                Self.session.replacing("delegate:self", with: "delegate:queue"),
                Self.session.replacing("WithConfiguration:c", with: "WithConfiguration:d"),
                Self.session.replacing("backgroundSession", with: "defaultSession"),
            ] {
                #expect(try !isTold(body, ["Loads.m": other]), "\(body)")
            }
        }
        for body in [
            "self.done = handler;", "if ([i isEqual:@\"a\"]) { handler(); }",
            "if (handler && on) { handler(); }", "[sdk handle:handler];",
            "[sdk load:^{ handler(); }];", "if (handler) { self.done = handler; }",
            "if (handler) { [sdk end:^{ handler(); }]; }", "if (!own) handler();",
            "if (own) { [self keep]; } else handler();", "if (!own)\nreturn handler();",
            "own ? [self keep] : handler();",
        ] {
            #expect(try !isTold(body, files), "\(body)")
        }
    }
}
