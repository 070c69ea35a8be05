// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Libraries that are there already, or that an app hands its delegate to.
@Suite("Vendored libraries")
struct VendoredLibraryTests {
    @Test("a framework that is there already is presumed by its name, and none that is built")
    func frameworks() throws {
        func rules(_ path: String, _ place: String = "\"<group>\"") throws -> [String] {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, "App", settings: AuditScopeTests.mode,
                objects: """
                    X = { isa = PBXFileReference; path = \(path); sourceTree = \(place); };
                    BX = { isa = PBXBuildFile; fileRef = X; };
                    FX = { isa = PBXFrameworksBuildPhase; files = ( BX ); };
                    """, target: "buildPhases = ( S, FX );")
            return try KnownLibrariesTests.audit(folder).rules
        }
        #expect(try rules("Libs/Charts9.framework") == ["CF002"])
        #expect(try rules("Libs/PushKit9.framework") == [])
        #expect(try rules("Core.framework", "BUILT_PRODUCTS_DIR") == [])
        for path in [
            "../shared/Core.framework", "build/Release/Core.xcframework", "Libs/libCore.a",
            "Flutter/App.framework", "\"$(OUT)/Core.framework\"",
        ] {
            #expect(try rules(path) == [], "\(path)")
        }
    }

    @Test("a delegate whose base class may be a library's may handle pushes there")
    func derivedDelegates() throws {
        func rules(_ base: String, pod: String?) throws -> [String] {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, "App", settings: AuditScopeTests.mode,
                source: "@main class AppDelegate: \(base) {\noverride func application(_ a: A,\n"
                    + "didFinishLaunchingWithOptions o: O) -> Bool { true } }")
            if let pod {
                try folder.write("target 'App' do\n  pod '\(pod)'\nend", to: "App/Podfile")
            }
            return try KnownLibrariesTests.audit(folder).rules
        }
        #expect(try rules("Kit.BaseDelegate", pod: "Acme9") == [])
        #expect(try rules("Kit.BaseDelegate", pod: "Alamofire") == ["CF002"])
        #expect(try rules("Kit.BaseDelegate", pod: nil) == ["CF002"])
        let own = "Base {}\nclass Base: UIResponder, UIApplicationDelegate {}\nclass C: Base"
        #expect(try rules(own, pod: "Acme9") == ["CF002"])
    }

    @Test("Firebase's sign-in by phone takes silent pushes")
    func phoneSignIn() throws {
        for (source, expected) in [("PhoneAuthProvider.provider()", []), ("auth()", ["CF002"])] {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, "App", settings: AuditScopeTests.mode, source: source)
            try folder.write("target 'App' do\n  pod 'FirebaseAuth'\nend", to: "App/Podfile")
            #expect(try KnownLibrariesTests.audit(folder).rules == expected)
        }
    }

    @Test("a package of npm is known by its name")
    func packagesOfNPM() throws {
        func audit(_ name: String) throws -> (rules: [String], left: [String]) {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, "App", settings: AuditScopeTests.mode,
                objects: """
                    L = { isa = XCLocalSwiftPackageReference; relativePath = "CapApp-SPM"; };
                    D = { isa = XCSwiftPackageProductDependency; productName = "CapApp-SPM";
                      package = L; };
                    """, target: "packageProductDependencies = ( D );")
            try folder.write(
                "let package = Package(name: \"CapApp-SPM\", dependencies: [\n"
                    + ".package(name: \"M\", path: \"../../node_modules/\(name)\")])",
                to: "App/CapApp-SPM/Package.swift")
            return try KnownLibrariesTests.audit(folder)
        }
        let own = try audit("@capacitor/push-notifications")
        #expect(own.rules == ["CF002"])
        #expect(own.left == ["1 package (@capacitor/push-notifications) was not read"])
        #expect(try audit("@capacitor/app").rules == ["CF002"])
        #expect(try audit("@other/push-notifications").rules == [])
    }
}
