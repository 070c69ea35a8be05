// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import WakeModel

extension WritePlan {
    // MARK: Feeds

    mutating func addWebhookChanges(_ changes: [Changes.WebhookChange]) {
        guard !changes.isEmpty else { return }
        var removed: [Changes.WebhookChange] = []
        var kept: [(change: Changes.WebhookChange, dueAt: WallInstant, leases: Int64)] = []
        for change in changes.sorted(by: { $0.number < $1.number }) {
            switch change.kind {
            case .removed: removed.append(change)
            case .due(let instant): kept.append((change, instant, 0))
            case .leased(let end): kept.append((change, end, 1))
            }
        }
        if !kept.isEmpty {
            append(
                Query(
                    Self.webhookChanges, .int8s(kept.map(\.change.number)),
                    .int8s(kept.map(\.change.fence)),
                    .int8s(kept.map(\.dueAt.millisecondsSinceEpoch)), .int8s(kept.map(\.leases)),
                    .int8(Int64(kept.count))))
        }
        if !removed.isEmpty {
            append(
                Query(
                    Self.removedWebhooks, .int8s(removed.map(\.number)),
                    .int8s(removed.map(\.fence)), .int8(Int64(removed.count))))
        }
    }

    private static let webhookChanges = Statement(
        """
        WITH done AS (
            UPDATE rouse.webhook SET due_at = new.due_at, fence = webhook.fence + new.leases,
                tries = webhook.tries + new.leases
            FROM unnest($1, $2, $3, $4) AS new (number, fence, due_at, leases)
            WHERE webhook.number = new.number AND webhook.fence = new.fence RETURNING 1)
        SELECT rouse.expect((SELECT count(*) FROM done), $5)
        """, .int8Array, .int8Array, .int8Array, .int8Array, .int8)
    private static let removedWebhooks = Statement(
        """
        WITH done AS (
            DELETE FROM rouse.webhook USING unnest($1, $2) AS old (number, fence)
            WHERE webhook.number = old.number AND webhook.fence = old.fence RETURNING 1)
        SELECT rouse.expect((SELECT count(*) FROM done), $3)
        """, .int8Array, .int8Array, .int8)

    mutating func addFeedback(_ entries: [FeedbackRow]) {
        guard !entries.isEmpty else { return }
        let first = entries.map { WakeID.firstNumber(at: $0.at) }.max() ?? 0
        append(
            Query(
                Self.newFeedback, .texts(entries.map(\.kind.rawValue)),
                .int8s(entries.map(\.queue)), .bytesArray(entries.map(\.deviceToken.bytes)),
                .int8s(entries.map(\.at.millisecondsSinceEpoch)),
                .int8s(entries.map { Int64($0.refusal.status) }),
                .texts(entries.map { $0.refusal.reason?.rawValue.storable }),
                .optionalInt8s(entries.map(\.refusal.tokenDeadSince?.millisecondsSinceEpoch)),
                .int8s(entries.map(\.wake.number)), .int8s(entries.map(\.wake.low)),
                .int8(Int64(entries.count)), .int8(first)))
    }

    /// The feed's row stays locked until the commit, so no number is seen before a smaller one.
    private static let newFeedback = Statement(
        """
        WITH feed AS (
            UPDATE rouse.feed SET last = greatest(last, $11 - 1) + $10
            WHERE name = 'feedback' RETURNING last)
        INSERT INTO rouse.feedback
        SELECT feed.last - $10 + new.place, kind, queue, token, at, status, reason, since, wake,
            wake_low
        FROM feed, unnest($1, $2, $3, $4, $5, $6, $7, $8, $9) WITH ORDINALITY
            AS new (kind, queue, token, at, status, reason, since, wake, wake_low, place)
        """, .textArray, .int8Array, .bytesArray, .int8Array, .int8Array, .textArray, .int8Array,
        .int8Array, .int8Array, .int8, .int8)

    mutating func addOutcomes(_ changes: Changes) {
        guard !changes.outcomes.isEmpty else { return }
        append(
            Query(
                Self.newOutcomes, .int8s(changes.outcomes), .int8(Int64(changes.outcomes.count)),
                .int8(WakeID.firstNumber(at: changes.outcomesAt))))
    }

    /// The last of all: the feed's row is locked for as short a time as can be.
    private static let newOutcomes = Statement(
        """
        WITH feed AS (
            UPDATE rouse.feed SET last = greatest(last, $3 - 1) + $2
            WHERE name = 'outcomes' RETURNING last)
        INSERT INTO rouse.outcome SELECT feed.last, $1 FROM feed
        """, .int8Array, .int8, .int8)

    mutating func addWebhooks(
        _ new: [(number: Int64, webhook: Changes.NewWebhook)], entryCount: Int
    ) {
        guard !new.isEmpty else { return }
        let columns = new.map { WebhookColumns($0.webhook.subject) }
        append(
            Query(
                Self.newWebhooks, .int8s(new.map(\.number)),
                .int8s(new.map(\.webhook.endpoint.rawValue)), .texts(columns.map(\.kind.rawValue)),
                .int8s(columns.map(\.subject)),
                .int8s(new.map(\.webhook.at.millisecondsSinceEpoch)),
                .texts(columns.map { $0.hold?.queue.app.bundleID.value }),
                .texts(columns.map { $0.hold?.queue.app.environment.rawValue }),
                .optionalInt8s(columns.map { $0.hold?.queue.kind.number }),
                .texts(columns.map { $0.hold?.reason.storable }),
                .bools(columns.map(\.isOfNewEntry)), .int8(Int64(entryCount))))
    }

    /// Those about entries of the feed that this transaction made name them by their place.
    private static let newWebhooks = Statement(
        """
        INSERT INTO rouse.webhook (number, endpoint, kind, subject, created_at, due_at, bundle_id,
            environment, queue_kind, reason)
        SELECT number, endpoint, kind,
            CASE WHEN new.made THEN subject + 1 - $11
                + (SELECT last FROM rouse.feed WHERE name = 'feedback') ELSE subject END,
            at, at, bundle_id, environment, queue_kind, reason
        FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS new (number, endpoint, kind,
            subject, at, bundle_id, environment, queue_kind, reason, made)
        """, .int8Array, .int8Array, .textArray, .int8Array, .int8Array, .textArray, .textArray,
        .int8Array, .textArray, .boolArray, .int8)
}

/// A new webhook's event, as columns of its row.
private struct WebhookColumns {
    let kind: WebhookKind
    let subject: Int64
    var hold: AppHold?
    /// Whether the subject is the place of an entry that the same write makes.
    var isOfNewEntry = false

    init(_ webhook: WebhookSubject) {
        switch webhook {
        case .outcome(let wake): (kind, subject) = (.outcome, wake)
        case .tokenDead(let place):
            (kind, subject) = (.tokenDead, place)
            isOfNewEntry = true
        case .appHeld(let hold):
            (kind, subject) = (.appHeld, hold.isHeld ? 1 : 0)
            self.hold = hold
        }
    }
}

extension String {
    /// The same without zero bytes, which PostgreSQL's texts cannot hold.
    var storable: String {
        utf8.contains(0) ? String(decoding: utf8.filter { $0 != 0 }, as: UTF8.self) : self
    }
}

extension Parameter {
    /// An instant as milliseconds since the epoch, or NULL.
    static func instant(_ instant: WallInstant?) -> Parameter {
        instant.map { .int8($0.millisecondsSinceEpoch) } ?? .null
    }
}
