// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import WakeModel

/// The instant that all tests take for now: 2026-11-21T10:00:00Z.
let testNow = WallInstant(secondsSinceEpoch: 1_795_255_200)

/// A request for the app com.example.app on one device.
func request(
    _ kind: WakeKind, _ payload: [UInt8], expiration: Expiration? = nil,
    collapseID: String? = nil
) throws -> WakeRequest {
    WakeRequest(
        kind: kind, deviceToken: try DeviceToken(hex: String(repeating: "a5", count: 32)),
        bundleID: try BundleID("com.example.app"), payload: payload, expiration: expiration,
        collapseID: try collapseID.map { try CollapseID($0) })
}

/// An expiration so many seconds after ``testNow``.
func ahead(_ seconds: Int64) -> Expiration { .at(testNow.advanced(bySeconds: seconds)) }

/// An expiration with this value of the header.
func absolute(_ seconds: Int64) -> Expiration { .at(WallInstant(secondsSinceEpoch: seconds)) }

/// A JSON object of exactly this many bytes.
func body(_ byteCount: Int, _ start: String) -> [UInt8] {
    let head = Array("{\(start),\"pad\":\"".utf8)
    let tail = Array("\"}".utf8)
    return head + [UInt8](repeating: 0x78, count: byteCount - head.count - tail.count) + tail
}
