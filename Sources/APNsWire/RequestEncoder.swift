// SPDX-License-Identifier: Apache-2.0

public import PushTransport
internal import WakeModel

/// Turns pushes into requests. Total: every ``Push`` has exactly one encoding.
///
/// Header fields come in the order that Apple's HPACK advice groups them (facts §1.4): those
/// that many pushes share first, kept as one ``PushTransport/SharedHeaders`` for each combination,
/// then those of this push alone.
public struct RequestEncoder: Sendable {
    /// The most combinations kept; beyond it the memory starts afresh. One gateway app uses two.
    public static let maximumSharedBlocks = 256

    /// The value of `authorization`, `nil` with certificate authentication. Secret.
    private let authorization: String?
    private var blocks: [BlockKey: SharedHeaders] = [:]
    /// The last one asked for: pushes of one app come in runs, and to hash a topic is dear.
    private var last: (key: BlockKey, block: SharedHeaders)?

    private struct BlockKey: Hashable {
        let topic: Topic
        let type: PushType
        let priority: Priority
    }

    /// An encoder for one provider token, or for certificate authentication when it is `nil`. A
    /// renewed token wants a new encoder.
    public init(providerToken: String?) {
        authorization = providerToken.map { "bearer " + $0 }
    }

    /// The request for one push.
    public mutating func encode(_ push: Push) -> WireRequest {
        WireRequest(
            to: push.deviceToken, sharedHeaders: sharedHeaders(for: push), apnsID: push.apnsID,
            expiration: push.expiration, collapseID: push.collapseID, body: push.payload,
            isUrgent: push.type == .voip)
    }

    private mutating func sharedHeaders(for push: Push) -> SharedHeaders {
        let key = BlockKey(topic: push.topic, type: push.type, priority: push.priority)
        if let last, last.key == key { return last.block }
        let block = blocks[key] ?? makeBlock(key, for: push)
        last = (key, block)
        return block
    }

    private mutating func makeBlock(_ key: BlockKey, for push: Push) -> SharedHeaders {
        var fields: [HeaderField] = []
        if let authorization {
            fields.append(HeaderField(name: "authorization", value: authorization))
        }
        fields.append(HeaderField(name: "apns-topic", value: push.topic.value))
        fields.append(HeaderField(name: "apns-push-type", value: push.type.rawValue))
        fields.append(HeaderField(name: "apns-priority", value: push.priority.description))
        let block = SharedHeaders(fields)
        if blocks.count >= Self.maximumSharedBlocks { blocks.removeAll(keepingCapacity: true) }
        blocks[key] = block
        return block
    }
}
