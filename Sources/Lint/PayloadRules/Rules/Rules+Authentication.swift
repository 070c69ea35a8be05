// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import WakeModel

/// Rules about the provider token in `authorization` and its key. Their messages never contain the
/// token.
extension Rules {
    static let authentication: [Rule] = [
        Rule(
            "AU001", .error, "the provider token is not signed with ES256",
            why: "APNs takes ES256 and nothing else.", from: [.providerTokens],
            fix: "Sign with ES256.", in: .draft
        ) { push, findings in
            guard let algorithm = token(of: push)?.algorithm, algorithm != "ES256" else { return }
            findings.report(.header(authorizationHeader))
        },
        Rule(
            "AU002", .error, "the provider token does not name its key or its team",
            why: "`kid` is the id of the key and `iss` that of the team, 10 characters each.",
            from: [.providerTokens], fix: "Use the ids of Apple's developer account.", in: .draft
        ) { push, findings in
            guard let token = token(of: push) else { return }
            for (name, id) in [("kid", token.keyID), ("iss", token.issuer)] {
                if let id, id.count != idLength {
                    findings.report(
                        .header(authorizationHeader),
                        "`\(name)` has \(id.count) characters, not \(idLength)")
                } else if id == nil {
                    findings.report(.header(authorizationHeader), "`\(name)` is missing")
                }
            }
        },
        Rule(
            "AU003", .error, "the provider token is not of the last hour",
            why: "APNs answers ExpiredProviderToken.", from: [.providerTokens],
            fix:
                "Set `iat` to the current time in seconds since 1970, and renew it within an hour.",
            in: .draft, check: wrongIssueTime),
        Rule(
            "AU006", .error, "authorization is not `bearer` and a provider token",
            why: """
                APNs answers MissingProviderToken or InvalidProviderToken. A command that shows \
                nothing to sign in with is a warning: its settings may be in another file.
                """, from: [.sending],
            fix: "Write `bearer`, a space, and the token.", in: .draft
        ) { push, findings in
            guard let draft = push.draft else { return }
            guard let value = draft[authorizationHeader] else {
                if draft.lacksCertificate, draft.lacks(authorizationHeader) {
                    findings.report(
                        .header(authorizationHeader),
                        "a signing key is no certificate, and authorization is missing",
                        fix: "Send a provider token in authorization.")
                }
                return
            }
            guard let bearer = bearer(of: value) else {
                findings.report(
                    .header(authorizationHeader), "the scheme of authorization is not `bearer`")
                return
            }
            if ProviderTokenReading(bearer) == nil {
                // What is short and does not begin as a token does stands there for one.
                let isName = bearer.utf8.count < shortestToken && !bearer.hasPrefix("eyJ")
                findings.report(
                    .header(authorizationHeader), "what follows `bearer` is not a JSON web token",
                    fix: "Give three parts in Base64url: header, claims and signature.",
                    severity: isName ? .note : nil)
            } else if !value.hasPrefix("bearer ") {
                findings.report(
                    .header(authorizationHeader), "the scheme is not in lower case",
                    fix: "Write `bearer`, as Apple does.", severity: .note)
            }
        },
        Rule(
            "AU007", .error, "the key is for the other environment",
            why: """
                A key made since February 2025 works in one environment, and APNs refuses it in \
                the other.
                """,
            from: [.providerTokens], fix: "Use a key of the host's environment.", in: .draft
        ) { push, findings in
            guard case .only(let environment) = keyReach(of: push),
                let host = environmentOfHost(push), host != environment
            else { return }
            findings.report(
                .header(authorizationHeader),
                "the key is for \(environment), and the host for \(host)")
        },
        Rule(
            "AU009", .note, "the key works in both environments",
            why: "Apple recommends a key for each environment, so that less is lost with one.",
            from: [.providerTokens], fix: "Make a key for each environment.", in: .draft
        ) { push, findings in
            if keyReach(of: push) == .bothEnvironments {
                findings.report(.header(authorizationHeader))
            }
        },
        Rule(
            "AU010", .error, "a private key is in the text",
            why: "Whoever reads it can push to all of the team's apps.",
            from: [.providerTokens, .proposal],
            fix: "Revoke the key, and keep the new one out of files that are shared.", in: .draft
        ) { push, findings in
            reportPrivateKeys(push, &findings)
            guard let draft = push.draft else { return }
            for (field, name) in zip(draft.fields, draft.names)
            where privateKeyOffset(Array(field.value.utf8)) != nil {
                findings.report(.header(name))
            }
        },
        Rule(
            "AU011", .error, "the provider token is not formed as APNs expects",
            why: """
                `iat` is a number of seconds, `alg` is there, and the signature is r and s of 32 \
                bytes each. APNs takes an `iat` in quotes and a signature in DER as well, of which \
                no page of Apple's speaks: those two are warnings.
                """,
            from: [.providerTokens, .rfc7518], fix: "Do not imitate the sample token.", in: .draft,
            check: malformedToken),
    ]

    static let authorizationHeader = "authorization"
    /// The length of Apple's key ids and team ids, in characters.
    private static let idLength = 10
    /// The least length of a token in characters: its signature alone has 86.
    private static let shortestToken = 86
    /// The length of an ES256 signature, in bytes (RFC 7518 §3.4).
    private static let signatureLength = 64

    /// The provider token of a draft, if it is readable.
    static func token(of push: ValidationContext) -> ProviderTokenReading? {
        push.draft?[authorizationHeader].flatMap(bearer).flatMap { ProviderTokenReading($0) }
    }

    /// The token after the scheme `bearer`, which is case-insensitive (RFC 9110 §11.1).
    private static func bearer(of value: String) -> Substring? {
        guard let space = value.utf8.firstIndex(of: 0x20),
            value[..<space].lowercased() == "bearer"
        else { return nil }
        return value[value.index(after: space)...]
    }

    private static func keyReach(of push: ValidationContext) -> WakeValidator.KeyReach? {
        guard !push.settings.signingKeys.isEmpty else { return nil }
        return token(of: push)?.keyID.flatMap { push.settings.signingKeys[$0] }
    }

    /// The environment of the draft's host, if it is one of Apple's.
    static func environmentOfHost(_ push: ValidationContext) -> APNsEnvironment? {
        guard let draft = push.draft, let authority = draft[":authority"] ?? draft["host"] else {
            return nil
        }
        let host = authority.prefix { $0 != ":" }.lowercased()
        guard host.hasSuffix(".push.apple.com") else { return nil }
        let isSandbox = host.contains(".sandbox.") || host.contains(".development.")
        return isSandbox ? .sandbox : .production
    }

    private static func wrongIssueTime(_ push: ValidationContext, _ findings: inout Findings) {
        guard let token = token(of: push) else { return }
        let place = Findings.Place.header(authorizationHeader)
        switch token.issuedAt {
        case .missing: findings.report(place, "`iat` is missing")
        case .milliseconds: findings.report(place, "`iat` is in milliseconds")
        case .notInteger: break
        case .seconds(let issued):
            guard let now = push.draft?.now?.secondsSinceEpoch else { return }
            let thresholds = push.settings.thresholds
            let (age, overflow) = now.subtractingReportingOverflow(issued)
            if overflow || age > thresholds.tokenMaximumAgeSeconds {
                findings.report(
                    place,
                    "the provider token is older than \(thresholds.tokenMaximumAgeSeconds) s")
            } else if age < -thresholds.clockSkewSeconds {
                findings.report(
                    place,
                    "`iat` is more than \(thresholds.clockSkewSeconds) s ahead of the clock")
            }
        }
    }

    private static func malformedToken(_ push: ValidationContext, _ findings: inout Findings) {
        guard let token = token(of: push) else { return }
        let place = Findings.Place.header(authorizationHeader)
        switch token.issuedAt {
        case .notInteger:
            findings.report(place, "`iat` is not a whole number", fix: "Write it in whole seconds.")
        case .milliseconds:
            findings.report(place, "`iat` is in milliseconds", fix: "Write it in seconds.")
        case .missing, .seconds: break
        }
        if token.isIssueTimeText {
            findings.report(
                place, "`iat` is text", fix: "Write it as a number, without quotes.",
                severity: .warning)
        }
        if token.algorithm == nil {
            findings.report(place, "`alg` is missing", fix: "Add `alg` with ES256 to the header.")
        }
        if token.signatureByteCount != signatureLength {
            findings.report(
                place,
                "the signature has \(token.signatureByteCount) bytes, not \(signatureLength)",
                fix: "Write r and s, 32 bytes each, instead of DER.",
                severity: token.hasDERSignature ? .warning : .error)
        }
    }

    /// Reports each value with a private key, or the text if it is no JSON.
    private static func reportPrivateKeys(_ push: ValidationContext, _ findings: inout Findings) {
        guard let offset = privateKeyOffset(push.payload) else { return }
        let values = push.document.map { document in
            document.nodes.indices.filter { node in
                document.kind(node) == .string
                    && privateKeyOffset(Array(document.literal(node))) != nil
            }
        }
        guard let values, !values.isEmpty else {
            findings.report(.offset(offset, pointer: ""))
            return
        }
        for value in values { findings.report(.node(value)) }
    }

    /// The offset of the PEM label of a private key; `nil` if there is none.
    private static func privateKeyOffset(_ bytes: [UInt8]) -> Int? {
        let dash = UInt8(ascii: "-")
        var index = 0
        while index + 10 < bytes.count, let next = bytes[index...].firstIndex(of: dash) {
            let rest = bytes[next...]
            if rest.starts(with: "-----BEGIN ".utf8) {
                let label = rest.dropFirst(11).prefix(40)
                let end = label.firstIndex(of: dash) ?? label.endIndex
                if label[..<end].reversed().starts(with: "PRIVATE KEY".utf8.reversed()) {
                    return next
                }
            }
            index = next + 1
        }
        return nil
    }
}
