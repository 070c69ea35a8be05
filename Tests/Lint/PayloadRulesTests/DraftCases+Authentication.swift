// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import WakeModel

extension DraftCase {
    private static let place = "authorization"

    private static func token(
        _ rule: RuleID, _ name: String, _ token: String, _ expectation: RuleCase.Expectation,
        host: String? = nil, configuration: WakeValidator.Configuration = .init()
    ) -> DraftCase {
        var headers: [PushDraft.Header] = [.init(place, token)]
        if let host { headers.append(.init(":authority", host)) }
        let draft = PushDraft(
            payload: Array(cleanBackground.utf8), headers: headers, now: testNow)
        return DraftCase(rule, draft, name, expectation, configuration: configuration)
    }

    private static func header(_ header: String) -> String {
        "bearer " + ProviderTokens.make(header: header)
    }

    private static func claims(_ claims: String) -> String {
        "bearer " + ProviderTokens.make(claims: claims)
    }

    private static func issued(_ offset: Int64) -> String {
        "bearer " + ProviderTokens.make(at: offset)
    }

    private static let good = "bearer " + ProviderTokens.good

    private static func reach(_ reach: WakeValidator.KeyReach) -> WakeValidator.Configuration {
        var configuration = WakeValidator.Configuration()
        configuration.signingKeys = ["ABC123DEFG": reach]
        return configuration
    }

    /// A label alone: no key is written here.
    private static let keyLabel = "-----BEGIN " + "PRIVATE KEY-----"

    static let authentication: [DraftCase] = [
        token(
            "AU001", "HS256", header(#"{"alg":"HS256","kid":"ABC123DEFG"}"#),
            .found(at: place, .error)),
        token("AU001", "good", good, .clean),
        token("AU001", "no alg", header(#"{"kid":"ABC123DEFG"}"#), .clean),
        token("AU002", "no kid", header(#"{"alg":"ES256"}"#), .found(at: place, .error)),
        token(
            "AU002", "short kid", header(#"{"alg":"ES256","kid":"ABC"}"#), .found(at: place, .error)
        ),
        token("AU002", "no iss", claims(#"{"iat":1795255200}"#), .found(at: place, .error)),
        token("AU002", "good", good, .clean),
        token("AU003", "no iat", claims(#"{"iss":"TEAM123456"}"#), .found(at: place, .error)),
        token(
            "AU003", "milliseconds", claims(#"{"iss":"TEAM123456","iat":1795255200000}"#),
            .found(at: place, .error)),
        token("AU003", "old", issued(-3601), .found(at: place, .error)),
        token("AU003", "ahead", issued(61), .found(at: place, .error)),
        token(
            "AU003", "absurd", claims(#"{"iss":"TEAM123456","iat":-9223372036854775808}"#),
            .found(at: place, .error)),
        token("AU003", "an hour", issued(-3600), .clean),
        token("AU003", "skewed", issued(60), .clean),
        token("AU006", "no scheme", ProviderTokens.good, .found(at: place, .error)),
        token("AU006", "basic", "Basic YTpi", .found(at: place, .error)),
        token("AU006", "a name", "bearer abc.def", .found(at: place, .note)),
        token("AU006", "cut", "bearer eyJhbGci", .found(at: place, .error)),
        token(
            "AU006", "no token", "bearer " + String(repeating: "YWJj", count: 22),
            .found(at: place, .error)),
        token("AU006", "capital", "Bearer " + ProviderTokens.good, .found(at: place, .note)),
        token("AU006", "good", good, .clean),
        token(
            "AU007", "other host", good, .found(at: place, .error), host: "api.push.apple.com:443",
            configuration: reach(.only(.sandbox))),
        token(
            "AU007", "other host", good, .found(at: place, .error),
            host: "api.development.push.apple.com", configuration: reach(.only(.production))),
        token(
            "AU007", "same host", good, .clean, host: "api.sandbox.push.apple.com",
            configuration: reach(.only(.sandbox))),
        token("AU007", "unknown key", good, .clean, host: "api.push.apple.com"),
        token(
            "AU009", "both", good, .found(at: place, .note), configuration: reach(.bothEnvironments)
        ),
        token("AU009", "one", good, .clean, configuration: reach(.only(.sandbox))),
        DraftCase(
            "AU010", PushDraft(payload: Array((keyLabel + "\nMIGT").utf8)), "a key file",
            .found(at: "", .error)),
        .payload(
            "AU010", .alert, #"{"aps":{},"a":["\#(keyLabel)\nMIGH"]}"#, .found(at: "/a/0", .error)),
        .request(
            "AU010", .background, [.init("x-key", "-----BEGIN EC " + "PRIVATE KEY-----")],
            .found(at: "x-key", .error)),
        DraftCase(
            "AU010", PushDraft(payload: Array("-----BEGIN CERTIFICATE-----".utf8)), "a certificate",
            .clean),
        token(
            "AU011", "text", claims(#"{"iss":"TEAM123456","iat":"1795255200"}"#),
            .found(at: place, .warning)),
        token(
            "AU003", "text in milliseconds", claims(#"{"iss":"TEAM123456","iat":"1795255200000"}"#),
            .found(at: place, .error)),
        token(
            "AU003", "text that is old", claims(#"{"iss":"TEAM123456","iat":"1795000000"}"#),
            .found(at: place, .error)),
        token(
            "AU011", "no time", claims(#"{"iss":"TEAM123456","iat":"now"}"#),
            .found(at: place, .error)),
        token(
            "AU011", "fraction", claims(#"{"iss":"TEAM123456","iat":1795255200.5}"#),
            .found(at: place, .error)),
        token("AU011", "no alg", header(#"{"kid":"ABC123DEFG"}"#), .found(at: place, .error)),
        token(
            "AU011", "72 bytes of noise", "bearer " + ProviderTokens.make(signatureLength: 72),
            .found(at: place, .error)),
        token(
            "AU011", "DER",
            "bearer "
                + ProviderTokens.make(
                    signature: [0x30, 68] + [2, 32] + [UInt8](repeating: 7, count: 32) + [2, 32]
                        + [UInt8](repeating: 7, count: 32)),
            .found(at: place, .warning)),
        token("AU011", "good", good, .clean),
    ]
}
