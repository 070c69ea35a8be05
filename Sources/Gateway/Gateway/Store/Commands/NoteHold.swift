// SPDX-License-Identifier: Apache-2.0

/// Writes a webhook about a queue for each endpoint that subscribes, and if there is one, records
/// the report in the queue's own row (``WakeQueueRow/heldToldAt``).
public struct NoteHold: StoreCommand {
    /// What happened to the queue.
    public let hold: AppHold
    /// The rules.
    public let rules: StoreRules

    /// Creates the command.
    public init(_ hold: AppHold, under rules: StoreRules) {
        self.hold = hold
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

    /// Without a subscriber, the last report is kept.
    public func decide(on set: WorkingSet) throws(RowFault) {
        let app = hold.queue.app
        guard rules.webhooks.contains(where: { $0.listens(to: .appHeld, of: app) }) else {
            return
        }
        try set.tell(.appHeld(hold), .appHeld, of: app, at: hold.at)
        set.change(
            set.queue(of: hold.queue).row, .toldHeld(hold.isHeld ? hold.at : nil))
    }
}
