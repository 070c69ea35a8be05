// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The client of one connection, as identified by its requests (facts §4.4).
struct ConnectionIdentity: Sendable {
    /// The client certificate's rights; `nil` when the client presented no certificate.
    var certificate: CertificateRights?
    /// The team of the first valid provider token. One connection serves one team.
    var teamID: String?
    /// The key of the first valid provider token.
    var firstKey: VerifyingKey.Identity?
    /// The last `authorization` value and its verdict: the cache that keeps signature verification
    /// off the hot path.
    var latest: (header: String, result: Result<AcceptedToken, Rejection>)?
    /// The accepted provider tokens that still count against the rule of twenty minutes.
    var recentTokens: [RecentToken] = []
    /// In what its provider tokens differed from the letter of the rules.
    var deviations: ProviderToken.Deviations = []
    /// Set once a provider token was found expired and the configuration says that this wedges
    /// the connection (facts §1.6).
    var isWedged = false

    /// Whether a provider has authenticated on this connection.
    var isAuthenticated: Bool { certificate != nil || teamID != nil }

    /// What a client certificate permits.
    struct CertificateRights: Hashable, Sendable {
        /// The topics it may push to; `nil` for any.
        var topics: Set<String>?
        /// The one environment it is for; `nil` for both.
        var environment: APNsEnvironment?
        /// Its last second, since the epoch; `nil` for no end.
        var validUntilSeconds: Int64?

        /// Why the certificate is refused at `now` in `environment`; `nil` if it is valid. TLS has
        /// verified it; its term and environment are checked here.
        func rejection(in environment: APNsEnvironment, now: WallInstant) -> Rejection? {
            if let end = validUntilSeconds, now.secondsSinceEpoch > end { return .badCertificate }
            guard let own = self.environment, own != environment else { return nil }
            return .otherCertificateEnvironment
        }
    }

    /// A provider token that passed every check but the ones that time can change.
    struct AcceptedToken: Sendable {
        let issuedAtSeconds: Int64
        /// The bundle ids of a topic-specific key; `nil` for all.
        let topics: Set<String>?
    }

    /// Why a sender was refused, in a form that `Result` takes.
    struct Rejection: Error, Hashable {
        let reason: RejectionReason
    }

    /// One accepted token with the moment of its first use.
    struct RecentToken: Sendable {
        let header: String
        let key: VerifyingKey.Identity
        let firstSeen: WallInstant
    }
}
