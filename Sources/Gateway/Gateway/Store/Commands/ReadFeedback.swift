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

    /// A caller's, who only reads.
    public var profile: CommandProfile { .callersRead(weight: limit, isShown: true) }

    /// The first readable entries behind the cursor.
    public func decide(on transaction: StoreTransaction) throws(StoreFailure) -> [FeedbackEntry] {
        var entries: [FeedbackEntry] = []
        var cursor = cursor
        while entries.isEmpty {
            let found = try transaction.feedbackRows(after: cursor, limit: limit, of: apps)
            guard let last = found.last else { break }
            // One of a queue that cannot be read says too little; those behind it are told.
            for row in found {
                let entry = try transaction.readable { () throws(StoreFailure) in
                    try transaction.entry(row)
                }
                if let entry { entries.append(entry) }
            }
            cursor = last.number
        }
        return entries
    }
}

extension StoreTransaction {
    /// The first rows of all queues, or of those of these apps: as many of each queue as are asked
    /// for, since each may have all of them.
    fileprivate func feedbackRows(
        after cursor: Int64, limit: Int, of apps: Set<BundleID>?
    ) throws(StoreFailure) -> [FeedbackRow] {
        guard let apps else { return try rows.feedback(after: cursor, limit: limit, queue: nil) }
        var found: [FeedbackRow] = []
        for queue in try rows.queues() where apps.contains(queue.queue.app.bundleID) {
            found += try rows.feedback(after: cursor, limit: limit, queue: queue.number)
        }
        return Array(found.sorted { $0.number < $1.number }.prefix(limit))
    }

    func entry(_ row: FeedbackRow) throws(StoreFailure) -> FeedbackEntry {
        let queue = try rows.queue(row.queue).queue
        return FeedbackEntry(
            number: row.number, kind: row.kind, app: queue.app, wakeKind: queue.kind,
            deviceToken: row.deviceToken, at: row.at, refusal: row.refusal, wake: row.wake)
    }
}
