// SPDX-License-Identifier: Apache-2.0

public import PushTransport
internal import WakeModel

/// Encodes pushes as requests. Never fails: every ``Push`` has exactly one encoding.
///
/// Header fields are in the order of Apple's advice on HPACK (facts §1.4): those that many pushes
/// share first, kept as one ``PushTransport/SharedHeaders`` for each combination, then those of
/// this push alone.
public struct RequestEncoder: Sendable {
    /// The most combinations that are kept; when there are more, all are dropped. One gateway app
    /// uses one for each kind and priority that it sends.
    public static let maximumSharedBlocks = 256

    /// The value of `authorization`, `nil` with certificate authentication. Secret.
    private let authorization: String?
    private var blocks: [BlockKey: SharedHeaders] = [:]
    /// The last one used: consecutive pushes are often of one app, and hashing a topic is slow.
    private var last: Entry?

    private struct BlockKey: Hashable {
        let topic: Topic
        let type: PushType
        let priority: Priority
    }

    private struct Entry {
        let key: BlockKey
        let block: SharedHeaders

        /// The block, if it is that of the push.
        func block(for push: Push) -> SharedHeaders? {
            guard key.priority == push.priority, key.type == push.type, key.topic == push.topic
            else { return nil }
            return block
        }
    }

    /// An encoder for one provider token, or for certificate authentication when it is `nil`. A
    /// renewed token needs a new encoder.
    public init(providerToken: String?) {
        authorization = providerToken.map { "bearer " + $0 }
    }

    /// The request for one push.
    public mutating func encode(_ push: Push) -> WireRequest {
        WireRequest(
            to: push.deviceToken, sharedHeaders: sharedHeaders(for: push), apnsID: push.apnsID,
            expiration: push.expiration, collapseID: push.collapseID, body: push.payload,
            isUrgent: push.type == .voip || push.type == .pushtotalk)
    }

    private mutating func sharedHeaders(for push: Push) -> SharedHeaders {
        if let block = last?.block(for: push) { return block }
        let key = BlockKey(topic: push.topic, type: push.type, priority: push.priority)
        let block = blocks[key] ?? makeBlock(key, for: push)
        last = Entry(key: key, block: block)
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
