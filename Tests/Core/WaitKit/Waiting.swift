// SPDX-License-Identifier: Apache-2.0

/// Returns whether a condition holds the whole of a time. For what must not happen: a test cannot
/// wait for it, and looks for as long as it would take if it did.
package func holds(
    for duration: Duration, isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws -> Bool {
    let end = ContinuousClock.now + duration
    while ContinuousClock.now < end {
        guard try await condition() else { return false }
        try await Task.sleep(for: .milliseconds(1))
    }
    return try await condition()
}

/// Lets real time pass, for a test in which time is the input: the age of a connection, the moment
/// of a kill, the deadline of a race. Never for "it will have happened by then": that is a
/// condition, and is polled.
package func elapse(_ duration: Duration) async throws {
    try await Task.sleep(for: duration)
}
