// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import LoopKit

/// The epoll instance that the loop's thread waits on. Confined to it, except for `ReactorWaker`.
struct Reactor {
    let pointer: OpaquePointer

    /// The events that a descriptor is watched for.
    struct Interest: OptionSet {
        let rawValue: UInt8
        static let reading = Interest(rawValue: 1)
        static let writing = Interest(rawValue: 2)
    }

    /// Watches a descriptor for a connection.
    func watch(_ descriptor: Int32, of connection: UInt32, for interest: Interest) {
        set(descriptor, connection, interest, isNew: true)
    }

    /// Changes what it is watched for.
    func change(_ descriptor: Int32, of connection: UInt32, to interest: Interest) {
        set(descriptor, connection, interest, isNew: false)
    }

    private func set(_ descriptor: Int32, _ connection: UInt32, _ interest: Interest, isNew: Bool) {
        let token = UInt64(connection) << 32 | UInt64(UInt32(bitPattern: descriptor))
        // It fails only when the kernel is out of memory; then the connection's deadline ends it.
        _ = CHTTP2Reactor_watch(
            pointer, descriptor, token, interest.contains(.reading), interest.contains(.writing),
            isNew)
    }

    /// Stops watching it; to be called before it is closed.
    func forget(_ descriptor: Int32) { CHTTP2Reactor_forget(pointer, descriptor) }
}

extension CHTTP2Event {
    /// The connection whose descriptor it is about.
    var connection: UInt32 { UInt32(truncatingIfNeeded: token >> 32) }
    /// The descriptor.
    var descriptor: Int32 { Int32(truncatingIfNeeded: token) }
}

/// A reactor, for waking it alone.
///
/// `@unchecked`: the pointer is not Sendable by itself. The one function called through it,
/// `CHTTP2Reactor_wake`, may be called from any thread until the reactor is destroyed; the mailbox
/// counts the calls under way, and the loop closes the mailbox, which waits for them, before it
/// destroys the reactor.
struct ReactorWaker: LoopWaker, @unchecked Sendable {
    let reactor: OpaquePointer

    func wake() { CHTTP2Reactor_wake(reactor) }
}
