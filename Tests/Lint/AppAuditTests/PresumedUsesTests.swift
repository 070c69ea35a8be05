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
            KnownLibraries.presumedUses(of: "PushTaskCall") == .all.subtracting(.likelyTransfers))
    }
}
