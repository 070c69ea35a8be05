// SPDX-License-Identifier: Apache-2.0

public import Gateway

/// A notice for the operator about a problem with which the store can continue.
public enum StoreNotice: Hashable, Sendable {
    /// The write-ahead log could not be copied into the database; it is retried.
    case logIsNotCopied(StoreFailure)
    /// The copying works again.
    case logIsCopiedAgain
    /// The log is so long that new work is refused, because another program has been reading the
    /// file for long.
    case logIsFull
    /// The log is below its limit again.
    case logHasRoom
}

/// The state of a store's write-ahead log.
public struct StoreLogStatus: Hashable, Sendable {
    /// Its size.
    public let byteCount: Int
    /// Whether it is so long that new work is refused.
    public let isFull: Bool
    /// Whether the last attempt to copy it into the database failed.
    public let isCopyingFailed: Bool
}
