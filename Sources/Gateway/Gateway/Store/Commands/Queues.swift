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

    /// Writes it in each queue's row.
    public func decide(on set: WorkingSet) throws(RowFault) {
        for queue in queues {
            set.change(set.queue(of: queue).row, .pause(pause))
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
