// SPDX-License-Identifier: Apache-2.0

import WakeModel

// Rows are read one by one, and one that cannot be read concerns what it belongs to and nobody
// else: a wake ends as damaged, a device is refused until it is forgotten.

extension StoreTransaction {
    /// The wake with this number; `nil` when it is gone, and when it cannot be read: then it ends
    /// as damaged. For transactions that write.
    func liveWake(
        _ number: Int64, withPayload: Bool = false
    ) throws(StoreFailure) -> WakeRow? {
        do throws(StoreFailure) {
            return try rows.wake(number, withPayload: withPayload)
        } catch {
            guard error.kind == .damaged else { throw error }
            try quarantine(number)
            return nil
        }
    }

    /// The wake with this number; `nil` when it is gone or cannot be read.
    func readableWake(_ number: Int64) throws(StoreFailure) -> WakeRow? {
        try readable { () throws(StoreFailure) in try rows.wake(number, withPayload: false) }
    }

    /// The device with this number; `nil` when it is gone or cannot be read.
    func readableDevice(_ number: Int64) throws(StoreFailure) -> DeviceRow? {
        try readable { () throws(StoreFailure) in try rows.device(number) }
    }

    /// The queue with this number; `nil` when it cannot be read.
    func readableQueue(_ number: Int64) throws(StoreFailure) -> SeenQueue? {
        try readable { () throws(StoreFailure) in try queue(number) }
    }

    /// What `look` finds, or `nil` when what it looks at cannot be read.
    func readable<Row>(
        _ look: () throws(StoreFailure) -> Row?
    ) throws(StoreFailure) -> Row? {
        do throws(StoreFailure) {
            return try look()
        } catch {
            guard error.kind == .damaged else { throw error }
            return nil
        }
    }

    /// Ends a wake that cannot be sent because it, or its queue, cannot be read. Nobody is told of
    /// its end, since it is not known whose it is.
    func quarantine(_ number: Int64) throws(StoreFailure) {
        if try rows.quarantine(number) { rows.add(1, to: .ended(.damaged)) }
    }

    /// A wake that does not stand where it belongs: another process wrote to the same rows, or the
    /// row is damaged. It stays what it is, and stands where it belongs again.
    func misplaced(_ wake: borrowing WakeRow) throws(StoreFailure) {
        try rows.update(wake, wake.state.isEnd ? .end : .schedule)
    }
}
