// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Ends a pending wake because somebody asked for it.
public struct CancelWake: StoreCommand {
    /// The wake.
    public let id: WakeID
    /// The present instant.
    public let now: WallInstant
    /// The rules.
    public let rules: StoreRules

    /// Creates the command.
    public init(_ id: WakeID, at now: WallInstant, under rules: StoreRules) {
        self.id = id
        self.now = now
        self.rules = rules
    }

    /// A caller's.
    public var profile: CommandProfile { .callersWrite(.readThenWrite) }

    /// The wake and its device.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        reads.add(wake: id.number, .device)
        reads.addBacklogs(of: rules)
        return reads
    }

    /// Ends the wake if it is pending.
    public func decide(on set: WorkingSet) throws(RowFault) -> CancelOutcome {
        guard var wake = try set.wake(id.number), wake.id == id
        else { return CancelOutcome(isCancelled: nil, ended: []) }
        guard wake.state == .pending else { return CancelOutcome(isCancelled: false, ended: []) }
        let ended = try set.abandon(
            &wake, .cancelled, try set.queue(wake.queue), at: now)
        return CancelOutcome(isCancelled: true, ended: [ended])
    }
}
