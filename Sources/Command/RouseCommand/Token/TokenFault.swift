// SPDX-License-Identifier: Apache-2.0

import APNsWire
import WakeModel

/// One fault of a provider token: the rule it breaks (facts §5.9.5), and what to do.
struct TokenFault: Hashable, Sendable {
    /// The rule; `nil` where the token is sound in itself and only does not fit the key or the ids.
    let rule: String?
    /// What is wrong, as a sentence.
    let message: String
    /// What to do, as a sentence.
    let fix: String
    /// What APNs answers to it.
    let answer: RejectionReason

    private init(
        _ rule: String?, _ message: String, _ fix: String,
        _ answer: RejectionReason = .invalidProviderToken
    ) {
        self.rule = rule
        self.message = message
        self.fix = fix
        self.answer = answer
    }

    private static let library = "Sign it with a JWT library that knows ES256, or 'rouse token'."

    static func notThreeParts(_ count: Int) -> TokenFault {
        TokenFault(
            "AU011",
            "It is no JWT in compact form: it has \(count) \(count == 1 ? "part" : "parts") "
                + "instead of three.",
            "Give header, claims and signature, with a dot between each.")
    }

    static let wrongScheme = TokenFault(
        "AU006", "The authorization scheme before it is not bearer.",
        "Write authorization: bearer, a space, and the token.", .missingProviderToken)

    static let whiteSpace = TokenFault(
        "AU011", "White space is inside it.", "Copy it in one piece, without line breaks.")

    static func notBase64URL(_ part: String, _ text: Substring) -> TokenFault {
        let isPlain = text.contains { "+/=".contains($0) }
        return TokenFault(
            "AU011",
            isPlain
                ? "The \(part) is in plain Base64 instead of Base64URL."
                : "The \(part) is not Base64URL.",
            isPlain
                ? "Use - and _ instead of + and /, and no = at the end."
                : "It was cut or changed; copy it again.")
    }

    static func notJSON(_ part: String) -> TokenFault {
        TokenFault("AU011", "The \(part) is not a JSON object.", library)
    }

    static func otherAlgorithm(_ name: String) -> TokenFault {
        TokenFault(
            "AU001", "alg is \(name.prefix(16)) instead of ES256.",
            "Sign with ES256: ECDSA on P-256 with SHA-256.")
    }

    static let noAlgorithm = TokenFault(
        "AU011", "alg is missing from the header.", "Add \"alg\":\"ES256\".")

    static func missingIdentifier(_ name: String, _ meaning: String) -> TokenFault {
        TokenFault(
            "AU002", "\(name), the \(meaning), is missing or not a text.",
            "Add it, as Apple's developer account shows it.")
    }

    static func badIdentifier(_ name: String, _ meaning: String, _ count: Int) -> TokenFault {
        TokenFault(
            "AU002",
            "\(name), the \(meaning), has \(count) characters or others than letters and digits; "
                + "it must be 10 of those.",
            "Copy it from Apple's developer account.")
    }

    static func otherIdentifier(
        _ name: String, _ meaning: String, _ found: String, _ expected: DeveloperID
    ) -> TokenFault {
        TokenFault(
            nil, "\(name), the \(meaning), is \(found) and not \(expected).",
            "Use the ids that belong to the key.")
    }

    static let noTime = TokenFault(
        "AU003", "iat, the time of signing, is missing, or not a number that can be a time.",
        "Add the present time in seconds since 1970.")

    static let timeInMilliseconds = TokenFault(
        "AU003", "iat is in milliseconds.", "Write seconds since 1970.", .expiredProviderToken)

    static func tooOld(seconds: Int64) -> TokenFault {
        TokenFault(
            "AU003", "It was signed \(words(seconds)) ago; APNs takes it for an hour.",
            "Sign a new one, every 40 to 55 minutes.", .expiredProviderToken)
    }

    static func ahead(seconds: Int64) -> TokenFault {
        TokenFault(
            "AU003", "It was signed \(words(seconds)) in the future.",
            "Set the clock of the machine that signs, or of this one.", .expiredProviderToken)
    }

    static func badSignature(_ bytes: [UInt8]) -> TokenFault {
        TokenFault(
            "AU011",
            "The signature has \(bytes.count) bytes instead of 64, and is not in DER either.",
            library)
    }

    static let otherKey = TokenFault(
        nil, "The signature is not this key's, or the token was changed after it was signed.",
        "Sign it with the key that its kid names.")

    /// A span in words: `3 h 5 min`, `12 min`, `45 s`.
    static func words(_ seconds: Int64) -> String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: "\(seconds / 86_400) days"
        }
    }
}
