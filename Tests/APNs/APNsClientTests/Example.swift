// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import WakeModel

// Makes a client from the key that Apple's developer account gave out.
func makeClient(keyPath: String) throws -> APNsClient {
    let tokens = ProviderTokenSource(
        key: try SigningKey(path: keyPath),
        keyID: try DeveloperID("ABCDE12345", field: "key id"),
        teamID: try DeveloperID("TEAM123456", field: "team id"))
    return try APNsClient(
        .init(environment: .production, authentication: .providerToken(tokens)))
}

// Wakes one app on one device, and says what became of it.
func wake(_ deviceToken: String, with client: APNsClient) async -> String {
    do {
        let push = try Push.background(
            to: DeviceToken(hex: deviceToken), of: BundleID("com.example.app"),
            payload: Array(#"{"aps":{"content-available":1}}"#.utf8))
        switch try await client.send(push) {
        case .accepted(let acceptance):
            return "accepted as \(acceptance.apnsID ?? push.apnsID)"
        case .rejected(let rejection):
            let reason = rejection.reason?.rawValue ?? "no reason"
            return "refused: \(rejection.status) \(reason). \(rejection.advice.remedy)"
        }
    } catch {
        return "failed: \(error)"  // an InvalidField, or a TransportFailure
    }
}
