// SPDX-License-Identifier: Apache-2.0

import OpenSSLCrypto
public import WakeModel

/// A bearer key that the API accepts. Only the SHA-256 of its secret is stored.
///
/// A fast hash is sufficient because a secret has 256 random bits (see ``KeySecret``) and cannot be
/// guessed. A slow hash would let any caller load the CPU with wrong keys.
public struct APIKey: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of a name, in characters.
    public static let maximumNameLength = 64

    /// The name of the key in logs and the audit log.
    public let name: String
    /// The scopes of the key; at least one.
    public let scopes: Set<Scope>
    /// The apps that the key may send to and read, in either environment; `nil` for all apps.
    public let apps: Set<BundleID>?
    /// The rate limit of the key; `nil` for ``RequestRate/usual``.
    public let rate: RequestRate?
    /// The time from which the key is refused; `nil` if it does not expire.
    public let expiresAt: WallInstant?
    /// The accepted secrets: one, or two during a rotation, the current one first.
    let secrets: [Secret]

    /// A secret of a key.
    struct Secret: Hashable, Sendable {
        /// The SHA-256 of the secret, 32 bytes.
        let digest: [UInt8]
        /// The time from which the secret is refused; `nil` if it expires only with the key.
        let expiresAt: WallInstant?
    }

    /// The former secret of a key, accepted during a rotation.
    public struct PreviousSecret: Hashable, Sendable {
        /// The SHA-256 of the secret, 64 hexadecimal digits.
        public let sha256: String
        /// The time from which the secret is refused; `nil` if it expires only with the key.
        public let expiresAt: WallInstant?

        /// Creates a former secret. Its digest is checked when the key is created.
        public init(sha256: String, expiresAt: WallInstant? = nil) {
            self.sha256 = sha256
            self.expiresAt = expiresAt
        }
    }

    /// Creates a key. `sha256` is the SHA-256 of the UTF-8 bytes of its secret, 64 hexadecimal
    /// digits. `previous` is accepted too, so that callers can change to the new secret one at a
    /// time.
    ///
    /// Throws ``WakeModel/InvalidField`` if `name` is not valid (see ``check(name:)``), if `scopes`
    /// is empty, if `apps` is an empty set, if a digest is malformed, or if both digests are the
    /// same.
    public init(
        name: String, sha256: some StringProtocol, scopes: Set<Scope> = Scope.usual,
        apps: Set<BundleID>? = nil, rate: RequestRate? = nil, expiresAt: WallInstant? = nil,
        previous: PreviousSecret? = nil
    ) throws(InvalidField) {
        try Self.check(name: name)
        guard !scopes.isEmpty else {
            throw InvalidField(
                field: "api key scopes", problem: "is empty",
                remedy: "Name one or more of wake, read, device, admin.")
        }
        guard apps?.isEmpty != true else {
            throw InvalidField(
                field: "api key apps", problem: "is empty",
                remedy: "Name one or more bundle ids, or leave it out for all apps.")
        }
        var secrets = [
            Secret(digest: try Self.digest(sha256, "api key sha256"), expiresAt: nil)
        ]
        if let previous {
            let digest = try Self.digest(previous.sha256, "api key previous sha256")
            guard digest != secrets[0].digest else {
                throw InvalidField(
                    field: "api key previous sha256", problem: "is that of the present secret",
                    remedy: "Leave it out.")
            }
            secrets.append(Secret(digest: digest, expiresAt: previous.expiresAt))
        }
        self.name = name
        self.secrets = secrets
        self.scopes = scopes
        self.apps = apps
        self.rate = rate
        self.expiresAt = expiresAt
    }

    private static func digest(
        _ hex: some StringProtocol, _ field: String
    ) throws(InvalidField) -> [UInt8] {
        guard let digest = bytes(hex: hex), digest.count == SHA256.byteCount else {
            throw InvalidField(
                field: field, problem: "is not 64 hexadecimal digits",
                remedy: "Give the output of: printf %s \"$KEY\" | sha256sum")
        }
        return digest
    }

    /// Returns why the keys cannot be used together, as a sentence: two have the same name, which
    /// identifies callers in logs, rate limits and idempotency keys, or the same secret. Returns
    /// `nil` if there is no conflict.
    public static func conflict(among keys: [APIKey]) -> String? {
        var names: Set<String> = []
        var owners: [[UInt8]: String] = [:]
        for key in keys {
            guard names.insert(key.name).inserted else {
                return "Two API keys are named \(key.name). Rename one, or revoke it."
            }
            for secret in key.secrets {
                if let owner = owners.updateValue(key.name, forKey: secret.digest) {
                    return "The API keys \(owner) and \(key.name) have the same secret. "
                        + "Make a new one for one of them."
                }
            }
        }
        return nil
    }

    /// The SHA-256 digests of the secrets in hexadecimal, the current one first.
    public var digests: [String] { secrets.map { KeySecret.hex($0.digest) } }

    /// The time from which the secret is refused: its own expiry or the key's, whichever is
    /// earlier; `nil` if neither expires.
    func end(of secret: Secret) -> WallInstant? {
        [expiresAt, secret.expiresAt].compactMap(\.self).min()
    }

    /// The name of the key.
    public var description: String { name }

    /// Checks that a name has 1 to ``maximumNameLength`` characters, each one of `A–Z a–z 0–9 . _
    /// -`, because it is written to logs and is an input of digests. Throws
    /// ``WakeModel/InvalidField``.
    public static func check(name: String) throws(InvalidField) {
        guard !name.isEmpty, name.utf8.count <= maximumNameLength else {
            throw InvalidField(
                field: "api key name",
                problem: "does not have 1 to \(maximumNameLength) characters",
                remedy: "Name the program that uses the key.")
        }
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isPlain else {
            throw InvalidField(
                field: "api key name", problem: "has other characters than letters, digits, . _ -",
                remedy: "Write it like orders-backend.")
        }
    }

    /// Returns the key that has this secret, and the secret; `nil` if there is none. Compares all
    /// digests in constant time, so that the duration reveals neither the position of a difference
    /// nor the key.
    static func match(_ text: Substring, among keys: [APIKey]) -> (key: APIKey, secret: Secret)? {
        var bytes = Array(text.utf8)
        defer { bytes.cleanse() }
        let digest = SHA256.digest(of: bytes)
        var found: (key: Int, secret: Int)?
        for (index, key) in keys.enumerated() {
            for (place, secret) in key.secrets.enumerated() {
                if digest.isEqualInConstantTime(to: secret.digest) { found = (index, place) }
            }
        }
        return found.map { (keys[$0.key], keys[$0.key].secrets[$0.secret]) }
    }

    private static func bytes(hex: some StringProtocol) -> [UInt8]? {
        let digits = hex.utf8.map { digit -> UInt8? in
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
            default: nil
            }
        }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
