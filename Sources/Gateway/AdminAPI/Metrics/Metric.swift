// SPDX-License-Identifier: Apache-2.0

/// The metrics of Rouse with their help texts, as `/metrics` returns them.
///
/// Labels have a bounded number of values: kinds, decisions, states, Apple's reasons, and up to 100
/// configured apps. A device, a wake or an app that is not configured is never a label.
enum Metric: String, CaseIterable, Sendable {
    case accepted = "rouse_wakes_accepted_total"
    case decisions = "rouse_decisions_total"
    case ended = "rouse_wakes_ended_total"
    case refused = "rouse_requests_refused_total"
    case broadcasts = "rouse_broadcasts_total"
    case broadcastLatency = "rouse_broadcast_seconds"
    case budgetDeferrals = "rouse_budget_deferrals_total"
    case coalesced = "rouse_wakes_coalesced_total"
    case queueDepth = "rouse_queue_depth"
    case queueAge = "rouse_queue_oldest_due_age_seconds"
    case inFlight = "rouse_wakes_in_flight"
    case intakeQueue = "rouse_intake_queue_depth"
    case webhooks = "rouse_webhook_deliveries_total"
    case webhooksDropped = "rouse_webhook_events_dropped_total"
    case webhookBacklog = "rouse_webhook_backlog"
    case webhookAge = "rouse_webhook_oldest_age_seconds"
    case webhookFailing = "rouse_webhook_failing_seconds"
    case webhooksUnconfigured = "rouse_webhook_unconfigured_backlog"
    case dueLag = "rouse_due_lag_seconds"
    case requestLatency = "rouse_http_request_seconds"
    case apnsLatency = "rouse_apns_request_seconds"
    case httpConnections = "rouse_http_connections"
    case eventStreams = "rouse_event_streams"
    case apnsConnections = "rouse_apns_connections"
    case apnsStreams = "rouse_apns_streams"
    case providerTokenAge = "rouse_provider_token_age_seconds"
    case commitTime = "rouse_store_commit_seconds"
    case commitRows = "rouse_store_commit_rows"
    case logSize = "rouse_store_log_bytes"
    case logFull = "rouse_store_log_full"
    case logCopyingFailed = "rouse_store_log_copying_failed"
    case storeGateways = "rouse_store_gateways"
    case storeTrips = "rouse_store_round_trips_total"
    case storeTime = "rouse_store_database_seconds_total"
    case storeConflicts = "rouse_store_conflicts_total"
    case storeClockOffset = "rouse_store_clock_offset_seconds"
    case storeStandbyLag = "rouse_store_standby_lag_bytes"
    case storeOpenTransaction = "rouse_store_open_transaction_seconds"
    case damagedRows = "rouse_store_damaged_rows_total"
    case ready = "rouse_ready"
    case reloadFailed = "rouse_config_reload_failed"
    case appHeld = "rouse_app_held"
    case appPaused = "rouse_app_paused"
    case queueInFlight = "rouse_app_wakes_in_flight"
    case queueUnresponsive = "rouse_app_unresponsive"
    case droppedSeries = "rouse_metrics_dropped_series_total"

    /// The Prometheus type of a metric.
    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    var kind: Kind {
        switch self {
        case .dueLag, .requestLatency, .apnsLatency, .broadcastLatency, .commitTime, .commitRows:
            .histogram
        case .accepted, .decisions, .ended, .refused, .broadcasts, .budgetDeferrals,
            .coalesced, .webhooks, .webhooksDropped, .damagedRows, .droppedSeries, .storeTrips,
            .storeTime, .storeConflicts:
            .counter
        default: .gauge
        }
    }

    /// The help text, one line.
    var help: String {
        switch self {
        case .accepted: "Wakes that were accepted and are on disk."
        case .decisions: "What the budget decided of accepted wakes."
        case .ended: "Wakes that ended, by state and the reason for it."
        case .refused: "Requests for wakes that were not accepted."
        case .broadcasts: "Broadcasts that were sent to APNs, by what became of them."
        case .broadcastLatency: "Time until APNs answered a broadcast."
        case .budgetDeferrals: "Wakes that the budget made wait."
        case .coalesced: "Wakes that were merged into one that waited."
        case .queueDepth: "Wakes that wait for their time or for room."
        case .queueAge: "How long the longest due wake has waited for room."
        case .inFlight: "Wakes that are claimed and not yet settled."
        case .intakeQueue: "Requests that wait to be written."
        case .webhooks: "Webhook events, by what became of their delivery."
        case .webhooksDropped:
            "Webhook events that were not kept: too many waited, or their wake was removed."
        case .webhookBacklog: "Webhook events that wait to be delivered."
        case .webhookAge: "Age of the oldest webhook event that was tried and not taken."
        case .webhookFailing: "For how long a webhook receiver has taken nothing; 0 if it does."
        case .webhooksUnconfigured:
            "Webhook events that are kept for endpoints which are not configured any more."
        case .dueLag: "Time from a wake's due time until it was handed to the transport."
        case .requestLatency: "Time to answer a request, by route."
        case .apnsLatency: "Time from claiming a wake until APNs answered."
        case .httpConnections: "Connections of callers that are open."
        case .eventStreams: "Event streams that are open."
        case .apnsConnections: "Connections to APNs that are open."
        case .apnsStreams: "Requests to APNs that are under way."
        case .providerTokenAge: "Age of the provider token in use."
        case .commitTime: "Time until wakes or outcomes that were written together are on disk."
        case .commitRows: "Wakes or outcomes that were written together."
        case .logSize: "Size of the store's write-ahead log on disk."
        case .logFull:
            "1 while new wakes are refused because a reader of the store keeps its log long."
        case .logCopyingFailed: "1 while the write-ahead log cannot be copied into the database."
        case .storeGateways: "Gateways on a shared store that give signs of life."
        case .storeTrips: "Round trips of commands to a shared store's database."
        case .storeTime: "Time that the database and the way to it took, by command."
        case .storeConflicts:
            "Decisions made anew because another gateway had changed the rows, by command."
        case .storeClockOffset: "How much the database's clock is ahead of this machine's."
        case .storeStandbyLag: "Log that the standby farthest behind has not flushed."
        case .storeOpenTransaction:
            "Age of the oldest transaction that has been open in the database for over a minute."
        case .damagedRows: "Rows of the store that were found damaged since the start, by table."
        case .appHeld: "1 when an app is held back because APNs refuses what it sends."
        case .appPaused: "1 when somebody has paused an app."
        case .queueInFlight: "Wakes of an app that are claimed and not yet settled."
        case .queueUnresponsive: "1 when APNs answers nothing of what an app sends."
        case .ready: "1 when the gateway is ready, as in /readyz."
        case .reloadFailed:
            "1 while the last reload was refused, so that an older configuration is in use."
        case .droppedSeries: "Series that were not kept because there were too many."
        }
    }

    /// The names of the labels, in alphabetical order. `key` and `team` are absent if the app
    /// authenticates with a certificate.
    var labels: [String] {
        switch self {
        case .coalesced, .queueAge: ["kind"]
        case .accepted, .dueLag, .apnsLatency: ["app", "environment", "kind"]
        case .broadcasts: ["app", "environment", "reason", "result"]
        case .broadcastLatency, .appPaused: ["app", "environment"]
        case .decisions: ["app", "decision", "environment", "kind"]
        case .ended: ["app", "environment", "kind", "reason", "state"]
        case .refused: ["reason"]
        case .webhooks: ["endpoint", "result"]
        case .webhooksDropped, .webhookBacklog, .webhookAge, .webhookFailing: ["endpoint"]
        case .requestLatency: ["method", "route", "status"]
        case .apnsConnections, .apnsStreams: ["key", "server", "team"]
        case .providerTokenAge: ["key", "team"]
        case .commitTime: ["verb"]
        case .storeTrips, .storeTime, .storeConflicts: ["verb"]
        case .damagedRows: ["table"]
        case .appHeld, .queueInFlight, .queueUnresponsive: ["app", "environment", "kind"]
        case .budgetDeferrals, .queueDepth, .inFlight, .intakeQueue, .httpConnections,
            .eventStreams, .commitRows, .logSize, .logFull, .logCopyingFailed, .ready,
            .reloadFailed, .droppedSeries, .webhooksUnconfigured, .storeGateways, .storeClockOffset,
            .storeStandbyLag, .storeOpenTransaction:
            []
        }
    }

    /// The upper bounds of the buckets of a histogram, in seconds or in rows.
    var bounds: [Double] {
        switch self {
        case .commitRows: [1, 4, 16, 64, 256, 1_024, 4_096]
        default:
            [
                0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
                30, 60,
            ]
        }
    }
}
