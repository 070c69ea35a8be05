// SPDX-License-Identifier: Apache-2.0

internal import LoopKit
internal import PushTransport

/// The configuration's times of a connection in milliseconds, which the loop compares at each turn.
struct ConnectionTerms {
    /// After so long a successor is wanted.
    let maximumAge: Int64
    /// After so long without a request it is closed.
    let maximumIdleTime: Int64
    /// After so long without a byte from the peer it is asked for one; `nil` for never.
    let silence: Int64?
    /// How long the peer may take to answer then.
    let patience: Int64

    init(_ configuration: TransportConfiguration) {
        maximumAge = configuration.maximumConnectionAge.wholeMilliseconds
        maximumIdleTime = configuration.maximumIdleTime.wholeMilliseconds
        silence = configuration.keepAlive?.idle.wholeMilliseconds
        patience = configuration.keepAlive?.interval.wholeMilliseconds ?? 0
    }
}
