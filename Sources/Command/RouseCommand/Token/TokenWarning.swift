// SPDX-License-Identifier: Apache-2.0

/// What is against the rules in a provider token, and what APNs takes all the same from clients
/// that are widely used (facts §4.1). No page of Apple's says that it always will.
struct TokenWarning: Hashable, Sendable {
    /// The rule it breaks (facts §5.9.5).
    let rule: String
    /// What is wrong, as a sentence.
    let message: String
    /// What to do, as a sentence.
    let fix: String

    static let textualTime = TokenWarning(
        rule: "AU011", message: "iat is a text instead of a number; APNs is seen to take it.",
        fix: "Write it without quotes.")

    static func derSignature(byteCount: Int) -> TokenWarning {
        TokenWarning(
            rule: "AU011",
            message: "The signature has \(byteCount) bytes instead of 64: it is in DER, as OpenSSL "
                + "writes it; APNs is seen to take it.",
            fix: "Write r and s, 32 bytes each, one after the other (RFC 7518 §3.4).")
    }
}
