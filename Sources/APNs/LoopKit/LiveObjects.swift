// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Counts, in debug builds, the objects that own memory of a library or of a submitter, so that
/// tests can prove that all of it is freed. Costs nothing in release builds.
package enum LiveObjects {
    /// A kind of object.
    package enum Kind: Sendable {
        /// A submission of a loop.
        case transfer
        /// A libcurl easy handle, or shared header fields in the form of HPACK.
        case exchange
        /// A CURLM, or an HTTP/2 connection in any phase.
        case connection
    }

    private static let transfers = Atomic(0)
    private static let exchanges = Atomic(0)
    private static let connections = Atomic(0)

    /// The number of objects of a kind in this process; 0 in release builds.
    package static func living(_ kind: Kind) -> Int {
        switch kind {
        case .transfer: transfers.load(ordering: .relaxed)
        case .exchange: exchanges.load(ordering: .relaxed)
        case .connection: connections.load(ordering: .relaxed)
        }
    }

    /// Adds one, or removes one.
    @inline(__always)
    package static func count(_ kind: Kind, by difference: Int) {
        #if DEBUG
        switch kind {
        case .transfer: transfers.add(difference, ordering: .relaxed)
        case .exchange: exchanges.add(difference, ordering: .relaxed)
        case .connection: connections.add(difference, ordering: .relaxed)
        }
        #endif
    }
}
