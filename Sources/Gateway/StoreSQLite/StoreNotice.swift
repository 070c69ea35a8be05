// SPDX-License-Identifier: Apache-2.0

public import Gateway

/// What an operator should read of, because the store goes on and needs something.
public enum StoreNotice: Hashable, Sendable {
    /// The write-ahead log could not be copied into the database; that is tried again.
    case logIsNotCopied(StoreFailure)
    /// It is copied again.
    case logIsCopiedAgain
    /// The log is so long that new work is refused, because another program has been reading the
    /// file for long.
    case logIsFull
    /// The log is below its limit again.
    case logHasRoom
}

/// How a store's write-ahead log is.
public struct StoreLogStatus: Hashable, Sendable {
    /// How much space it takes.
    public let byteCount: Int
    /// Whether it is so long that new work is refused.
    public let isFull: Bool
    /// Whether the last try to copy it into the database failed.
    public let isCopyingFailed: Bool
}
