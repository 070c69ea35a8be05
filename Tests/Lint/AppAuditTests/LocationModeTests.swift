// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Apps with the mode for locations that get none in the background.
@Suite("The mode for locations")
struct LocationModeTests {
    private static let manager =
        "class L {\nlet manager = CLLocationManager()\nfunc f() {\n"
        + "manager.startUpdatingLocation()\n"

    private static func rules(_ source: String, pod: String? = nil) throws -> [String] {
        let folder = try TestFolder()
        try AuditScopeTests.write(
            folder, "App",
            settings: "INFOPLIST_KEY_UIBackgroundModes = \"location\"; "
                + "INFOPLIST_KEY_NSLocationWhenInUseUsageDescription = \"a\";",
            source: source)
        if let pod { try folder.write("target 'App' do\n  pod '\(pod)'\nend", to: "App/Podfile") }
        let report = try Audit(paths: [folder.path]).report()
        return report.findings.map(\.diagnostic.rule.rawValue).filter { $0 == "CF030" }
    }

    @Test(
        "updates that stop in the background",
        arguments: [
            "", "manager.allowsBackgroundLocationUpdates = false", "manager.requestLocation()",
            "manager.startUpdatingHeading()",
        ])
    func stopped(line: String) throws {
        #expect(try Self.rules(Self.manager + line + "\n}\n}") == ["CF030"])
    }

    @Test(
        "what goes on in the background, or may",
        arguments: [
            "manager.allowsBackgroundLocationUpdates = true",
            "manager.allowsBackgroundLocationUpdates = isOn",
            "manager.setValue(true, forKey: \"allowsBackgroundLocationUpdates\")",
            "setValue(true, forKeyPath: \"manager.allowsBackgroundLocationUpdates\")",
            "manager.perform(NSSelectorFromString(\"setAllowsBackgroundLocationUpdates:\"))",
            "manager.startMonitoringSignificantLocationChanges()",
            "manager.startMonitoringVisits()", "manager.startMonitoring(for: region)",
            "let session = CLBackgroundActivitySession()",
            "for try await u in CLLocationUpdate.liveUpdates() { print(u) }",
            "manager.startRangingBeacons(satisfying: c)",
        ])
    func lasting(line: String) throws {
        #expect(try Self.rules(Self.manager + line + "\n}\n}") == [])
    }

    @Test("a library that may ask for locations in the background leaves it open")
    func libraries() throws {
        let source = Self.manager + "}\n}"
        #expect(try Self.rules(source, pod: "Stripe") == ["CF030"])
        for pod in ["GeoFencer", "Mapbox-iOS-SDK", "TSLocationManager", "BeaconKit", "RadarSDK"] {
            #expect(try Self.rules(source, pod: pod) == [], "\(pod)")
        }
    }
}
