// SPDX-License-Identifier: Apache-2.0

/// Lists all queues that were ever used.
public struct ListQueues: StoreCommand {
    /// Creates the command.
    public init() {}

    /// It only reads.
    public var profile: CommandProfile { CommandProfile(.read) }

    /// The queues in the order of their numbers.
    public func decide(on set: WorkingSet) throws(RowFault) -> [WakeQueueRow] {
        set.queues
    }
}

/// Pauses queues, or resumes them.
public struct SetPause: StoreCommand {
    /// The pause; `nil` resumes them.
    public let pause: QueuePause?
    /// The queues.
    public let queues: [WakeQueueKey]

    /// Creates the command.
    public init(_ pause: QueuePause?, of queues: [WakeQueueKey]) {
        self.pause = pause
        self.queues = queues
    }

    /// Also while the store is full: an operator must be able to pause an app.
    public var profile: CommandProfile {
        var profile = CommandProfile.callersWrite(.write)
        profile.addsWork = false
        return profile
    }

    /// Writes it in each queue's row. One that is paused keeps the time of its pause, and its
    /// reason unless a new one is given.
    public func decide(on set: WorkingSet) throws(RowFault) {
        for queue in queues {
            let row = set.queue(of: queue).row
            let former = row.pausedAt.map { QueuePause(at: $0, reason: row.pauseReason) }
            set.change(row, .pause(pause?.continuing(former)))
        }
    }
}

/// Writes a value without meaning, as durably as everything else: its success proves that writing
/// works. A store whose small writes may fit into a file that cannot grow also tests whether the
/// file can grow.
public struct TryWriting: StoreCommand {
    /// Creates the command.
    public init() {}

    /// It always writes.
    public var profile: CommandProfile { CommandProfile(.write) }

    /// Counts.
    public func decide(on set: WorkingSet) throws(RowFault) {
        set.add(1, to: .trials)
    }
}
