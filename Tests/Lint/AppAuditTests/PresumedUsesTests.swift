// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// What the names of libraries tell.
@Suite("Uses that names of libraries tell")
struct PresumedUsesTests {
    @Test("a library whose name tells of nothing in the background is taken to have no task")
    func presumed() {
        for name in [
            "PushClient", "AsyncDisplayKit", "React-runtimescheduler", "Stripe", "geolocator",
            "synchronized", "app_tracking_transparency", "react-native-track-player",
            "leak_tracker", "multi_split_view",
        ] {
            #expect(!KnownLibraries.presumedUses(of: name).contains(.likelyTasks), "\(name)")
        }
        for name in [
            "TSBackgroundFetch", "RadarSDK", "react-native-geofencing", "HealthSync",
            "MindboxSdk",
        ] {
            #expect(KnownLibraries.presumedUses(of: name).contains(.likelyTasks), "\(name)")
        }
        #expect(
            KnownLibraries.presumedUses(of: "PushTaskCall")
                == .all.subtracting([.likelyTransfers, .endsOfTime]))
    }

    @Test("other people's libraries do not end the time that an app asks for")
    func time() throws {
        func messages(_ pod: String, _ use: String = "") throws -> [String] {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, "App", settings: "",
                source: "class A {\nvar ids: [UIBackgroundTaskIdentifier] = []\nfunc f() {\n"
                    + "let id = UIApplication.shared.beginBackgroundTask { self.g() }\n"
                    + "ids.append(id)\n\(use)\n}\nfunc g() { ids = [] }\n}")
            try folder.write("target 'App' do\n  \(pod)\nend", to: "App/Podfile")
            return try Audit(paths: [folder.path]).report().findings
                .filter { $0.diagnostic.rule == "CF045" }.map(\.diagnostic.message)
        }
        #expect(try messages("pod 'TaskQueue'") == ["nothing calls endBackgroundTask"])
        // One of the app's own may.
        #expect(
            try messages("pod 'TaskQueue'", "UIApplication.shared.end(id)")
                != ["nothing calls endBackgroundTask"])
        let own = try messages("pod 'Core', :path => '../Core'")
        #expect(!own.contains("nothing calls endBackgroundTask"))
    }
}
