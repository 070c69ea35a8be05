// SPDX-License-Identifier: Apache-2.0

/// The provider tokens in a history (rules AU004, AU005 and AU008).
struct TokenHistory: Sendable {
    private struct Key {
        let id: String
        let team: String
        /// The `iat` of the newest token, in seconds since the epoch.
        var issuedAt: Int64
    }

    /// The maximum number of tracked keys.
    private static let maximumKeys = 64

    private var keys: [Key] = []

    mutating func examine(
        _ token: ProviderTokenReading?, _ now: Int64, _ limits: WakeValidator.Thresholds,
        _ findings: inout HistoryFindings
    ) {
        guard let token, let id = token.keyID, let team = token.issuer,
            case .seconds(let issuedAt) = token.issuedAt
        else { return }
        let header = Rules.authorizationHeader
        let (age, overflow) = (now / 1000).subtractingReportingOverflow(issuedAt)
        if overflow || age > limits.tokenMaximumAgeSeconds {
            findings.report(
                "AU005",
                "a provider token is used for more than \(limits.tokenMaximumAgeSeconds) s",
                header: header)
        }
        guard let index = keys.firstIndex(where: { $0.id == id && $0.team == team }) else {
            noteKey(Key(id: id, team: team, issuedAt: issuedAt), &findings)
            return
        }
        let (life, isFar) = issuedAt.subtractingReportingOverflow(keys[index].issuedAt)
        guard life > 0 else { return }
        if !isFar, life < limits.tokenMinimumAgeSeconds {
            findings.report(
                "AU004",
                "a provider token is replaced after \(life) s, less than "
                    + "\(limits.tokenMinimumAgeSeconds) s", header: header)
        }
        keys[index].issuedAt = issuedAt
    }

    private mutating func noteKey(_ key: Key, _ findings: inout HistoryFindings) {
        if let first = keys.first {
            findings.report(
                "AU008",
                first.team == key.team
                    ? "another key signs pushes of the same stream"
                    : "another team pushes in the same stream", header: Rules.authorizationHeader)
        }
        if keys.count < Self.maximumKeys { keys.append(key) }
    }
}
