// SPDX-License-Identifier: Apache-2.0

internal import LoopKit
internal import PushTransport

/// The configuration's times of a connection in milliseconds, which the loop compares at each turn.
struct ConnectionTerms {
    /// The age at which a successor is opened.
    let maximumAge: Int64
    /// The time without a request after which it is closed.
    let maximumIdleTime: Int64
    /// The time without a byte from the peer after which a PING is sent; `nil` for never.
    let silence: Int64?
    /// The time that the peer has to answer a PING.
    let patience: Int64

    init(_ configuration: TransportConfiguration) {
        maximumAge = configuration.maximumConnectionAge.wholeMilliseconds
        maximumIdleTime = configuration.maximumIdleTime.wholeMilliseconds
        silence = configuration.keepAlive?.idle.wholeMilliseconds
        patience = configuration.keepAlive?.interval.wholeMilliseconds ?? 0
    }
}
