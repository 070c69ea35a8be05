// SPDX-License-Identifier: Apache-2.0

/// A second of a ledger's time, modulo 2³²: how long before the ledger's clock something happened.
///
/// Only the distance to the clock counts, so a stamp holds for 136 years and its own value means
/// nothing; a ledger that was not observed for ``forgettingSeconds`` drops its stamps.
typealias WrappedSeconds = UInt32

extension WrappedSeconds {
    /// After so many seconds without any observation a ledger is reset: ten years, longer than any
    /// rule looks back, and well within the range of stamps.
    static let forgettingSeconds: Int64 = 10 * 366 * 86_400

    /// The stamp of a second since 1970.
    init(second: Int64) { self.init(truncatingIfNeeded: second) }
}
