// SPDX-License-Identifier: Apache-2.0

/// The number of frames that a peer may send and that end no answer: PING, SETTINGS, WINDOW_UPDATE,
/// PRIORITY, RST_STREAM, CONTINUATION, unknown ones, and HEADERS and DATA but for the last of a
/// request's.
///
/// A normal peer sends a few for each request, and a few by the hour. One that sends them without
/// end costs processor time and memory (CVE-2019-9511 to 9518, CVE-2024-27316) and is closed. Pure:
/// time is an argument, in monotonic milliseconds.
struct FloodBudget: Hashable {
    /// What a connection may spend without any request: SETTINGS, and an hour's PINGs in one burst.
    static let burst = 1000
    /// What each request adds: its HEADERS, its DATA, and a WINDOW_UPDATE for stream and for
    /// connection.
    static let perRequest = 4
    /// What each second adds, up to ``burst``: frequent PINGs of a proxy.
    static let perSecond = 10
    /// The most that requests can accumulate.
    static let maximum = 10_000

    private(set) var left = Self.burst
    private var refilledAt: Int64

    /// Creates the budget of a new connection.
    init(now: Int64) { refilledAt = now }

    /// A request was started.
    mutating func didStartRequest() { left = min(left + Self.perRequest, Self.maximum) }

    /// Counts such frames; a negative number is a correction. Returns false when they are too many.
    mutating func spend(_ frames: Int, now: Int64) -> Bool {
        let seconds = (now - refilledAt) / 1000
        if seconds > 0 {
            refilledAt += seconds * 1000
            if left < Self.burst {
                let added = Int(min(seconds, Int64(Self.burst))) * Self.perSecond
                left = min(left + added, Self.burst)
            }
        }
        left -= frames
        return left >= 0
    }
}
