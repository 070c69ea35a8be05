// SPDX-License-Identifier: Apache-2.0

/// A gauge that is read when somebody asks for the metrics: what only those know who put the
/// gateway together.
public struct MetricReading: Sendable {
    /// What can be read so.
    public enum Gauge: Sendable, CaseIterable {
        /// Connections to APNs that are open.
        case apnsConnections
        /// Requests to APNs that are under way.
        case apnsStreams
        /// Age of the provider token that the next push carries, in seconds.
        case providerTokenAge
        /// Size of the store's write-ahead log, in bytes.
        case logSize
        /// 1 while new wakes are refused because the log has become too long, else 0.
        case logFull
        /// 1 while the log cannot be copied into the database, else 0.
        case logCopyingFailed
        /// 1 while the configuration in use is an older one, because the last reload was refused,
        /// else 0.
        case reloadFailed
    }

    /// What was read.
    public let gauge: Gauge
    /// What tells it apart; a bounded number of values, such as one for each configured key.
    public let labels: [(String, String)]
    /// The value.
    public let value: Double

    /// Creates a reading.
    public init(_ gauge: Gauge, _ labels: [(String, String)], _ value: Double) {
        self.gauge = gauge
        self.labels = labels
        self.value = value
    }
}

extension MetricReading.Gauge {
    /// Its name.
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
