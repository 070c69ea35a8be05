// SPDX-License-Identifier: Apache-2.0

import CBenchmarkProcess
import Glibc

/// Waits until one of many connections can go on (epoll(7), level-triggered).
final class Readiness {
    private let descriptor: Int32
    private var events: [Int: Int16] = [:]
    private var ready = [epoll_event](repeating: epoll_event(), count: 256)

    init() throws {
        descriptor = epoll_create1(0)
        guard descriptor >= 0 else {
            throw ChildProcess.Failure(description: "epoll is not to be had")
        }
    }

    deinit { close(descriptor) }

    /// Waits for a connection too, which is named `index`.
    func add(_ connection: HTTPConnection, as index: Int) {
        control(EPOLL_CTL_ADD, connection, index)
    }

    /// Waits for what the connection now waits for.
    func update(_ connection: HTTPConnection, as index: Int) {
        if events[index] != connection.events { control(EPOLL_CTL_MOD, connection, index) }
    }

    /// Waits no longer for a connection.
    func remove(_ connection: HTTPConnection, as index: Int) {
        control(EPOLL_CTL_DEL, connection, index)
    }

    private func control(_ operation: Int32, _ connection: HTTPConnection, _ index: Int) {
        events[index] = connection.events
        // The bits of epoll are those of poll.
        var event = epoll_event(
            events: UInt32(connection.events), data: epoll_data_t(u64: UInt64(index)))
        let isDone = epoll_ctl(descriptor, operation, connection.socket, &event) == 0
        precondition(isDone, "The sockets of a load are open.")
    }

    /// The connections that can go on, by their names.
    func wait(_ milliseconds: Int32) throws -> [Int] {
        let count = epoll_wait(descriptor, &ready, Int32(ready.count), milliseconds)
        guard count > 0 else {
            throw ChildProcess.Failure(description: "the gateway does not answer")
        }
        return ready.prefix(Int(count)).map { Int($0.data.u64) }
    }
}
