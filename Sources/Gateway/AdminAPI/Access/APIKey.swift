// SPDX-License-Identifier: Apache-2.0

import OpenSSLCrypto
public import WakeModel

/// A bearer key that the API takes, known by its digest only.
///
/// A plain SHA-256 is enough because a key is 256 random bits (see ``KeySecret``): there is nothing
/// to guess, and a slow hash would let anybody keep the gateway busy with wrong keys.
public struct APIKey: Hashable, Sendable, CustomStringConvertible {
    /// The most characters of a name.
    public static let maximumNameLength = 64

    /// What the key is called in logs.
    public let name: String
    /// What it may do.
    public let scopes: Set<Scope>
    /// The apps that it may ask for and read of, in either environment; `nil` for all.
    public let apps: Set<BundleID>?
    /// How many requests it may make; `nil` for the listener's usual rate.
    public let rate: RequestRate?
    /// From when on it is refused; `nil` for never.
    public let expiresAt: WallInstant?
    /// What proves that a caller has it: one secret, or two while it is being replaced.
    let secrets: [Secret]

    /// A secret of a key.
    struct Secret: Hashable, Sendable {
        /// The SHA-256 of the secret, 32 bytes.
        let digest: [UInt8]
        /// From when on it is refused; `nil` for as long as the key is taken.
        let expiresAt: WallInstant?
    }

    /// The secret that a key had before the present one.
    public struct PreviousSecret: Hashable, Sendable {
        /// The SHA-256 of the secret, in hexadecimal.
        public let sha256: String
        /// From when on it is refused; `nil` for as long as the key is taken.
        public let expiresAt: WallInstant?

        /// Creates one.
        public init(sha256: String, expiresAt: WallInstant? = nil) {
            self.sha256 = sha256
            self.expiresAt = expiresAt
        }
    }

    /// A key by the SHA-256 of its characters in UTF-8, in hexadecimal. `previous` is taken beside
    /// it, so that callers can change to the new secret one after the other.
    ///
    /// Throws ``WakeModel/InvalidField`` when `name` is not valid in a log line, when there is no
    /// scope or an empty set of apps, or when a digest is malformed.
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

    /// Why keys cannot be used together: two have the same name, by which logs, rates and
    /// idempotency distinguish callers, or the same secret. `nil` if they can.
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

    /// The SHA-256 of its secrets in hexadecimal, the present one first.
    public var digests: [String] { secrets.map { KeySecret.hex($0.digest) } }

    /// From when on this secret is refused; `nil` for never.
    func end(of secret: Secret) -> WallInstant? {
        [expiresAt, secret.expiresAt].compactMap(\.self).min()
    }

    /// The name alone.
    public var description: String { name }

    /// Throws for a name that is empty, too long, or has a character other than `A–Z a–z 0–9 . _
    /// -`: it is used in logs and in digests.
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

    /// The key among `keys` that has this secret, and the secret. Every secret is compared in
    /// whole, so that the time taken does not reveal where a difference is, nor which key it was.
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
