// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WakeModel

/// A ``BroadcastChannel`` as the control endpoint gives it.
struct ChannelDocument: Codable {
    var id: String
    /// `none` or `latest`.
    var storage: String
    var broadcastCount: Int
    /// Absent when nothing is kept.
    var storedPayloadBase64: String?

    init(_ channel: BroadcastChannel) {
        id = channel.id.value
        storage = channel.storage.rawValue
        broadcastCount = channel.broadcastCount
        storedPayloadBase64 = channel.storedPayload.map { Data($0).base64EncodedString() }
    }
}
