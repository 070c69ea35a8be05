// SPDX-License-Identifier: Apache-2.0

internal import APNsWire
internal import LoopKit
internal import PushTransport
internal import WakeModel

/// Which pushes are out, and who waits for each.
///
/// Pushes are kept by the group in which they were sent, so that one push costs an entry of plain
/// numbers and no reference counting. Touched under the client's lock alone.
struct InFlightPushes: ~Copyable {
    /// The pushes of one call to the client.
    struct Group {
        var pushes = Pushes.none
        var receiver: Receiver?
        /// By when they must have an answer, by the clock's uptime.
        var due = Duration.zero
        /// How many have no reply yet; 0 for a free group.
        var missing = 0
        /// What has come and was not handed on yet.
        var replies: [PushReply] = []
    }

    /// One push or many: a call with one needs no array.
    enum Pushes {
        case none
        case one(Push)
        case many([Push])

        var count: Int {
            switch self {
            case .none: 0
            case .one: 1
            case .many(let pushes): pushes.count
            }
        }

        subscript(index: Int) -> Push {
            switch self {
            case .none: preconditionFailure("A group that is free has no pushes.")
            case .one(let push): push
            case .many(let pushes): pushes[index]
            }
        }
    }

    /// What is kept of one push. All of it is plain numbers.
    struct Entry {
        var group: Int32
        var index: Int32
        /// Which token it went out with; 0 with a certificate.
        var tokenGeneration: UInt64
        /// Whether this is the second time that it went out.
        var isResend = false
        /// Whether its sender has given up on it.
        var isCancelled = false
    }

    private var places = PlaceTable()
    private var entries: [Entry] = []
    private var freeEntries: [Int32] = []
    private var groups: [Group] = []
    private var freeGroups: [Int32] = []

    /// How many pushes are out.
    var count: Int { places.count }

    // MARK: In

    /// Takes in a group, without its pushes' entries. Gives its number.
    mutating func insert(_ pushes: Pushes, receiver: Receiver, due: Duration) -> Int32 {
        let group = Group(pushes: pushes, receiver: receiver, due: due, missing: pushes.count)
        if let free = freeGroups.popLast() {
            groups[Int(free)] = group
            return free
        }
        groups.append(group)
        return Int32(groups.count - 1)
    }

    /// Enters one push under the id of its submission.
    mutating func enter(_ id: Submission.ID, _ entry: Entry) {
        var place = Int32(entries.count)
        if let free = freeEntries.popLast() {
            place = free
            entries[Int(free)] = entry
        } else {
            entries.append(entry)
        }
        precondition(places.insert(id, place), "Two submissions have the same id.")
    }

    // MARK: Out

    /// Strikes out the push whose submission was answered.
    mutating func remove(_ id: Submission.ID) -> Entry {
        guard let place = places[id] else {
            preconditionFailure("A submission was answered twice, or was never made.")
        }
        places.remove(id)
        freeEntries.append(place)
        return entries[Int(place)]
    }

    /// Remembers that a push's sender has given up on it, if it is still out.
    mutating func cancel(_ id: Submission.ID) {
        guard let place = places[id] else { return }
        entries[Int(place)].isCancelled = true
    }

    /// Whether its sender has given up on a push that is still out.
    func isCancelled(_ id: Submission.ID) -> Bool {
        guard let place = places[id] else { return false }
        return entries[Int(place)].isCancelled
    }

    func push(of entry: Entry) -> Push { groups[Int(entry.group)].pushes[Int(entry.index)] }

    func due(_ entry: Entry) -> Duration { groups[Int(entry.group)].due }

    /// Adds the reply to a push that was struck out. `touched` gathers the groups that have replies
    /// to be handed on at the end of a batch of completions.
    mutating func reply(
        to entry: Entry, _ outcome: Receiver.Outcome, _ deliveries: inout Deliveries,
        touched: inout [Int32]
    ) {
        let place = Int(entry.group)
        groups[place].missing -= 1
        let isComplete = groups[place].missing == 0
        switch groups[place].receiver {
        case .caller(let continuation):
            deliveries.add(outcome, to: continuation)
            free(entry.group, &deliveries)
        case .collector:
            keep(outcome, of: entry)
            if isComplete { touched.append(entry.group) }
        case .stream:
            keep(outcome, of: entry)
            if groups[place].replies.count == 1 { touched.append(entry.group) }
        case nil: preconditionFailure("A push of a group that is free was answered.")
        }
    }

    private mutating func keep(_ outcome: Receiver.Outcome, of entry: Entry) {
        let place = Int(entry.group)
        if groups[place].replies.isEmpty {
            groups[place].replies.reserveCapacity(groups[place].missing + 1)
        }
        groups[place].replies.append(PushReply(index: Int(entry.index), result: outcome))
    }

    /// Hands on what the touched groups have, and frees those that are complete.
    mutating func handOn(_ touched: [Int32], _ deliveries: inout Deliveries) {
        for group in touched {
            var replies: [PushReply] = []
            swap(&replies, &groups[Int(group)].replies)
            switch groups[Int(group)].receiver {
            case .collector(let receive):
                replies.sort { $0.index < $1.index }
                deliveries.add(replies, to: receive)
            case .stream(let receive): deliveries.add(replies, to: receive)
            case .caller, nil: preconditionFailure("Only groups with many replies are touched.")
            }
            if groups[Int(group)].missing == 0 { free(group, &deliveries) }
        }
    }

    private mutating func free(_ group: Int32, _ deliveries: inout Deliveries) {
        var vacant = Group()
        swap(&vacant, &groups[Int(group)])
        deliveries.letGo(of: vacant)
        freeGroups.append(group)
    }
}
