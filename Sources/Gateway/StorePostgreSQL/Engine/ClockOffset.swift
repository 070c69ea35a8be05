// SPDX-License-Identifier: Apache-2.0

/// How much the database's clock is ahead of this machine's, in milliseconds.
///
/// The database reads its clock at some moment between a question and its answer. A short round
/// trip says more than a long one, such as that of a process which stood still meanwhile; so what
/// is known stays as long as it is possible.
struct ClockOffset: Hashable, Sendable {
    /// The offset; `nil` before the first measurement.
    private(set) var milliseconds: Int64?

    /// Creates one that is not known.
    init() {}

    /// Takes note of the database's time, which it read between two instants of this machine's
    /// clock, in milliseconds since the epoch.
    mutating func note(databaseTime: Int64, between start: Int64, and end: Int64) {
        guard let known = milliseconds, start <= end else {
            milliseconds = databaseTime - (start + end) / 2
            return
        }
        milliseconds = min(max(known, databaseTime - end), databaseTime - start)
    }
}
