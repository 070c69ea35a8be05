// SPDX-License-Identifier: Apache-2.0

import Gateway

/// What the routes work with.
struct Services: Sendable {
    let gateway: Gateway
    let configuration: AdminConfiguration
    let metrics: AdminMetrics
    let connections: ConnectionCount
    /// Event streams that are open.
    let streams: ConnectionCount
    /// Where changes that a caller makes are written, a line each.
    let audit: AuditLog
    /// What else is read for the metrics.
    let readings: @Sendable () -> [MetricReading]
}
