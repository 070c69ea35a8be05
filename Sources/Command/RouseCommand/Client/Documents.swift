// SPDX-License-Identifier: Apache-2.0

// The gateway's answers, as far as commands show them. The whole of them is in /openapi.json.

/// `GET /readyz`.
struct ReadinessDocument: Decodable {
    let status: String
    let reasons: [String]
    let warnings: [String]?
}

/// `GET /v1/webhooks`.
struct WebhookListDocument: Decodable {
    let endpoints: [Endpoint]

    struct Endpoint: Codable {
        let endpoint: String
        let backlog: Int?
        let dropped: Int
        let oldestAt: String?
        let failingSince: String?
        let lastFailureAt: String?
        let lastFailure: String?
        let lastDeliveredAt: String?
        let warning: String?
    }
}

/// `GET /v1/stats`.
struct StatsDocument: Decodable {
    let accepted: Int
    let unended: Int
    let inFlight: Int
    let intakeQueue: Int
    let byState: [String: Int]
    let oldestDueMilliseconds: [String: Int]
    /// The status of a store that gateways share.
    let store: Store?

    struct Store: Codable {
        let engine: String
        let serverVersion: String
        let gateways: [Member]
        let openTransactions: [OpenTransaction]
        let standbyLagBytes: Int?
        let clockOffsetMilliseconds: Int
        let conflictsPerSecond: Double
    }

    struct Member: Codable {
        let name: String
        let this: Bool
        let alive: Bool
        let since: String
        let silentMilliseconds: Int
        let writers: Int
        let leases: Int
    }

    struct OpenTransaction: Codable {
        let owner: String
        let seconds: Int
        let message: String
    }
}

/// `GET /v1/apps`.
struct AppListDocument: Decodable {
    let apps: [App]

    struct App: Decodable {
        let app: String
        let environment: String
        let paused: Pause?
        let queues: [WakeQueueKey]
    }

    struct Pause: Decodable {
        let at: String
        let reason: String?
    }

    struct WakeQueueKey: Decodable {
        let kind: String
        let state: String
        let message: String
        let reason: String?
        let unansweredSince: String?
        let failure: String?
        let unresponsive: Unresponsive?
    }

    struct Unresponsive: Decodable {
        let explanation: String
    }
}

/// `POST /v1/wakes/lookup`.
struct WakePageDocument: Decodable {
    let wakes: [WakeDocument]
    let next: String?
}

/// A wake of `GET /v1/wakes/{id}`.
struct WakeDocument: Decodable {
    let id: String
    let state: String
    let kind: String
    let app: String
    let environment: String
    let device: String
    let acceptedAt: String
    let urgency: String?
    let decision: Decision
    let waiting: Waiting?
    let carriedBy: String?
    let dueAt: String?
    let deadline: String
    let endedAt: String?
    let outcome: Outcome?
    let carrierOutcome: Outcome?
    let launchedAt: String?
    let attempts: [Attempt]

    struct Decision: Decodable {
        let type: String
        let message: String
    }

    struct Waiting: Decodable {
        let message: String
        let reasons: [Reason]

        struct Reason: Decodable {
            let message: String
        }
    }

    struct Outcome: Decodable {
        let state: String
        let explanation: String
        let status: Int?
        let reason: String?
        let apnsUniqueId: String?
    }

    struct Attempt: Decodable {
        let startedAt: String
        let endedAt: String
        let result: String
        let status: Int?
        let reason: String?
        let explanation: String?
    }
}

/// `POST /v1/devices/lookup`.
struct DeviceDocument: Decodable {
    let queues: [WakeQueueKey]

    struct WakeQueueKey: Decodable {
        let app: String
        let environment: String
        let kind: String
        let device: String
        let registeredAt: String?
        let user: String?
        let deadSince: String?
        let lastReceiptAt: String?
        let explanation: [String]
        let pending: WakeDocument?
        let recent: [WakeDocument]
    }
}

/// The answer to `POST /v1/wakes/batch`.
struct BatchDocument: Decodable {
    let accepted: Int
    let refused: Int
    let items: [Item]

    struct Item: Decodable {
        let status: Int
        let wake: Wake?
        let problem: ProblemDocument?
        /// For a user: an answer for each device.
        let items: [Item]?

        /// The wakes that were taken.
        var wakes: [Wake] { (items ?? []).compactMap(\.wake) + (wake.map { [$0] } ?? []) }
        /// What is wrong with it, or with the first device that was refused.
        var firstProblem: ProblemDocument? {
            problem ?? items?.lazy.compactMap(\.problem).first
        }
    }

    struct Wake: Decodable {
        let id: String
        let decision: WakeDocument.Decision
    }
}
