// SPDX-License-Identifier: Apache-2.0

internal import LoopKit
internal import PushTransport

/// The submissions of the loop, each in a slot with a number that identifies it.
///
/// Slots are reused, the last one freed first, so that a steady load uses the same memory and
/// allocates nothing. A class, and a constant of the loop, because each access to a variable would
/// be checked for exclusivity at run time. Confined to the loop's thread.
final class TransferPool {
    /// A slot's number.
    typealias Place = Int32
    /// No slot.
    static let none: Place = -1
    /// The number of slots at first.
    static let initialCapacity = 256

    /// Where a submission is.
    enum Stage: UInt8 {
        /// Nowhere: the slot is free.
        case free
        /// In one of the queues.
        case queued
        /// On a connection.
        case started
    }

    /// The state of a submission in the loop. In a free slot only `next` is used.
    struct Slot {
        /// Its position in the order of all submissions.
        var order: UInt64
        /// Its deadline, in monotonic milliseconds.
        var due: Int64
        /// The time at which it was last started on a connection.
        var startedAt: Int64
        /// Its neighbours in its queue; for a free slot, the next free one.
        var next: Place
        var previous: Place
        /// Its connection, and its place in that connection's table of streams.
        var connection: UInt32
        var stream: UInt32
        /// The number of its moves to another connection.
        var moves: UInt8
        var stage: Stage
        var isUrgent: Bool
    }

    // SAFETY: both have `capacity` elements. All of `slots` are initialized and trivial; those of
    // `submissions` are initialized whose slot is not free, except while one is lent: it is then in
    // a variable, and `submissions` must not be accessed. Both conditions are checked before each
    // access. Only this type accesses them, and `deinit` frees both.
    private var slots: UnsafeMutablePointer<Slot>
    private var submissions: UnsafeMutablePointer<TransportRequest>
    private var capacity = 0
    private var firstFree = TransferPool.none
    private var lastTimeout = (duration: Duration.zero, milliseconds: 0 as Int64)
    /// Whether a submission is borrowed, and so not in its place.
    private var isLent = false
    /// The number of used slots.
    private(set) var count = 0
    /// The number of all submissions so far.
    private var insertions: UInt64 = 0

    init() {
        // SAFETY: no element yet; `grow` makes the first ones.
        slots = .allocate(capacity: 0)
        submissions = .allocate(capacity: 0)
        grow(to: Self.initialCapacity)
    }

    deinit {
        for place in 0..<capacity where slots[place].stage != .free {
            (submissions + place).deinitialize(count: 1)
        }
        slots.deallocate()
        submissions.deallocate()
    }

    private func grow(to capacity: Int) {
        precondition(capacity <= Int(Place.max), "There are more submissions than numbers.")
        // SAFETY: every old element is moved or copied to its new place, and the rest of `slots` is
        // initialized here. When this is called no slot is free, so that all submissions move.
        let newSlots = UnsafeMutablePointer<Slot>.allocate(capacity: capacity)
        let newSubmissions = UnsafeMutablePointer<TransportRequest>.allocate(capacity: capacity)
        newSlots.moveInitialize(from: slots, count: self.capacity)
        newSubmissions.moveInitialize(from: submissions, count: self.capacity)
        slots.deallocate()
        submissions.deallocate()
        for place in (self.capacity..<capacity).reversed() {
            (newSlots + place).initialize(
                to: Slot(
                    order: 0, due: 0, startedAt: .min, next: firstFree, previous: Self.none,
                    connection: 0,
                    stream: 0, moves: 0, stage: .free, isUrgent: false))
            firstFree = Place(place)
        }
        (slots, submissions, self.capacity) = (newSlots, newSubmissions, capacity)
    }

    /// A timeout in milliseconds. Cached, because pushes of one client have the same timeout, and
    /// the division of a duration's attoseconds is slow.
    private func milliseconds(of timeout: Duration) -> Int64 {
        if timeout != lastTimeout.duration {
            lastTimeout = (timeout, timeout.wholeMilliseconds)
        }
        return lastTimeout.milliseconds
    }

    /// Adds a submission, as queued but in no queue yet.
    func insert(_ submission: consuming TransportRequest, now: Int64) -> Place {
        precondition(!isLent, Self.isLending)
        if firstFree == Self.none { grow(to: capacity * 2) }
        let place = firstFree
        firstFree = slots[Int(place)].next
        slots[Int(place)] = Slot(
            order: insertions, due: now + milliseconds(of: submission.timeout), startedAt: .min,
            next: Self.none,
            previous: Self.none, connection: 0, stream: 0, moves: 0, stage: .queued,
            isUrgent: submission.request.isUrgent)
        (submissions + Int(place)).initialize(to: submission)
        count += 1
        insertions += 1
        return place
    }

    /// Frees a slot and returns its submission.
    func remove(_ place: Place) -> TransportRequest {
        precondition(slots[Int(place)].stage != .free, "A transfer ended twice.")
        precondition(!isLent, Self.isLending)
        slots[Int(place)].stage = .free
        slots[Int(place)].next = firstFree
        firstFree = place
        count -= 1
        // SAFETY: the slot was not free, so it is initialized; from here on it is free.
        return (submissions + Int(place)).move()
    }

    /// The state of a submission.
    subscript(place: Place) -> Slot {
        get { slots[Int(place)] }
        _modify { yield &slots[Int(place)] }
    }

    /// Its timeout.
    func timeout(_ place: Place) -> Duration {
        checkPresence(of: place)
        return submissions[Int(place)].timeout
    }

    /// The size of a request's body.
    func bodyCount(_ place: Place) -> Int {
        checkPresence(of: place)
        return submissions[Int(place)].request.body.count
    }

    /// Calls `body` with a request. `body` must not use the pool.
    ///
    /// The request is moved out meanwhile: access in place would copy it first, to guard against
    /// changes, and a copy retains everything it refers to.
    func withRequest<Result>(_ place: Place, _ body: (borrowing WireRequest) -> Result) -> Result {
        checkPresence(of: place)
        isLent = true
        defer { isLent = false }
        // SAFETY: the submission is in its place, as was just checked, and it is again when this
        // returns.
        let submission = (submissions + Int(place)).move()
        let result = body(submission.request)
        (submissions + Int(place)).initialize(to: submission)
        return result
    }

    private func checkPresence(of place: Place) {
        precondition(slots[Int(place)].stage != .free, "A transfer that has ended was looked at.")
        precondition(!isLent, Self.isLending)
    }

    private static let isLending = "The pool was used while it lends a request."

    /// All used slots, for the end of the loop.
    var all: [Place] {
        (0..<capacity).filter { slots[$0].stage != .free }.map { Place($0) }
    }
}

/// A queue through the slots of a pool; an element can be removed from any position in constant
/// time.
final class TransferQueue {
    private(set) var first = TransferPool.none
    private var last = TransferPool.none
    private(set) var count = 0

    /// Appends an element.
    func append(_ place: TransferPool.Place, in pool: TransferPool) {
        pool[place].previous = last
        pool[place].next = TransferPool.none
        if last == TransferPool.none { first = place } else { pool[last].next = place }
        last = place
        count += 1
    }

    /// Prepends an element.
    func prepend(_ place: TransferPool.Place, in pool: TransferPool) {
        pool[place].next = first
        pool[place].previous = TransferPool.none
        if first == TransferPool.none { last = place } else { pool[first].previous = place }
        first = place
        count += 1
    }

    /// Puts back an element that was removed: before all that were submitted after it.
    ///
    /// Compares only with elements that were put back before it, because elements are removed in
    /// order.
    func putBack(_ place: TransferPool.Place, in pool: TransferPool) {
        let order = pool[place].order
        var before = TransferPool.none
        var behind = first
        while behind != TransferPool.none, pool[behind].order < order {
            before = behind
            behind = pool[behind].next
        }
        guard before != TransferPool.none else {
            prepend(place, in: pool)
            return
        }
        guard behind != TransferPool.none else {
            append(place, in: pool)
            return
        }
        pool[place].previous = before
        pool[place].next = behind
        pool[before].next = place
        pool[behind].previous = place
        count += 1
    }

    /// Removes an element, which must be in it.
    func remove(_ place: TransferPool.Place, in pool: TransferPool) {
        let (previous, next) = (pool[place].previous, pool[place].next)
        if previous == TransferPool.none { first = next } else { pool[previous].next = next }
        if next == TransferPool.none { last = previous } else { pool[next].previous = previous }
        count -= 1
    }
}
