// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Background sessions that only a further transfer makes.
@Suite("Lazy background sessions")
struct LazySessionsTests {
    private static let made = """
        let c = URLSessionConfiguration.background(withIdentifier: "a")
        return URLSession(configuration: c, delegate: self, delegateQueue: nil)
        """
    private static let uploads =
        "func upload(_ r: URLRequest) { session.uploadTask(with: r).resume() }"
    private static let keeper = """
        var done: (() -> Void)?
        func keep(_ handler: @escaping () -> Void) { done = handler }
        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            DispatchQueue.main.async { self.done?() }
        }
        """

    private static func center(
        _ session: String = "private lazy var session: URLSession = {\n\(made)\n}()",
        functions: String = uploads
    ) -> String {
        """
        import Foundation
        final class Center: NSObject, URLSessionDownloadDelegate {
            static let shared = Center()
            \(session)
            \(functions)
            \(keeper)
        }
        """
    }

    private static func delegate(
        _ body: String = "Center.shared.keep(done)", launch: String = ""
    ) -> String {
        """
        import UIKit
        class AppDelegate: UIResponder, UIApplicationDelegate {
            func application(_ application: UIApplication,
                didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
            ) -> Bool {
                \(launch)
                return true
            }
            func application(_ application: UIApplication,
                handleEventsForBackgroundURLSession identifier: String,
                completionHandler done: @escaping () -> Void
            ) { \(body) }
        }
        """
    }

    private static func found(
        _ center: String = center(), _ delegate: String = delegate()
    ) throws -> [String] {
        let folder = try TestFolder()
        try AuditScopeTests.write(
            folder, "App", settings: "",
            objects: """
                F2 = { isa = PBXFileReference; path = Center.swift; sourceTree = SOURCE_ROOT; };
                B2 = { isa = PBXBuildFile; fileRef = F2; };
                S2 = { isa = PBXSourcesBuildPhase; files = ( B2 ); };
                """, target: "buildPhases = ( S, S2 );", source: delegate)
        try folder.write(center, to: "App/Center.swift")
        return try Audit(paths: [folder.path]).report().findings.map(\.diagnostic)
            .filter { $0.rule == "CF046" }.map(\.message)
    }

    @Test("a session that only a transfer makes misses a launch for its events")
    func told() throws {
        let message = try #require(try Self.found().first)
        #expect(message.contains("only a further transfer makes this background URLSession"))
        let called = "fileprivate lazy var session = make()"
        let maker = "func make() -> URLSession {\n\(Self.made)\n}\n" + Self.uploads
        #expect(try Self.found(Self.center(called, functions: maker)).count == 1)
        let both =
            Self.uploads + "\nfunc stop() { self.session.invalidateAndCancel() }"
            + "\nfunc again(_ r: URLRequest) { upload(r) }"
        #expect(try Self.found(Self.center(functions: both)).count == 1)
        #expect(
            try Self.found(Self.center(), Self.delegate("Center.shared.done = done")).count == 1)
    }

    @Test(
        "a session that something else makes",
        arguments: [
            uploads + "\noverride init() { super.init()\n_ = session }",
            uploads + "\nfunc keepAlive() { session.getAllTasks { _ in } }",
            "func resumeAll() { session.uploadTask(with: r).resume() }",
            uploads + "\nfunc retryPending() { upload(r) }",
            uploads + "\nfunc connect() { use(session) }",
            uploads + "\nfunc look() { q.async { [weak self] in self?.session.flush {} } }",
            uploads + "\nvar last: URLRequest? { didSet { upload(last!) } }",
            uploads + "\nfunc more(_ r: [URLRequest]) { r.forEach(upload) }",
        ])
    func others(functions: String) throws {
        #expect(try Self.found(Self.center(functions: functions)) == [])
    }

    @Test("a session that the handler of its events, or the launch, may make")
    func launches() throws {
        for body in [
            "Center.shared.upload(r)\nCenter.shared.keep(done)", "Center.shared.wake(done)",
            "let center = Other(identifier)\ncenter.done = done",
            "_ = URLSession(configuration: .background(withIdentifier: \"a\"), delegate: self, "
                + "delegateQueue: nil)\nCenter.shared.keep(done)",
        ] {
            #expect(try Self.found(Self.center(), Self.delegate(body)) == [], "\(body)")
        }
        let launch = Self.delegate(launch: "Center.shared.upload(r)")
        #expect(try Self.found(Self.center(), launch) == [])
        let later = Self.delegate(launch: "Later.shared.begin()")
        let other = "\nclass Later { func begin() { Center.shared.upload(r) } }"
        #expect(try Self.found(Self.center() + other, later) == [])
        #expect(
            try Self.found(Self.center("lazy var session: URLSession = {\n\(Self.made)\n}()")) == []
        )
    }
}
