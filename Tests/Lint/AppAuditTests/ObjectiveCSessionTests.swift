// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Background sessions in Objective-C: their delegates, and the tasks that they start.
@Suite("Background sessions in Objective-C")
struct ObjectiveCSessionTests: SourceFaultSuite {
    private static let configuration =
        "NSURLSessionConfiguration *c = [NSURLSessionConfiguration "
        + "backgroundSessionConfigurationWithIdentifier:@\"a\"];\n"
    private static let make =
        "[NSURLSession sessionWithConfiguration:c delegate:self delegateQueue:nil]"
    private static let bare = "[NSURLSession sessionWithConfiguration:c]"
    private static let property = "@property (nonatomic, strong) NSURLSession *s;\n"
    private static let closure = "downloadTaskWithURL:u completionHandler:^(NSURL *l) { }"
    private static let data = "uploadTaskWithRequest:r fromData:[self body]"

    /// A class that makes a session when it is created, and starts a task.
    private static func loads(
        _ setup: String, _ use: String = "", declared: String = property, more: String = ""
    ) -> String {
        "@interface Loads ()\n\(declared)@end\n@implementation Loads\n- (id)init {\n\(setup)\n"
            + "return self;\n}\n- (void)load:(NSURL *)u with:(NSURLRequest *)r {\n\(use)\n}\n"
            + "\(more)\n@end"
    }

    private static func found(
        _ setup: String, _ use: String = "", declared: String = property, more: String = ""
    ) -> Set<Fault> {
        faults(loads(setup, use, declared: declared, more: more), "Loads.m")
    }

    @Test(
        "a session without a delegate",
        arguments: [
            configuration + "_s = \(bare);",
            configuration + "self.s = [NSURLSession sessionWithConfiguration:c delegate:nil "
                + "delegateQueue:[NSOperationQueue mainQueue]];",
            configuration + "NSURLSession *s = \(bare);\n[[s downloadTaskWithURL:u] resume];",
            configuration + "[[\(bare) downloadTaskWithURL:u] resume];",
            configuration + "return [[Client alloc] initWithSession:\(bare)];",
            "NSURLSession *s = [NSURLSession sessionWithConfiguration:[NSURLSessionConfiguration "
                + "backgroundSessionConfigurationWithIdentifier:name] delegate:NULL "
                + "delegateQueue:nil];",
            "NSURLSessionConfiguration *c;\nif (new) { c = [NSURLSessionConfiguration "
                + "backgroundSessionConfigurationWithIdentifier:i]; } else { c = "
                + "[NSURLSessionConfiguration backgroundSessionConfiguration:i]; }\n_s = \(bare);",
        ])
    func withoutDelegate(setup: String) {
        #expect(Self.found(setup) == [.sessionWithoutDelegate])
    }

    @Test(
        "a session with a delegate, one that is not in the background, or one that ends",
        arguments: [
            configuration + "_s = \(make);",
            configuration + "_s = [NSURLSession sessionWithConfiguration:c delegate:delegate "
                + "delegateQueue:nil];",
            "NSURLSessionConfiguration *c = [NSURLSessionConfiguration "
                + "defaultSessionConfiguration];\n_s = \(bare);",
            "NSURLSessionConfiguration *c = background ? [NSURLSessionConfiguration "
                + "backgroundSessionConfigurationWithIdentifier:i] : [NSURLSessionConfiguration "
                + "defaultSessionConfiguration];\n_s = \(bare);",
            configuration + "if (!on) {\nc = [NSURLSessionConfiguration "
                + "ephemeralSessionConfiguration];\n}\n_s = \(bare);",
            configuration + "[self change:&c];\n_s = \(bare);",
            configuration + "self.other = c;\n_s = [NSURLSession sessionWithConfiguration:d];",
            configuration + "NSURLSession *s = \(bare);\n[s invalidateAndCancel];",
            configuration + "[\(bare) invalidateAndCancel];",
            configuration + "NSURLSession *s = \(bare);\n[s getAllTasksWithCompletionHandler:"
                + "^(NSArray *t) { for (id x in t) { [x cancel]; } }];",
            configuration + "self.s = \(bare);\n[self.s getTasksWithCompletionHandler:h];",
            // The app has the session's delegate.
            configuration + "c.sharedContainerIdentifier = @\"group.a\";\n_s = \(bare);",
            configuration + "_s = [Session sessionWithConfiguration:c];",
            configuration + "_s = [[AFHTTPSessionManager alloc] initWithSessionConfiguration:c];",
        ])
    func withDelegate(setup: String) { #expect(Self.found(setup) == []) }

    @Test(
        "a task with a closure, or with data, in a property's session",
        arguments: [
            ("self.s", ""), ("_s", ""), ("[self s]", ""),
            ("session", "NSURLSession *session = self.s;\n"),
            ("session", "NSURLSession *session = [self s];\n"),
            ("session", "__strong NSURLSession *session = _s;\n"),
        ])
    func tasks(receiver: String, before: String) {
        for assignment in ["_s = ", "self.s = "] {
            let setup = Self.configuration + assignment + Self.make + ";"
            for (task, fault) in [
                (Self.closure, Fault.closureInBackgroundSession),
                (Self.data, .dataInBackgroundSession),
            ] {
                let start = before + "id t = [\(receiver) \(task)];\n[t resume];"
                #expect(Self.found(setup, start) == [fault], "\(start)")
                #expect(
                    Self.found(setup, before + "[[\(receiver) \(task)] resume];") == [fault],
                    "\(start)")
            }
            for task in [
                "downloadTaskWithURL:u", "uploadTaskWithRequest:r fromFile:u",
                "downloadTaskWithURL:u completionHandler:nil",
                "dataTaskWithRequest:r completionHandler:done",
                "uploadTaskWithRequest:r fromData:nil",
            ] {
                let start = before + "[[\(receiver) \(task)] resume];"
                #expect(Self.found(setup, start) == [], "\(start)")
            }
        }
    }

    @Test("a session of a local variable, of a static one, or of a method")
    func names() {
        let closure = Fault.closureInBackgroundSession
        let local = Self.configuration + "NSURLSession *s = \(Self.make);\n"
        #expect(Self.found("", local + "[[s \(Self.closure)] resume];") == [closure])
        #expect(Self.found("", local + "[[s downloadTaskWithURL:u] resume];") == [])
        let once =
            "- (NSURLSession *)shared {\nstatic NSURLSession *s = nil;\nstatic dispatch_once_t o;"
            + "\ndispatch_once(&o, ^{\n\(Self.configuration)s = \(Self.make);\n});\nreturn s;\n}"
        for receiver in ["[self shared]", "self.shared"] {
            #expect(
                Self.found("", "[\(receiver) \(Self.closure)];", declared: "", more: once)
                    == [closure])
        }
        #expect(
            Self.found(
                "self.s = [self shared];", "[self.s \(Self.closure)];", more: once) == [closure])
        let lazy =
            "- (NSURLSession *)s {\nif (_s == nil) {\n\(Self.configuration)_s = \(Self.make);\n}\n"
            + "return _s;\n}"
        #expect(Self.found("", "[self.s \(Self.closure)];", more: lazy) == [closure])
        let global = "static NSURLSession *shared;\n"
        #expect(
            Self.faults(
                global
                    + Self.loads(
                        Self.configuration + "shared = \(Self.make);", "[shared \(Self.closure)];"),
                "Loads.m") == [closure])
    }

    @Test(
        "a session that may be another one",
        arguments: [
            // It is set to another one too.
            (
                configuration + "_s = \(make);\nif (on) { self.s = [NSURLSession sharedSession]; }",
                ""
            ),
            (configuration + "_s = on ? \(make) : [NSURLSession sharedSession];", ""),
            (
                configuration + "_s = \(make);",
                "self.s = [NSURLSession sessionWithConfiguration:d];"
            ),
            (configuration + "_s = \(make);", "[other setS:[NSURLSession sharedSession]];"),
            (configuration + "_s = [self make:c];", ""),
            ("_s = [NSURLSession sharedSession];\n" + configuration + "self.t = \(make);", ""),
        ])
    func otherSession(setup: String, use: String) {
        #expect(Self.found(setup, use + "[[self.s \(Self.closure)] resume];") == [])
    }

    @Test("a name of another variable, of a property of a header, or of another object")
    func otherNames() {
        let setup = Self.configuration + "_s = \(Self.make);"
        let start = "[[self.s \(Self.closure)] resume];"
        #expect(Self.found(setup, start) == [.closureInBackgroundSession])
        // Other files may set it.
        #expect(Self.found(setup, start, declared: "") == [])
        #expect(Self.found(setup, "[[other.s \(Self.closure)] resume];") == [])
        #expect(Self.found(setup, "[[NSURLSession.sharedSession \(Self.closure)] resume];") == [])
        #expect(
            Self.found(
                setup, "NSURLSession *s = [NSURLSession sharedSession];\n[s \(Self.closure)];")
                == [])
        #expect(
            Self.found(setup, "[self with:^(NSURLSession *s) { [s \(Self.closure)]; }];") == [])
        #expect(
            Self.found(
                setup, more: "- (void)run:(NSURLSession *)s { [s \(Self.closure)]; }") == [])
        #expect(
            Self.faults(
                Self.loads(setup) + "\n@implementation Other\n- (void)run { \(start) }\n@end",
                "Loads.m") == [])
        // A getter gives another one at times.
        #expect(
            Self.found(
                setup, start,
                more: "- (NSURLSession *)s { return on ? _s : [NSURLSession sharedSession]; }")
                == [])
        #expect(
            Self.found(
                setup, start,
                more: "- (NSURLSession *)s {\nif (on) { return [self other]; }\nreturn _s;\n}")
                == [])
        #expect(Self.found(setup, "[[self.client \(Self.closure)] resume];") == [])
    }
}
