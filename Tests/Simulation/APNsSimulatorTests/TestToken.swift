// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import OpenSSLCrypto

/// Provider tokens for tests, made by hand and signed by OpenSSL.
enum TestToken {
    static let team = "TEAM123456"
    static let key = "KEYKEY1234"
    /// The moment that tests take for now: 2026-11-21T09:20:00Z.
    static let now: Int64 = 1_795_252_800

    /// A token of this run, the same each time: one for every second of a slow test would be
    /// changed too often.
    static let current = bearer()

    static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// A JWS with this header and these claims, in JSON; without a key, the signature is noise.
    static func compact(
        header: String, claims: String, signedBy key: P256PrivateKey? = nil
    ) -> String {
        let signed = base64URL(header.utf8) + "." + base64URL(claims.utf8)
        guard let key else { return signed + "." + base64URL(Array(repeating: 1, count: 64)) }
        return signed + "." + base64URL(key.signature(for: signed.utf8).bytes)
    }

    /// A signature in DER (RFC 3279 §2.2.3), as some clients send it.
    static func der(_ signature: ES256Signature) -> [UInt8] {
        let numbers = [signature.bytes.prefix(32), signature.bytes.suffix(32)].map { number in
            var bytes = Array(number.drop { $0 == 0 })
            // The first bit is the sign.
            if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: 0) }
            return [0x02, UInt8(bytes.count)] + bytes
        }.joined()
        return [0x30, UInt8(numbers.count)] + numbers
    }

    /// An `authorization` header with a token as Apple wants it.
    static func bearer(
        team: String = team, key: String = key, issuedAt: Int64? = nil,
        signedBy signer: P256PrivateKey? = nil
    ) -> String {
        let issuedAt = issuedAt ?? Int64(Date().timeIntervalSince1970)
        let token = compact(
            header: #"{"alg":"ES256","kid":"\#(key)"}"#,
            claims: #"{"iss":"\#(team)","iat":\#(issuedAt)}"#, signedBy: signer)
        return "bearer " + token
    }
}
