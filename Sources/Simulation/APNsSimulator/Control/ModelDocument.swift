// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import WakeModel

/// A ``DeviceSetup`` as the control endpoint takes it; everything is optional.
struct ModelDocument: Codable {
    /// The name of a profile.
    var profile: String?
    /// Fixes what is left to chance.
    var seed: UInt64?
    /// Which figures ``parameters`` change: `standard`, `exact`, or `drawn` by the seed.
    var base: String?
    /// Figures by their names in facts §6.3; see ``ParameterTable``.
    var parameters: [String: Double]?
    /// Whether the app has the `remote-notification` mode.
    var hasRemoteNotificationMode: Bool?
    /// Whether the app's handler calls its completion handler.
    var completesHandler: Bool?

    /// The setup, or what is wrong with the document.
    func setup() throws(InvalidField) -> DeviceSetup {
        var app = AppBehaviour()
        app.hasRemoteNotificationMode = hasRemoteNotificationMode ?? true
        app.completesHandler = completesHandler ?? true
        return DeviceSetup(
            parameters: try parsedParameters(), app: app, profile: try parsedProfile(), seed: seed)
    }

    private func parsedProfile() throws(InvalidField) -> DayProfile? {
        guard let profile else { return nil }
        guard let known = DayProfile.named(profile) else {
            throw InvalidField(
                field: "profile", problem: "is unknown",
                remedy: "Use one of \(DayProfile.known.map(\.name).joined(separator: ", ")).")
        }
        return known
    }

    private func parsedParameters() throws(InvalidField) -> ModelParameters {
        var result = try basis()
        // In order, so that of several faults the same one is named each time.
        for (name, value) in (parameters ?? [:]).sorted(by: { $0.key < $1.key }) {
            try ParameterTable.set(name, to: value, in: &result)
        }
        return result
    }

    private func basis() throws(InvalidField) -> ModelParameters {
        switch base {
        case nil, "standard": return ModelParameters()
        case "exact": return .exact
        case "drawn":
            guard let seed else {
                throw InvalidField(
                    field: "seed", problem: "is missing",
                    remedy: "Give the seed that the figures are to be drawn by.")
            }
            var generator = SeededGenerator(seed: seed)
            return .drawn(using: &generator)
        default:
            throw InvalidField(
                field: "base", problem: "is unknown", remedy: "Use standard, exact or drawn.")
        }
    }
}
