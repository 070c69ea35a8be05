// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import Synchronization
import WakeModel

/// The data that a step of pruning needs before it changes anything.
private struct PruneView {
    var counters: [StoreCounter: Int] = [:]
    /// The endpoints that have webhooks.
    var endpoints: [WebhookEndpointID] = []
    /// The last number that any writer gave.
    var lastNumber: Int64 = 0
    /// The numbers of devices that were looked at, with whether each may be old.
    var devices: [(number: Int64, isOld: Bool)] = []
}

extension StoreWriter {
    /// Removes what has had its time, in one step. What the steps of ``Gateway/Retention`` do, as
    /// statements of a bounded number.
    func prune(_ order: PruneOrder) async throws(StoreFailure) -> Pruned {
        guard link.writer(of: session) != nil else { return Pruned() }
        guard try await takeDuty() else { return Pruned() }
        var dropped = 0
        do throws(StoreFailure) {
            dropped = try await keepPartitions(order)
        } catch {
            // Whatever keeps it from tables, rows have their time all the same.
            tell(error)
        }
        // The drop was a transaction of this writer too.
        guard let writer = link.writer(of: session) else { return Pruned() }
        let sweep = link.sweep.withLock { $0 }
        var walk = sweep
        let place = walk.place(under: order)
        let view = try await view(order, place)
        var step = PruneStep(order, writer.identity.numbers.slot)
        let far = link.fresh.numbers(after: order.farthest)
        if !far.isEmpty { step.place(far) }
        step.pullBack(queues: try await link.queueTable(), endpoints: view.endpoints)
        let ahead = numberAhead(order, view, &step)
        step.removeOld(order, below: max(WakeID.firstNumber(at: order.wakesBefore), ahead), ahead)
        if let place {
            let old = view.devices.filter(\.isOld).map(\.number)
            let last = view.devices.count < order.limit ? nil : view.devices.last?.number
            step.sweep(order, old, after: place, through: last ?? .max)
            walk.reached = last
        }
        removeWebhooks(order, view, &step)
        let plan = WritePlan(
            by: writer.identity, sequence: writer.sequence + 1,
            floor: link.fresh.floor(ofSlot: writer.identity.numbers.slot) ?? writer.lastNumber,
            lastNumber: writer.lastNumber, counters: step.counters, step.queries)
        let (outcome, results) = try await write(plan, of: writer)
        guard outcome == .done else {
            if case .unknown(let write) = outcome { _ = try await resolve(write) }
            // The next step does what this one may not have done.
            return Pruned()
        }
        link.sweep.withLock { $0 = walk }
        link.fresh.remove(far)
        var pruned = step.pruned
        pruned.wakes += dropped
        step.read(results, of: plan.queries.count, &pruned)
        pruned.isSweeping = place != nil && walk.reached != nil
        if ahead > 0, !pruned.isFull(order.limit) { try await clearAhead(view) }
        return pruned
    }

    /// Takes the duty of pruning, or keeps it.
    func takeDuty() async throws(StoreFailure) -> Bool { try await take(.prune, seconds: 60) }

    // MARK: Looking

    private func view(
        _ order: PruneOrder, _ place: Int64?
    ) async throws(StoreFailure) -> PruneView {
        let endpoints = try await session.run([Query(Self.endpoints)]).results()[0]
        var view = PruneView()
        view.endpoints = (0..<endpoints.rowCount).map {
            WebhookEndpointID(rawValue: endpoints.int64($0, 0) ?? 0)
        }
        let asked = Set(view.endpoints + order.webhooks.map(\.endpoint))
        var counters: Set<StoreCounter> = [.aheadNumber, .aheadSince]
        for endpoint in asked {
            counters.formUnion([.absentSince(endpoint), .webhooks(endpoint)])
        }
        let names = Dictionary(uniqueKeysWithValues: counters.map { ($0.name, $0) })
        var queries = [
            Query(LoadPlan.counters, .texts(Array(names.keys))), Query(Self.lastNumber),
        ]
        if let place {
            queries.append(
                Query(
                    Self.devices, .int8(place), .int8(Int64(order.limit)),
                    .int8(order.devicesBefore.millisecondsSinceEpoch)))
        }
        let results = try await session.run(queries, transaction: .snapshot).results()
        for row in 0..<results[0].rowCount {
            guard let counter = names[results[0].string(row, 0) ?? ""] else { continue }
            view.counters[counter] = Int(results[0].int64(row, 1) ?? 0)
        }
        view.lastNumber = results[1].int64(0, 0) ?? 0
        if place != nil {
            view.devices = (0..<results[2].rowCount).map { row in
                (results[2].int64(row, 0) ?? 0, results[2].bool(row, 1) ?? false)
            }
        }
        return view
    }

    /// One look into the index for each endpoint, and not one for each row.
    private static let endpoints = Statement(
        """
        WITH RECURSIVE found (endpoint) AS (
            (SELECT endpoint FROM rouse.webhook ORDER BY endpoint LIMIT 1)
            UNION ALL
            SELECT (SELECT endpoint FROM rouse.webhook WHERE webhook.endpoint > found.endpoint
                ORDER BY endpoint LIMIT 1)
            FROM found WHERE found.endpoint IS NOT NULL)
        SELECT endpoint FROM found WHERE endpoint IS NOT NULL
        """)
    private static let lastNumber = Statement(
        "SELECT coalesce(max(last_number), 0) FROM rouse.writer")
    private static let devices = Statement(
        """
        SELECT number, touched_at < $3 AND pending = 0 AND user_id IS NULL
        FROM rouse.device WHERE number > $1 ORDER BY number LIMIT $2
        """, .int8, .int8, .int8)

    // MARK: A clock that was ahead

    /// A number below which everything is as old as what is pruned, though it does not look so; see
    /// ``Gateway/Retention``.
    private func numberAhead(
        _ order: PruneOrder, _ view: PruneView, _ step: inout PruneStep
    ) -> Int64 {
        let noted = view.counters[.aheadNumber] ?? 0
        let next = max(view.lastNumber + 1, WakeID.firstNumber(at: order.now))
        guard next > WakeID.firstNumber(at: order.latest) else {
            step.set(.aheadNumber, from: noted, to: 0)
            return 0
        }
        let since = WallInstant(
            millisecondsSinceEpoch: Int64(view.counters[.aheadSince] ?? 0))
        guard noted != 0, since <= order.now else {
            step.set(.aheadNumber, from: noted, to: Int(next))
            step.set(
                .aheadSince, from: view.counters[.aheadSince] ?? 0,
                to: Int(order.now.millisecondsSinceEpoch))
            return 0
        }
        return since < order.wakesBefore ? Int64(noted) : 0
    }

    /// Forgets the number that was noted: nothing below it is left.
    private func clearAhead(_ view: PruneView) async throws(StoreFailure) {
        guard let writer = link.writer(of: session) else { return }
        let plan = WritePlan(
            by: writer.identity, sequence: writer.sequence + 1,
            floor: link.fresh.floor(ofSlot: writer.identity.numbers.slot) ?? writer.lastNumber,
            lastNumber: writer.lastNumber,
            counters: [.aheadNumber: -(view.counters[.aheadNumber] ?? 0)], [])
        _ = try await write(plan, of: writer)
    }

    // MARK: Endpoints that are gone

    /// Removes webhooks of endpoints that are not configured any more, once their grace period is
    /// over.
    private func removeWebhooks(
        _ order: PruneOrder, _ view: PruneView, _ step: inout PruneStep
    ) {
        for subscription in order.webhooks {
            let counter = StoreCounter.absentSince(subscription.endpoint)
            step.set(counter, from: view.counters[counter] ?? 0, to: 0)
        }
        for endpoint in view.endpoints
        where !order.webhooks.contains(where: { $0.endpoint == endpoint }) {
            let counter = StoreCounter.absentSince(endpoint)
            let kept = view.counters[counter] ?? 0
            var since = WallInstant(millisecondsSinceEpoch: Int64(kept))
            // A clock that was ahead must not make the grace longer.
            if kept == 0 || since > order.now {
                since = order.now
                step.set(counter, from: kept, to: Int(since.millisecondsSinceEpoch))
            }
            let end = since.advanced(bySeconds: Int64(order.webhookGraceSeconds))
            if end > order.now {
                step.pruned.waitingWebhooks += view.counters[.webhooks(endpoint)] ?? 0
                step.pruned.waitingUntil = min(step.pruned.waitingUntil ?? end, end)
            } else {
                step.removeWebhooks(of: endpoint, limit: order.limit)
            }
        }
    }
}

/// The statements of one step, and what their results say.
private struct PruneStep {
    private(set) var queries: [Query] = []
    private(set) var counters: [StoreCounter: Int] = [:]
    var pruned = Pruned()
    /// Which result counts what, by its place among the queries.
    private var counted: [(place: Int, count: WritableKeyPath<Pruned, Int>)] = []
    private let order: PruneOrder
    private let slot: Int64

    init(_ order: PruneOrder, _ slot: Int64) {
        self.order = order
        self.slot = slot
    }

    /// Sets a counter to another value.
    mutating func set(_ counter: StoreCounter, from value: Int, to new: Int) {
        if new != value { counters[counter, default: 0] += new - value }
    }

    private mutating func add(
        _ query: Query, counting count: WritableKeyPath<Pruned, Int>
    ) {
        counted.append((queries.count, count))
        queries.append(query)
    }

    /// Reads the counts. The results are those of a plan of so many queries, of which the step's
    /// are the last.
    func read(_ results: [QueryResult], of planCount: Int, _ pruned: inout Pruned) {
        for (place, count) in counted {
            let result = results[planCount - queries.count + place]
            pruned[keyPath: count] +=
                result.rowCount == 1 ? Int(result.int64(0, 0) ?? 0) : result.affectedRowCount
        }
    }

    // MARK: Time

    /// Gives fresh leases their place.
    mutating func place(_ numbers: [Int64]) {
        queries.append(Query(StoreUpkeep.placeLeases, .int8s(numbers)))
    }

    /// Makes what is due, leased or remembered until after what is farthest due now, leased for
    /// another hour, and remembered until then: a clock that was wrong has put it there.
    mutating func pullBack(queues: QueueTable, endpoints: [WebhookEndpointID]) {
        let now = order.now.millisecondsSinceEpoch
        let bound = order.farthest.millisecondsSinceEpoch
        let latest = order.latest
        let isAhead = queues.all.contains { queue in
            queue.pausedAt.map { $0 > latest } ?? false
                || queue.heldToldAt.map { $0 > latest } ?? false
        }
        if isAhead {
            queries.append(Query(WritePlan.queueChange))
            queries.append(
                Query(
                    WritePlan.pullBackQueues, .int8(latest.millisecondsSinceEpoch), .int8(now)))
        }
        queries += [
            Query(
                Self.pullBackWakes, .int8s(queues.all.map(\.number)), .int8(bound), .int8(now)),
            Query(Self.pullBackWakes, .int8s([0]), .int8(bound), .int8(now + 3_600_000)),
            Query(
                Self.pullBackWebhooks, .int8s(endpoints.map(\.rawValue)), .int8(bound), .int8(now)),
            Query(Self.pullBackKeys, .int8(bound)),
        ]
    }

    private static let pullBackWakes = Statement(
        """
        UPDATE rouse.wake SET at = $3, version = version + 1 WHERE place = ANY($1) AND at > $2
        """, .int8Array, .int8, .int8)
    private static let pullBackWebhooks = Statement(
        """
        UPDATE rouse.webhook SET due_at = $3, created_at = least(created_at, $3)
        WHERE endpoint = ANY($1) AND due_at > $2
        """, .int8Array, .int8, .int8)
    private static let pullBackKeys = Statement(
        "UPDATE rouse.idempotency SET expires_at = $1 WHERE expires_at > $1", .int8)

    // MARK: Age

    mutating func removeOld(_ order: PruneOrder, below number: Int64, _ ahead: Int64) {
        let limit = Int64(order.limit)
        add(
            Query(Self.removeWakes, .int8(number), .int8(limit), .int8(slot)), counting: \.wakes)
        add(
            Query(
                Self.removeKeys, .int8(order.now.millisecondsSinceEpoch), .int8(limit)),
            counting: \.marks)
        add(
            Query(
                Self.removeFeedback, .int8(limit),
                .int8(order.wakesBefore.millisecondsSinceEpoch), .int8(ahead)),
            counting: \.feedback)
        add(Query(Self.removeOutcomes, .int8(number), .int8(limit)), counting: \.outcomes)
    }

    /// In the default partition the oldest come first. One that has not ended after so long stays;
    /// they are too few to delay the others.
    private static let removeWakes = Statement(
        """
        WITH old AS (
            SELECT number FROM rouse.wake_default WHERE number < $1 AND state > 1
            ORDER BY number LIMIT $2),
        gone AS (
            DELETE FROM rouse.wake_default USING old WHERE wake_default.number = old.number
            RETURNING wake_default.number),
        attempts AS (DELETE FROM rouse.attempt USING old WHERE attempt.wake = old.number),
        counted AS (
            INSERT INTO rouse.counter (name, slot, value)
            SELECT '\(StoreCounter.pruned.name)', $3, count(*) FROM gone
            ON CONFLICT (name, slot) DO UPDATE SET value = counter.value + excluded.value)
        SELECT count(*) FROM gone
        """, .int8, .int8, .int8)
    private static let removeKeys = Statement(
        """
        DELETE FROM rouse.idempotency WHERE key IN (
            SELECT key FROM rouse.idempotency WHERE expires_at <= $1
            ORDER BY expires_at, key LIMIT $2)
        """, .int8, .int8)
    private static let removeFeedback = Statement(
        """
        DELETE FROM rouse.feedback WHERE number IN (
            SELECT number FROM (
                SELECT number, at FROM rouse.feedback ORDER BY number LIMIT $1) AS first
            WHERE at < $2 OR number < $3)
        """, .int8, .int8, .int8)

    private static let removeOutcomes = Statement(
        """
        DELETE FROM rouse.outcome WHERE number IN (
            SELECT number FROM rouse.outcome WHERE number < $1 ORDER BY number LIMIT $2)
        """, .int8, .int8)

    // MARK: Devices

    mutating func sweep(
        _ order: PruneOrder, _ old: [Int64], after place: Int64, through last: Int64
    ) {
        if !old.isEmpty {
            add(
                Query(
                    Self.removeDevices, .int8s(old),
                    .int8(order.devicesBefore.millisecondsSinceEpoch)),
                counting: \.devices)
        }
        queries.append(
            Query(
                Self.pullBackDevices, .int8(place), .int8(last),
                .int8(order.latest.millisecondsSinceEpoch),
                .int8(order.now.millisecondsSinceEpoch)))
    }

    private static let removeDevices = Statement(
        WritePlan.removeDevices.sql
            + " AND touched_at < $2 AND pending = 0 AND user_id IS NULL", .int8Array, .int8)
    private static let pullBackDevices = Statement(
        """
        UPDATE rouse.device SET touched_at = $4, version = version + 1
        WHERE number > $1 AND number <= $2 AND touched_at > $3
        """, .int8, .int8, .int8, .int8)

    // MARK: Webhooks

    mutating func removeWebhooks(of endpoint: WebhookEndpointID, limit: Int) {
        add(
            Query(
                Self.removeWebhooks, .int8(endpoint.rawValue), .int8(Int64(limit)), .int8(slot),
                .text(StoreCounter.webhooks(endpoint).name)),
            counting: \.webhooks)
    }

    private static let removeWebhooks = Statement(
        """
        WITH gone AS (
            DELETE FROM rouse.webhook WHERE number IN (
                SELECT number FROM rouse.webhook WHERE endpoint = $1 LIMIT $2) RETURNING 1),
        counted AS (
            INSERT INTO rouse.counter (name, slot, value) SELECT $4, $3, -count(*) FROM gone
            ON CONFLICT (name, slot) DO UPDATE SET value = counter.value + excluded.value)
        SELECT count(*) FROM gone
        """, .int8, .int8, .int8, .text)
}
