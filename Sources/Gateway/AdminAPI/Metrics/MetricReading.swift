// SPDX-License-Identifier: Apache-2.0

/// The value of a gauge that is read from outside the gateway when metrics are requested.
public struct MetricReading: Sendable {
    /// The gauges that are read on request.
    public enum Gauge: Sendable, CaseIterable {
        /// The number of open connections to APNs.
        case apnsConnections
        /// The number of requests to APNs in flight.
        case apnsStreams
        /// The age of the provider token that the next push uses, in seconds.
        case providerTokenAge
        /// The size of the store's write-ahead log, in bytes.
        case logSize
        /// 1 while new wakes are refused because the write-ahead log is too long, else 0.
        case logFull
        /// 1 while the write-ahead log cannot be copied into the database, else 0.
        case logCopyingFailed
        /// 1 while an older configuration is in use because the last reload failed, else 0.
        case reloadFailed
    }

    /// The gauge.
    public let gauge: Gauge
    /// The labels, with a bounded number of values, such as one for each configured key.
    public let labels: [(String, String)]
    /// The value, in the unit of the gauge.
    public let value: Double

    /// Creates a reading.
    public init(_ gauge: Gauge, _ labels: [(String, String)], _ value: Double) {
        self.gauge = gauge
        self.labels = labels
        self.value = value
    }
}

extension MetricReading.Gauge {
    /// The metric of the gauge.
    var metric: Metric {
        switch self {
        case .apnsConnections: .apnsConnections
        case .apnsStreams: .apnsStreams
        case .providerTokenAge: .providerTokenAge
        case .logSize: .logSize
        case .logFull: .logFull
        case .logCopyingFailed: .logCopyingFailed
        case .reloadFailed: .reloadFailed
        }
    }
}
