// SPDX-License-Identifier: Apache-2.0

import Foundation
import WakeModel

/// Provider tokens with made-up signatures: the rules look at their form.
enum ProviderTokens {
    static let good = make()

    static func make(
        header: String = #"{"alg":"ES256","kid":"ABC123DEFG"}"#,
        claims: String = #"{"iss":"TEAM123456","iat":1795255200}"#, signatureLength: Int = 64
    ) -> String {
        make(
            header: header, claims: claims, signature: Array(repeating: 7, count: signatureLength))
    }

    static func make(
        header: String = #"{"alg":"ES256","kid":"ABC123DEFG"}"#,
        claims: String = #"{"iss":"TEAM123456","iat":1795255200}"#, signature: [UInt8]
    ) -> String {
        [Data(header.utf8), Data(claims.utf8), Data(signature)]
            .map(base64URL).joined(separator: ".")
    }

    /// A token of this key and team, issued so many seconds after ``testNow``.
    static func make(
        key: String = "ABC123DEFG", team: String = "TEAM123456", at offset: Int64
    )
        -> String
    {
        make(
            header: "{\"alg\":\"ES256\",\"kid\":\"\(key)\"}",
            claims: "{\"iss\":\"\(team)\",\"iat\":\(testNow.secondsSinceEpoch + offset)}")
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}
