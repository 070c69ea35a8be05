// SPDX-License-Identifier: Apache-2.0

/// The waiting requests at intake, in a queue for each caller, and their order.
///
/// A batch is shared evenly between the callers that wait: each gets as much as the others, or all
/// that it has, the one with the least first. So a caller's request never waits for more of another
/// caller's requests than fit into one batch with it. Within a queue the order is that of arrival.
/// Callers are API keys, so the configuration bounds their number.
///
/// A pure value: time is an argument.
struct CallerQueues<Item> {
    /// A number of items of one group, in their order.
    struct Portion: Hashable {
        /// The group that they belong to.
        let group: Int
        /// Their caller.
        let caller: String
        /// Their number.
        let count: Int
    }

    /// Items of one request.
    private struct Group {
        let id: Int
        let items: [Item]
        var taken = 0

        var rest: Int { items.count - taken }
    }

    private struct Queue {
        var groups: [Group] = []
        var waiting = 0
        /// Items of a batch that is not written yet.
        var inHand = 0
    }

    private var queues: [String: Queue] = [:]
    /// The callers with waiting items, the next one first.
    private var turns: [String] = []
    /// The time at which each caller last had items here.
    private var lastSeen: [String: ContinuousClock.Instant] = [:]
    /// How many items wait or are being processed.
    private(set) var count = 0

    /// Whether nothing waits.
    var isEmpty: Bool { turns.isEmpty }

    /// How many items of a caller wait or are being processed.
    func count(of caller: String) -> Int {
        queues[caller].map { $0.waiting + $0.inHand } ?? 0
    }

    /// How many callers have items that wait.
    var callerCount: Int { turns.count }

    /// The next item of each waiting caller, and their number; without the callers that are
    /// skipped.
    func fronts(passing passed: (String) -> Bool = { _ in false }) -> [(item: Item, count: Int)] {
        turns.compactMap { caller in
            guard !passed(caller), let queue = queues[caller], let group = queue.groups.first else {
                return nil
            }
            return (group.items[group.taken], queue.waiting)
        }
    }

    /// The number of further items that are accepted of a caller when these queues may have `total`
    /// of all callers, and `own` of each caller regardless of the others.
    static func room(for caller: String, in queues: [Self], total: Int, own: Int) -> Int {
        max(
            0, total - queues.reduce(0) { $0 + $1.count },
            own - queues.reduce(0) { $0 + $1.count(of: caller) })
    }

    /// Adds items to the end of a caller's queue.
    mutating func append(
        _ items: [Item], group: Int, of caller: String, at now: ContinuousClock.Instant
    ) {
        guard !items.isEmpty else { return }
        // Taken out, so that the arrays in it are not copied.
        var queue = queues.removeValue(forKey: caller) ?? Queue()
        if queue.waiting == 0 { turns.append(caller) }
        queue.groups.append(Group(id: group, items: items))
        queue.waiting += items.count
        queues[caller] = queue
        lastSeen[caller] = now
        count += items.count
    }

    /// The callers that have items, or had some within this time.
    mutating func callers(at now: ContinuousClock.Instant, within span: Duration) -> Set<String> {
        guard !lastSeen.isEmpty else { return [] }
        lastSeen = lastSeen.filter { caller, instant in
            queues[caller] != nil || instant.duration(to: now) < span
        }
        return Set(lastSeen.keys)
    }

    /// Takes the items of the next batch; they count until ``written(_:at:)``. Callers that are
    /// skipped keep their turn.
    mutating func take(
        _ limit: Int, passing passed: (String) -> Bool = { _ in false }
    ) -> (items: [Item], portions: [Portion]) {
        let served = Array(turns.filter { !passed($0) }.prefix(limit))
        let order = served.enumerated().sorted { one, other in
            let (waiting, others) = (
                queues[one.element]?.waiting ?? 0, queues[other.element]?.waiting ?? 0
            )
            return (waiting, one.offset) < (others, other.offset)
        }
        var items: [Item] = []
        var portions: [Portion] = []
        var room = limit
        for (place, caller) in order.map(\.element).enumerated() {
            let before = items.count
            take(room / (order.count - place), of: caller, &items, &portions)
            room -= items.count - before
        }
        let taken = Set(served)
        turns.removeAll { taken.contains($0) }
        turns += served.filter { queues[$0].map { $0.waiting > 0 } ?? false }
        return (items, portions)
    }

    private mutating func take(
        _ share: Int, of caller: String, _ items: inout [Item], _ portions: inout [Portion]
    ) {
        guard var queue = queues[caller] else { return }
        // So that the arrays in it are not copied.
        queues[caller] = nil
        var left = min(share, queue.waiting)
        queue.waiting -= left
        queue.inHand += left
        var emptied = 0
        for place in queue.groups.indices where left > 0 {
            let group = queue.groups[place]
            let part = min(left, group.rest)
            items += group.items[group.taken..<group.taken + part]
            portions.append(Portion(group: group.id, caller: caller, count: part))
            queue.groups[place].taken += part
            left -= part
            if part == group.rest { emptied += 1 }
        }
        queue.groups.removeFirst(emptied)
        queues[caller] = queue
    }

    /// Records that the taken items were written, or have failed.
    mutating func written(_ portions: [Portion], at now: ContinuousClock.Instant) {
        for portion in portions {
            count -= portion.count
            guard var queue = queues.removeValue(forKey: portion.caller) else { continue }
            queue.inHand -= portion.count
            lastSeen[portion.caller] = now
            if queue.waiting + queue.inHand > 0 { queues[portion.caller] = queue }
        }
    }
}
