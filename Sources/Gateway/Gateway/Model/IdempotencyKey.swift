// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// What makes two requests the same request: the client's key, and a digest of what it asked.
public struct IdempotencyKey: Hashable, Sendable {
    /// A digest of the caller's name and the caller's key, 32 bytes.
    public let key: [UInt8]
    /// A digest of the request's body, 32 bytes.
    public let request: [UInt8]
    /// When the key expires.
    public let expiresAt: WallInstant
    /// The key of the first wake of the request, for another one of it; see
    /// ``ofDevice(_:count:)``.
    var first: [UInt8]?

    /// Creates a key.
    public init(key: [UInt8], request: [UInt8], expiresAt: WallInstant) {
        self.key = key
        self.request = request
        self.expiresAt = expiresAt
    }
}
