// SPDX-License-Identifier: Apache-2.0

/// Writes a webhook about a queue for each endpoint that listens, and if there is one, in the
/// queue's own row what was told (``WakeQueueRow/haltToldAt``).
public struct NoteHalt: StoreCommand {
    /// What happened to the queue.
    public let halt: AppHalt
    /// The rules.
    public let rules: StoreRules

    /// Creates the command.
    public init(_ halt: AppHalt, under rules: StoreRules) {
        self.halt = halt
        self.rules = rules
    }

    /// It counts as one that writes.
    public var profile: CommandProfile { CommandProfile(.write) }

    /// How many webhooks wait.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        reads.addBacklogs(of: rules)
        return reads
    }

    /// Where nobody is told, what was told last stands.
    public func decide(on set: WorkingSet) throws(RowFault) {
        let app = halt.queue.app
        guard rules.webhooks.contains(where: { $0.listens(to: .appHalted, of: app) }) else {
            return
        }
        try set.tell(.appHalted(halt), .appHalted, of: app, at: halt.at)
        set.change(
            set.queue(of: halt.queue).row, .toldHalted(halt.isHalted ? halt.at : nil))
    }
}
