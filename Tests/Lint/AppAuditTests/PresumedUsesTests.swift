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
            KnownLibraries.presumedUses(of: "PushTaskCall")
                == .all.subtracting([.likelyDevices, .likelyLocations, .likelyTransfers]))
    }

    @Test("a library whose name tells of no device, location or sound is taken to have none")
    func presumedFeatures() {
        let plain = ["SnapKit", "react-native-screens", "url_launcher", "Kingfisher"]
        for name in plain {
            let uses = KnownLibraries.presumedUses(of: name)
            #expect(uses.isDisjoint(with: .likelyFeatures), "\(name)")
            #expect(uses.contains(.features), "\(name)")
        }
        let telling: [(ModuleUses, [String])] = [
            (.likelyDevices, ["react-native-ble-plx", "flutter_blue_plus", "StarPrinterKit"]),
            (.likelyLocations, ["geolocator", "GoogleMaps", "expo-location", "gps_kit"]),
            (.likelyAudio, ["just_audio", "SwiftAudioPlayer", "flutter_tts", "expo-av"]),
        ]
        for (use, names) in telling {
            for name in names {
                #expect(KnownLibraries.presumedUses(of: name).contains(use), "\(name)")
            }
        }
        #expect(KnownLibraries.presumedUses(of: "shared KMPKit").isSuperset(of: .likelyFeatures))
    }
}
