// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Who sends: provider tokens and client certificates (facts §4).
extension RequestJudge {
    /// The authenticated sender of a request.
    enum Sender {
        case token(ConnectionIdentity.AcceptedToken)
        case certificate(ConnectionIdentity.CertificateRights)
    }

    /// How far `iat` may be from now, in seconds, either way.
    static let maximumTokenAgeSeconds: Int64 = 3600
    /// How long a provider token counts as a recent change, in milliseconds: 20 minutes.
    static let tokenUpdateWindowMilliseconds: Int64 = 20 * 60 * 1000
    /// How many different provider tokens of one key a connection takes within that time: the one
    /// it began with and one new one (facts §12).
    static let tokensPerUpdateWindow = 2

    /// Finds out who sends. A client certificate settles it, and the `authorization` header is
    /// then ignored, as Apple documents.
    func authenticate(
        _ head: RequestHead, connection: inout ConnectionIdentity, now: WallInstant
    ) -> Result<Sender, ConnectionIdentity.Rejection> {
        if let rights = connection.certificate {
            let rejection = rights.rejection(in: environment, now: now)
            return rejection.map { .failure($0) } ?? .success(.certificate(rights))
        }
        guard let header = head.authorization else { return .failure(.missing) }
        if connection.isWedged { return .failure(.expired) }
        let result: Result<ConnectionIdentity.AcceptedToken, ConnectionIdentity.Rejection>
        if let latest = connection.latest, latest.header == header {
            result = latest.result
        } else {
            result = accept(header, connection: &connection, now: now)
            // What only time makes wrong is not remembered: time can make it right again.
            switch result {
            case .success, .failure(.invalid): connection.latest = (header, result)
            case .failure: break
            }
        }
        return result.flatMap { token in
            isTimely(token.issuedAtSeconds, now: now)
                ? .success(.token(token)) : .failure(.expired)
        }
        .mapError { rejection in
            if rejection == .expired { connection.isWedged = wedgesOnExpiredToken }
            return rejection
        }
    }

    /// Checks a provider token that differs from the last one.
    private func accept(
        _ header: String, connection: inout ConnectionIdentity, now: WallInstant
    ) -> Result<ConnectionIdentity.AcceptedToken, ConnectionIdentity.Rejection> {
        guard let compact = Self.credentials(in: header) else { return .failure(.invalid) }
        guard !compact.isEmpty else { return .failure(.missing) }
        guard let token = ProviderToken(compact: compact) else { return .failure(.invalid) }
        connection.deviations.formUnion(token.deviations)
        guard token.deviations.isDisjoint(with: refusedDeviations) else {
            return .failure(.invalid)
        }
        let identity = VerifyingKey.Identity(teamID: token.teamID, keyID: token.keyID)
        let key = keys[identity]
        if !keys.isEmpty {
            guard let key, key.verifies(token) else { return .failure(.invalid) }
        }
        guard isTimely(token.issuedAtSeconds, now: now) else { return .failure(.expired) }
        if let own = key?.environment, own != environment { return .failure(.otherEnvironment) }
        if let rejection = bind(identity, to: &connection) { return .failure(rejection) }
        if let rejection = note(header, of: identity, in: &connection, now: now) {
            return .failure(rejection)
        }
        return .success(.init(issuedAtSeconds: token.issuedAtSeconds, topics: key?.topics))
    }

    /// Holds the connection to the team and the kind of key that it began with.
    private func bind(
        _ identity: VerifyingKey.Identity, to connection: inout ConnectionIdentity
    ) -> ConnectionIdentity.Rejection? {
        guard let team = connection.teamID, let first = connection.firstKey else {
            connection.teamID = identity.teamID
            connection.firstKey = identity
            return nil
        }
        guard team == identity.teamID else { return .invalid }
        guard first != identity, let firstKey = keys[first], let key = keys[identity] else {
            return nil
        }
        if firstKey.topics != nil {
            return firstKey.relatedKeyID == identity.keyID ? nil : .unrelated
        }
        return key.topics == nil ? nil : .unrelated
    }

    /// Holds the connection to one change of token in twenty minutes for each key.
    private func note(
        _ header: String, of identity: VerifyingKey.Identity,
        in connection: inout ConnectionIdentity, now: WallInstant
    ) -> ConnectionIdentity.Rejection? {
        if connection.recentTokens.contains(where: { $0.header == header }) { return nil }
        connection.recentTokens.removeAll {
            now.milliseconds(since: $0.firstSeen) >= Self.tokenUpdateWindowMilliseconds
        }
        let recent = connection.recentTokens.count { $0.key == identity }
        guard recent < Self.tokensPerUpdateWindow else { return .tooManyUpdates }
        connection.recentTokens.append(.init(header: header, key: identity, firstSeen: now))
        return nil
    }

    private func isTimely(_ issuedAtSeconds: Int64, now: WallInstant) -> Bool {
        let (age, overflow) = now.secondsSinceEpoch.subtractingReportingOverflow(issuedAtSeconds)
        return !overflow && age.magnitude <= Self.maximumTokenAgeSeconds.magnitude
    }

    /// What follows `bearer `, in any case: whether APNs minds the case is not known.
    private static func credentials(in header: String) -> Substring? {
        let parts = header.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts[0].lowercased() == "bearer" else { return nil }
        return parts.count == 2 ? parts[1] : ""
    }
}

extension ConnectionIdentity.Rejection {
    static let missing = Self(reason: .missingProviderToken)
    static let invalid = Self(reason: .invalidProviderToken)
    static let expired = Self(reason: .expiredProviderToken)
    static let unrelated = Self(reason: .unrelatedKeyIDInToken)
    static let tooManyUpdates = Self(reason: .tooManyProviderTokenUpdates)
    /// In the spelling that APNs is seen to use; Apple's page prints another (facts §3.3).
    static let otherEnvironment = Self(reason: .badEnvironmentKeyInToken)
    static let badCertificate = Self(reason: .badCertificate)
    static let otherCertificateEnvironment = Self(reason: .badCertificateEnvironment)
}
