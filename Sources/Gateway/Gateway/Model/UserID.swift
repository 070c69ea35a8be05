// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A caller's own id of a user, under which devices are registered. It may be personal, so it is in
/// no log; its description is a part of it.
public struct UserID: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes in UTF-8.
    public static let maximumByteCount = 256
    /// The most devices of a user for one app, environment and kind of push. With one more the
    /// registration goes that is the oldest. A limit over all apps would let one app's key remove
    /// what another's has registered.
    public static let maximumDeviceCount = 100

    /// The id.
    public let value: String

    /// An id of 1 to 256 bytes of text without control characters, and without white space at
    /// either end. Throws ``WakeModel/InvalidField``.
    public init(_ value: String) throws(InvalidField) {
        let isPrintable = value.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        let ends = [value.unicodeScalars.first, value.unicodeScalars.last].compactMap(\.self)
        guard isPrintable, (1...Self.maximumByteCount).contains(value.utf8.count),
            !ends.contains(where: \.properties.isWhitespace)
        else {
            throw InvalidField(
                field: "user",
                problem: "is not 1 to \(Self.maximumByteCount) bytes of printable text without "
                    + "white space at its ends",
                remedy: "Give your own id of the user, such as u-123.")
        }
        self.value = value
    }

    /// How it begins, for logs.
    public var description: String {
        value.unicodeScalars.count <= 4 ? "…" : String(value.prefix(2)) + "…"
    }

    /// The same bytes, not the same characters: é has two spellings, and a store distinguishes
    /// them.
    public static func == (one: UserID, other: UserID) -> Bool {
        one.value.utf8.elementsEqual(other.value.utf8)
    }

    /// Its bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in value.utf8 { hasher.combine(byte) }
    }
}

/// What a registration says of whose a device is.
public enum UserChange: Hashable, Sendable {
    /// Nothing.
    case kept
    /// It belongs to no user from now on.
    case removed
    /// It is this user's from now on, and no other's.
    case user(UserID)
}

/// A device token that is registered under a user, for one app and kind of push.
public struct UserDevice: Hashable, Sendable {
    /// App and kind.
    public let queue: WakeQueueKey
    /// The device.
    public let deviceToken: DeviceToken
    /// When the app registered the token, as far as was reported.
    public let registeredAt: WallInstant?

    /// Creates a registration.
    public init(queue: WakeQueueKey, deviceToken: DeviceToken, registeredAt: WallInstant?) {
        self.queue = queue
        self.deviceToken = deviceToken
        self.registeredAt = registeredAt
    }
}

/// A user of an app who is to be woken.
public struct UserTarget: Hashable, Sendable {
    /// The user.
    public let user: UserID
    /// App and kind.
    public let queue: WakeQueueKey
    /// What recognises a repetition of the request.
    public let idempotency: IdempotencyKey?

    /// Creates a target.
    public init(user: UserID, queue: WakeQueueKey, idempotency: IdempotencyKey? = nil) {
        self.user = user
        self.queue = queue
        self.idempotency = idempotency
    }
}

/// The devices of a user that a request is for.
public enum UserResolution: Hashable, Sendable {
    /// These, each with the key by which its wake is recognised; those of the first request when it
    /// comes again.
    case devices([Place])
    /// The key was used before with another request.
    case idempotencyConflict

    /// One of the devices.
    public struct Place: Hashable, Sendable {
        /// The device.
        public let deviceToken: DeviceToken
        /// What recognises a repetition of its wake.
        public let idempotency: IdempotencyKey?
    }
}

extension IdempotencyKey {
    /// The key of the wake for one of a user's devices; the request is recognised together with
    /// how many they are. That of the first device is the key of the request itself, so that a
    /// request for a single device with the same key is found to be another.
    func ofDevice(_ place: Int, count: Int) -> IdempotencyKey {
        var other = IdempotencyKey(
            key: place == 0 ? key : key + [UInt8(clamping: place)],
            request: request + [UInt8(clamping: count)], expiresAt: expiresAt)
        if place > 0 { other.first = key }
        return other
    }

    /// How many devices a request had that was this one; `nil` when it was another.
    func deviceCount(ofKnown known: [UInt8]) -> Int? {
        guard known.count == request.count + 1, known.starts(with: request) else { return nil }
        return known.last.map { Int($0) }
    }
}
