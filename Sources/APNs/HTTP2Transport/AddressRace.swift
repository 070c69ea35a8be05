// SPDX-License-Identifier: Apache-2.0

/// The order and the times at which the addresses of a host are tried: RFC 8305, "Happy Eyeballs".
///
/// The families alternate, the one that the resolver prefers first; the next address is tried when
/// the one before it failed, or has not answered within the attempt delay; the first connection
/// wins. Pure: time is an argument, in monotonic milliseconds.
struct AddressRace: Hashable {
    /// The Connection Attempt Delay that RFC 8305 §5 recommends.
    static let attemptDelayMilliseconds: Int64 = 250

    private var waiting: ArraySlice<SocketAddress>
    private(set) var running = 0
    /// When the next address may be tried, whether or not the others have answered.
    private var nextAttempt: Int64

    /// Sorts the addresses of one lookup.
    init(_ addresses: [SocketAddress], now: Int64) {
        waiting = Self.interleaved(addresses)[...]
        nextAttempt = now
    }

    /// The families alternately, each in its order (RFC 8305 §4).
    static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let preferred = addresses.first?.family else { return [] }
        let first = addresses.filter { $0.family == preferred }
        let second = addresses.filter { $0.family != preferred }
        let pairs = zip(first, second).flatMap { [$0, $1] }
        let paired = min(first.count, second.count)
        return pairs + first.dropFirst(paired) + second.dropFirst(paired)
    }

    /// The address to try now, if there is one whose time has come.
    mutating func next(now: Int64) -> SocketAddress? {
        guard now >= nextAttempt || running == 0, let address = waiting.popFirst() else {
            return nil
        }
        running += 1
        nextAttempt = now + Self.attemptDelayMilliseconds
        return address
    }

    /// One attempt failed; the next may begin immediately. False when none is left and none is
    /// running.
    mutating func didFail(now: Int64) -> Bool {
        running -= 1
        nextAttempt = now
        return running > 0 || !waiting.isEmpty
    }

    /// When to call `next` again, `nil` when all have been tried.
    var due: Int64? { waiting.isEmpty ? nil : nextAttempt }
}
