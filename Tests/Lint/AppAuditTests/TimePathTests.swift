// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Paths behind a call for time in the background, with and without its end.
@Suite("Paths behind a call for time in the background")
struct TimePathTests: SourceFaultSuite {
    private static let open: Set<Fault> = [.assertionPathWithoutEnd]

    /// A local identifier whose expiration handler ends the time, and what is behind it.
    private static func local(_ body: String) -> Set<Fault> {
        faults(
            "class A {\nfunc f() {\nlet app = UIApplication.shared\n"
                + "var id = UIBackgroundTaskIdentifier.invalid\n"
                + "id = app.beginBackgroundTask {\napp.endBackgroundTask(id)\nid = .invalid\n}\n"
                + "\(body)\n}\n}")
    }

    @Test(
        "a comparison with the invalid identifier ends no time",
        arguments: [
            "guard id != .invalid else { return }\n"
                + "guard let data = load() else { return }\napp.endBackgroundTask(id)",
            "guard id != .invalid else { return }\n"
                + "if data.isEmpty { return }\napp.endBackgroundTask(id)",
            "guard id != .invalid else { return }\n"
                + "Task {\ndo {\ntry await send()\napp.endBackgroundTask(id)\nid = .invalid\n"
                + "} catch { print(error) }\n}",
            "if id == .invalid { return }\nsend { result in\nswitch result {\n"
                + "case .success: app.endBackgroundTask(id)\ncase .failure: print(1)\n}\n}",
        ])
    func comparedLocal(body: String) {
        #expect(Self.local(body) == Self.open)
    }

    @Test(
        "time that each path with an identifier ends",
        arguments: [
            "guard id != .invalid else { return }\napp.endBackgroundTask(id)",
            "if id != .invalid { app.endBackgroundTask(id) }",
            "if id == .invalid { return }\nsend { app.endBackgroundTask(id) }",
            "send {\nif id != .invalid {\napp.endBackgroundTask(id)\nid = .invalid\n}\n}",
            "send {\nguard id != .invalid else { return }\napp.endBackgroundTask(id)\n}",
            "guard id != .invalid, let data = load() else { return }\napp.endBackgroundTask(id)",
            "while id != .invalid {\nwork()\nif done {\napp.endBackgroundTask(id)\n"
                + "id = .invalid\n}\n}",
            "Task {\ndefer { if id != .invalid { app.endBackgroundTask(id) } }\n"
                + "try await send()\n}",
            "guard id != .invalid else { return }\nkeep(id)",
            "guard id != .invalid else { return }\ncurrent = id",
            "guard id != .invalid else { return }\nlet end = { app.endBackgroundTask(id) }\n"
                + "guard let data = load() else { return end() }\nend()",
            "guard id != .invalid else { return }\n"
                + "do { try send() } catch { print(error) }\napp.endBackgroundTask(id)",
        ])
    func endedLocal(body: String) {
        #expect(Self.local(body) == [])
    }

    @Test("a local identifier has the name of another variable of the file")
    func nameOfAnother() {
        func faults(_ rest: String, after: String = "") -> Set<Fault> {
            Self.faults(
                "func keep() async {\nvar id = UIBackgroundTaskIdentifier.invalid\n"
                    + "id = UIApplication.shared.beginBackgroundTask {\n"
                    + "UIApplication.shared.endBackgroundTask(id)\nid = .invalid\n}\n"
                    + "await work()\n\(after)\n}\n\(rest)")
        }
        let other =
            "final class B {\nprivate var id = UIBackgroundTaskIdentifier.invalid\n"
            + "deinit { UIApplication.shared.endBackgroundTask(id) }\n}\nlet name = \"id\""
        #expect(faults(other) == [.assertionEndedByExpiration])
        #expect(faults(other, after: "UIApplication.shared.endBackgroundTask(id)") == [])
        #expect(faults(other, after: "kept.append(id)") == [])
    }

    /// A property whose expiration handler calls what ends the time, and what is behind it.
    private static func kept(
        _ body: String, _ rest: String = "", finish: String = "private func finish()"
    ) -> Set<Fault> {
        faults(
            "class A {\nprivate var id: UIBackgroundTaskIdentifier = .invalid\nfunc f() {\n"
                + "guard id == .invalid else { return }\n"
                + "id = UIApplication.shared.beginBackgroundTask { [weak self] in "
                + "self?.finish() }\n\(body)\n}\n\(finish) {\n"
                + "guard id != .invalid else { return }\n"
                + "UIApplication.shared.endBackgroundTask(id)\nid = .invalid\n}\n\(rest)\n}")
    }

    private static let failing = [
        "client.load { result in\nswitch result {\ncase .success: self.finish()\n"
            + "case .failure(let error): print(error)\n}\n}",
        "client.load { result in\nDispatchQueue.main.async {\nswitch result {\n"
            + "case .success(let all):\nself.keep(all)\nself.finish()\n"
            + "case .failure: break\n}\n}\n}",
        "client.load { data, error in\nif let error { return print(error) }\nself.finish()\n}",
        "client.load { data, error in\nguard error == nil else { return }\nself.finish()\n}",
        "client.load { data, error in\nif error != nil {\nprint(1)\n} else {\nself.finish()\n}\n}",
        "client.load { data, error in\nif error == nil, data.count > 0 { self.finish() }\n}",
        "client.load { result in\nif case .failure(let error) = result { return }\n"
            + "self.finish()\n}",
    ]

    @Test("an end only where nothing failed", arguments: failing)
    func failed(body: String) {
        #expect(Self.kept(body) == Self.open)
        // Others may end it.
        #expect(Self.kept(body, finish: "func finish()") == [])
        #expect(Self.kept(body, "func stop() { finish() }") == [])
        #expect(Self.kept(body, "deinit { finish() }") == [])
        #expect(Self.kept(body, "func g() { center.add(self, #selector(finish)) }") == [])
        #expect(
            Self.kept(body, "func g() { UIApplication.shared.endBackgroundTask(id) }") == [])
        // Another attempt begins where the first one ended.
        for again in ["self.f()", "self.retry()"] {
            let retried = body.replacing("print(", with: "\(again)\nprint(")
            if retried != body {
                #expect(Self.kept(retried, "private func retry() { wait { self.f() } }") == [])
            }
        }
    }

    @Test(
        "an end on each path behind which nothing more comes",
        arguments: [
            "client.load { result in\nswitch result {\ncase .success: self.keep()\n"
                + "case .failure(let error): print(error)\n}\nself.finish()\n}",
            "client.load { result in\nswitch result {\ncase .success: self.finish()\n"
                + "case .failure: self.finish()\n}\n}",
            "client.load { data, error in\ndefer { self.finish() }\n"
                + "if let error { return print(error) }\nself.keep(data)\n}",
            "client.load { data, error in\nguard error == nil else { return self.finish() }\n"
                + "self.finish()\n}",
            "client.load { data, error in\nif error != nil && isLast { return }\nself.finish()\n}",
            "client.load { data, error in\nif error == nil || isLast { self.finish() }\n}",
            // What may come again.
            "client.load { isLast in\nif isLast { self.finish() }\n}",
            "client.load { page in\nguard page.isLast else { return }\nself.finish()\n}",
            "client.sink { result in\nif case .failure = result { return }\nself.finish()\n}",
            "for page in pages {\nclient.load(page) { data, error in\n"
                + "if error != nil { return }\nself.finish()\n}\n}",
            // What gets the function may call it.
            "if isFast {\nfinish()\nreturn\n}\nclient.load(completion: finish)",
            "client.load { data, error in\nguard error == nil else { return self.end() }\n"
                + "self.finish()\n}",
        ])
    func endedKept(body: String) {
        #expect(Self.kept(body, body.contains("self.end()") ? "func end() { finish() }" : "") == [])
    }

    @Test("a function of the file that calls its closure once")
    func calledOnce() {
        let body = "upload { ok in if ok { self.finish() } }"
        func upload(_ calls: String) -> String {
            "private func upload(_ done: @escaping (Bool) -> Void) {\n\(calls)\n}"
        }
        let once =
            "s.dataTask(with: r) { d, _, e in\n"
            + "if e != nil { done(false) } else { done(true) }"
        #expect(Self.kept(body, upload(once + "\n}.resume()")) == Self.open)
        #expect(Self.kept(body, upload("for i in items { done(i) }")) == [])
        #expect(Self.kept(body, upload("done(false)\ndone(true)")) == [])
        #expect(Self.kept(body, upload("kept = done")) == [])
        #expect(Self.kept(body, upload("load(done)")) == [])
        #expect(Self.kept(body, upload("other.load { done(true) }")) == [])
    }

    @Test("other files may end the time of a property that they can use")
    func otherFiles() {
        func notes(_ finish: String) -> [SourceDigest.OtherUses?] {
            let source =
                "class A {\nvar id: UIBackgroundTaskIdentifier = .invalid\nfunc f() {\n"
                + "id = UIApplication.shared.beginBackgroundTask { self.finish() }\n"
                + "load { data, error in\nif error != nil { return }\nself.finish()\n}\n}\n"
                + "\(finish) { UIApplication.shared.endBackgroundTask(id) }\n}"
            let text = SourceText(Array(source.utf8), path: "a.swift")
            return SourceReader.digest(of: text).entries
                .filter { $0.observation.subject == .fault(.assertionPathWithoutEnd) }
                .map(\.others)
        }
        #expect(notes("private func finish()").map { $0?.identifiers } == [["id"]])
        #expect(notes("private func finish()").map { $0?.ends } == [[]])
        #expect(notes("func finish()").map { $0?.ends } == [["finish"]])
        #expect(notes("@objc func finish()").isEmpty)
    }

    /// The places of the fault in an app with an app delegate of Objective-C and another file.
    private static func lines(_ source: String, other: String = "") throws -> [Int?] {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([
                ("CFBundlePackageType", "<string>APPL</string>"), ("LSRequiresIPhoneOS", "<true/>"),
            ]), to: "Info.plist")
        try folder.write(source, to: "AppDelegate.m")
        try folder.write("@implementation Client\n\(other)\n@end", to: "Client.m")
        return try Audit(paths: [folder.path]).report().findings.filter { finding in
            finding.diagnostic.message.contains("a path behind")
        }
        .map { $0.diagnostic.line }
    }

    @Test("an app delegate of Objective-C ends its time only where nothing failed")
    func appDelegate() throws {
        func source(_ failure: String, condition: String = "error != nil") -> String {
            """
            @interface AppDelegate ()
            @property (nonatomic, assign) UIBackgroundTaskIdentifier work;
            @end
            @implementation AppDelegate
            - (void)applicationDidEnterBackground:(UIApplication *)application {
                self.work = [application beginBackgroundTaskWithName:@"a" expirationHandler:^{
                    [self finish];
                }];
                [self.client loadWithCompletion:^(NSArray *all, NSError *error) {
                    if (\(condition)) {
                        \(failure)
                        return;
                    }
                    dispatch_async(dispatch_get_main_queue(), ^{ [self finish]; });
                }];
            }
            - (void)finish {
                [[UIApplication sharedApplication] endBackgroundTask:self.work];
                self.work = UIBackgroundTaskInvalid;
            }
            @end
            """
        }
        let log = "NSLog(@\"%@\", error);"
        #expect(try Self.lines(source(log)) == [12])
        #expect(try Self.lines(source(log, condition: "error")) == [12])
        #expect(try Self.lines(source("[self finish];")) == [])
        #expect(try Self.lines(source(log, condition: "all.count > 9")) == [])
        #expect(try Self.lines(source(log, condition: "error && !self.isLast")) == [])
        #expect(try Self.lines(source(log), other: "- (void)f { [app finish]; }") == [])
        #expect(
            try Self.lines(
                source(log), other: "- (void)f { [UIApplication.app endBackgroundTask:a.work]; }")
                == [])
        #expect(
            try Self.lines(source(log), other: "- (void)f { [app endBackgroundTask:mine]; }")
                == [12])
    }
}
