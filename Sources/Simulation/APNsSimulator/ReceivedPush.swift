// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import WakeModel

/// One request as the simulator saw it: logged when its last byte had arrived, whatever the answer.
public struct ReceivedPush: Sendable {
    /// The request's number, from 1, in the order in which header blocks arrived.
    public var number: Int
    /// The connection's number, from 1.
    public var connection: Int
    /// The HTTP/2 stream id.
    public var stream: Int
    /// When the last byte of the request arrived, by the configuration's clock.
    public var receivedAt: WallInstant
    /// Pseudo-headers and headers, in order.
    public var headers: [(name: String, value: String)]
    /// The body, byte for byte.
    public var body: [UInt8]
    /// The status it was answered with, or will be after a delay; `nil` when a fault forbids any
    /// answer.
    public var status: Int?
    /// The reason that went with the status.
    public var reason: RejectionReason?
    /// The fault that it met, if any.
    public var fault: Fault.Kind?

    /// The value of the first header of this name, in lower case; `nil` when there is none.
    public subscript(name: String) -> String? {
        headers.first { $0.name == name }?.value
    }

    /// The body as a value of this type. Throws `DecodingError` for a body of another form.
    public func payload<Payload: Decodable>(as type: Payload.Type) throws -> Payload {
        try JSONDecoder().decode(type, from: Data(body))
    }

    /// The device token in the path, as it was written; `nil` when the path is another one.
    public var deviceTokenHex: String? {
        guard let path = self[":path"], path.hasPrefix(RequestHead.devicePathPrefix) else {
            return nil
        }
        return String(path.dropFirst(RequestHead.devicePathPrefix.count))
    }
}
