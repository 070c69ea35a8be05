// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Reads entries of the feedback feed behind a cursor: all, or those of some apps in either
/// environment.
public struct ReadFeedback: StoreCommand {
    /// The number of the last entry that is known.
    public let cursor: Int64
    /// The most entries.
    public let limit: Int
    /// The apps; `nil` for all.
    public let apps: Set<BundleID>?

    /// Creates the command.
    public init(after cursor: Int64, limit: Int, of apps: Set<BundleID>? = nil) {
        self.cursor = cursor
        self.limit = limit
        self.apps = apps
    }

    /// A read for a caller.
    public var profile: CommandProfile { .callersRead(weight: limit, isShown: true) }

    /// The first readable entries behind the cursor.
    public func decide(on set: WorkingSet) throws(RowFault) -> [FeedbackEntry] {
        var entries: [FeedbackEntry] = []
        var cursor = cursor
        while entries.isEmpty {
            let found = try numbers(after: cursor, on: set)
            guard let last = found.last else { break }
            // An entry of an unreadable queue is incomplete and left out; those after it are
            // returned.
            for number in found {
                let entry = try set.readable { () throws(RowFault) -> FeedbackEntry? in
                    guard let row = try set.feedback(number) else { return nil }
                    return try set.entry(row)
                }
                if let entry { entries.append(entry) }
            }
            cursor = last
        }
        return entries
    }

    /// The first entries of all queues, or of those of these apps: as many of each queue as are
    /// requested, because one may have all of them.
    private func numbers(after cursor: Int64, on set: WorkingSet) throws(RowFault) -> [Int64] {
        guard let apps else {
            return try set.numbers(.feedback(after: cursor, limit: limit, queue: nil))
        }
        var found: [Int64] = []
        for queue in set.queues where apps.contains(queue.queue.app.bundleID) {
            let numbers = try set.part { () throws(RowFault) in
                try set.numbers(.feedback(after: cursor, limit: limit, queue: queue.number))
            }
            found += numbers ?? []
        }
        guard set.missing.isEmpty else { throw .notLoaded }
        return Array(found.sorted().prefix(limit))
    }
}

extension WorkingSet {
    /// The entry of a row.
    func entry(_ row: FeedbackRow) throws(RowFault) -> FeedbackEntry {
        let queue = try queue(row.queue).row.queue
        return FeedbackEntry(
            number: row.number, kind: row.kind, app: queue.app, wakeKind: queue.kind,
            deviceToken: row.deviceToken, at: row.at, refusal: row.refusal, wake: row.wake)
    }
}
