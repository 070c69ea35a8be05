// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import FoundationEssentials
import WakeModel

/// Holds a JWT against Apple's rules for provider tokens (facts §4.1): all its faults.
///
/// Pure: time and key are arguments. No fault repeats the token or a part of it, except for its
/// ids and times, which are no secrets.
struct TokenCheck: Sendable {
    /// How old a provider token may be, in seconds: one hour.
    static let maximumAgeSeconds: Int64 = 3600
    /// From which age on a sound token had better be replaced, in seconds: 55 minutes.
    static let renewalAgeSeconds: Int64 = 3300
    /// How far ahead `iat` may be, in seconds, before it is a fault: clocks differ a little.
    static let skewSeconds: Int64 = 30
    /// From this value on, `iat` is in milliseconds: as seconds it is the year 5138.
    static let firstMilliseconds: Int64 = 100_000_000_000

    /// What a token is held against besides the rules.
    struct Expectation: Sendable {
        /// The key that should have signed it.
        var key: SigningKey?
        /// The id that `kid` should have.
        var keyID: DeveloperID?
        /// The id that `iss` should have.
        var teamID: DeveloperID?
    }

    /// What is wrong, in the order of the token's parts. Empty for a token that APNs would accept,
    /// as far as the token shows.
    private(set) var faults: [TokenFault] = []
    /// What APNs takes although it is against the rules, in the same order.
    private(set) var warnings: [TokenWarning] = []
    /// Remarks that are not faults.
    private(set) var notes: [String] = []
    /// `kid`, if it is a text.
    private(set) var keyID: String?
    /// `iss`, if it is a text.
    private(set) var teamID: String?
    /// `iat`, in whatever form it could be understood.
    private(set) var issuedAt: WallInstant?
    /// Whether the signature is the expected key's; `nil` without a key.
    private(set) var isSignatureValid: Bool?

    /// Checks `text`, which may have `authorization:` and `bearer` before the token, as of `now`.
    init(_ text: String, now: WallInstant, expecting expectation: Expectation = Expectation()) {
        let token = unwrap(text)
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            faults.append(.notThreeParts(parts.count))
            return
        }
        checkHeader(parts[0], expectation)
        checkClaims(parts[1], expectation, now)
        checkSignature(parts, expectation)
    }

    // MARK: The parts

    /// The token without the words before it in a request.
    private mutating func unwrap(_ text: String) -> Substring {
        var rest = text[...].drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        for prefix in ["authorization:", "bearer "] where rest.lowercased().hasPrefix(prefix) {
            rest = rest.dropFirst(prefix.count).drop(while: \.isWhitespace)
        }
        if let space = rest.firstIndex(where: \.isWhitespace) {
            if rest[..<space].allSatisfy(\.isLetter) {
                faults.append(.wrongScheme)
                return rest[space...].drop(while: \.isWhitespace)
            }
            faults.append(.whiteSpace)
            return Substring(rest.filter { !$0.isWhitespace })
        }
        return rest
    }

    private mutating func object(_ part: Substring, _ name: String) -> [String: JSONValue]? {
        guard let bytes = Base64URL.decode(part) else {
            faults.append(.notBase64URL(name, part))
            return nil
        }
        guard
            let object = try? JSONDecoder().decode([String: JSONValue].self, from: Data(bytes))
        else {
            faults.append(.notJSON(name))
            return nil
        }
        return object
    }

    private mutating func checkHeader(_ part: Substring, _ expectation: Expectation) {
        guard let header = object(part, "header") else { return }
        switch header["alg"] {
        case .text("ES256"): break
        case .text(let name): faults.append(.otherAlgorithm(name))
        default: faults.append(.noAlgorithm)
        }
        keyID = checkIdentifier(header["kid"], "kid", "key id", expectation.keyID)
    }

    private mutating func checkClaims(
        _ part: Substring, _ expectation: Expectation, _ now: WallInstant
    ) {
        guard let claims = object(part, "claims set") else { return }
        teamID = checkIdentifier(claims["iss"], "iss", "team id", expectation.teamID)
        checkTime(claims["iat"], now)
        let idle = ["exp", "aud", "sub"].filter { claims[$0] != nil }
        if !idle.isEmpty {
            notes.append("APNs disregards \(idle.joined(separator: ", ")); leave it out.")
        }
    }

    private mutating func checkIdentifier(
        _ value: JSONValue?, _ name: String, _ meaning: String, _ expected: DeveloperID?
    ) -> String? {
        guard case .text(let id)? = value else {
            faults.append(.missingIdentifier(name, meaning))
            return nil
        }
        if (try? DeveloperID(id, field: name)) == nil {
            faults.append(.badIdentifier(name, meaning, id.count))
            return nil
        }
        if let expected, expected.value != id {
            faults.append(.otherIdentifier(name, meaning, id, expected))
        }
        return id
    }

    private mutating func checkTime(_ value: JSONValue?, _ now: WallInstant) {
        var seconds: Int64
        switch value {
        case .integer(let number): seconds = number
        case .decimal(let number):
            guard let whole = Int64(exactly: number.rounded(.down)) else {
                faults.append(.noTime)
                return
            }
            notes.append("iat has a fraction; write whole seconds.")
            seconds = whole
        case .text(let text):
            guard let number = Int64(text) else {
                faults.append(.noTime)
                return
            }
            warnings.append(.textualTime)
            seconds = number
        default:
            faults.append(.noTime)
            return
        }
        if seconds >= Self.firstMilliseconds {
            faults.append(.timeInMilliseconds)
            seconds /= 1000
        }
        let issuedAt = WallInstant(secondsSinceEpoch: seconds)
        self.issuedAt = issuedAt
        let age = now.milliseconds(since: issuedAt) / 1000
        if age > Self.maximumAgeSeconds {
            faults.append(.tooOld(seconds: age))
        } else if -age > Self.skewSeconds {
            faults.append(.ahead(seconds: -age))
        } else if age > Self.renewalAgeSeconds {
            notes.append("It ends within five minutes; print a new one.")
        }
    }

    private mutating func checkSignature(_ parts: [Substring], _ expectation: Expectation) {
        guard var signature = Base64URL.decode(parts[2]) else {
            faults.append(.notBase64URL("signature", parts[2]))
            return
        }
        if signature.count != 64 {
            guard let raw = DERSignature.raw(signature) else {
                faults.append(.badSignature(signature))
                return
            }
            warnings.append(.derSignature(byteCount: signature.count))
            signature = raw
        }
        guard let key = expectation.key else {
            notes.append("The signature was not checked; --key does that.")
            return
        }
        let message = Array((parts[0] + "." + parts[1]).utf8)
        let isValid = key.isValid(signature: signature, for: message)
        isSignatureValid = isValid
        if !isValid { faults.append(.otherKey) }
    }
}
