// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import ArgumentParser
import DeviceModel

/// What `--device-model` takes: the name of a profile, or `steady`.
struct DeviceProfileName: ExpressibleByArgument {
    /// The device that lies awake, online and on Wi-Fi, and to which nothing happens.
    private static let steady = "steady"

    static var allValueStrings: [String] { [steady] + DayProfile.known.map(\.name) }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    /// The device model of each device token.
    let setup: DeviceSetup

    init?(argument: String) {
        if argument == Self.steady {
            setup = DeviceSetup()
        } else if let profile = DayProfile.named(argument) {
            setup = DeviceSetup(profile: profile)
        } else {
            return nil
        }
    }
}
