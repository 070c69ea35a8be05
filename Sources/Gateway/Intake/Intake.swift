// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WakeModel

/// The way in: requests that arrive while a transaction is being written share the next one.
///
/// A commit costs a disk flush, whatever it holds; sharing it is what makes durable acceptance
/// cheap. Calls have a way and a queue of their own. Both queues are bounded, and a full one says
/// so at once.
final class Intake: Sendable {
    /// The answer to one submission.
    enum Answer: Sendable {
        /// The store took it, or recognised it.
        case stored(Admission)
        /// Too many requests wait; nothing was kept. After so many seconds those will be written.
        case overloaded(retryAfterSeconds: Int)
        /// The gateway is shutting down; nothing was kept.
        case closed
        /// The store failed. Nothing was kept, unless its words say that this is not known.
        case failed(StoreFailure)
    }

    /// Submissions that came together and are answered together.
    private struct Parcel {
        let submissions: [Submission]
        /// How many of them were taken; the rest is refused with `refusal`.
        let refusal: Answer
        let refused: Int
        var answers: [Answer]
        let continuation: CheckedContinuation<[Answer], Never>

        init(
            _ submissions: [Submission], taken: Int, refusal: Answer,
            _ continuation: CheckedContinuation<[Answer], Never>
        ) {
            self.submissions =
                taken == submissions.count
                ? submissions : Array(submissions.prefix(taken))
            self.refusal = refusal
            refused = submissions.count - taken
            answers = []
            answers.reserveCapacity(submissions.count)
            self.continuation = continuation
        }

        var isAnswered: Bool { answers.count == submissions.count }

        func reply() {
            var answers = answers
            for _ in 0..<refused { answers.append(refusal) }
            continuation.resume(returning: answers)
        }
    }

    private struct State {
        var calls: [Parcel] = []
        var others: [Parcel] = []
        var waitingCalls = 0
        var waitingOthers = 0
        var isClosed = false
        /// How fast others are written.
        var drain = DrainRate()

        /// What is said to those for whom there is no room. A call is worth nothing a minute later,
        /// so it is told the least.
        func refusal(areCalls: Bool) -> Answer {
            guard !isClosed else { return .closed }
            let bounds = Acceptance.overloadPauseSeconds
            guard !areCalls else { return .overloaded(retryAfterSeconds: bounds.lowerBound) }
            return .overloaded(
                retryAfterSeconds: drain.secondsToDrain(waitingOthers, at: .now, bounds: bounds))
        }
    }

    private let state = Mutex(State())
    private let callBell = Bell()
    private let bell = Bell()
    private let limits: GatewayLimits
    private let hasRoom: @Sendable () -> Bool
    private let write: @Sendable ([Submission]) async -> Result<[Admission], StoreFailure>

    /// An intake that hands each batch to `write`, which answers when it is on disk. `hasRoom` says
    /// whether waiting a moment would not help a batch to leave at once.
    init(
        limits: GatewayLimits, hasRoom: @escaping @Sendable () -> Bool = { true },
        write: @escaping @Sendable ([Submission]) async -> Result<[Admission], StoreFailure>
    ) {
        self.limits = limits
        self.hasRoom = hasRoom
        self.write = write
    }

    /// How many submissions wait.
    var waitingCount: Int { state.withLock { $0.waitingCalls + $0.waitingOthers } }

    /// Waits until each submission is on disk, or refused; answers one by one, in order. They may
    /// end up in several transactions. Calls go before the rest. Needs ``run()`` to be running.
    func submit(_ submissions: [Submission], areCalls: Bool) async -> [Answer] {
        guard !submissions.isEmpty else { return [] }
        return await withCheckedContinuation { continuation in
            let (parcel, isTaken) = state.withLock { state -> (Parcel, Bool) in
                let waiting = areCalls ? state.waitingCalls : state.waitingOthers
                let room = state.isClosed ? 0 : max(0, limits.intakeQueueCount - waiting)
                let taken = min(room, submissions.count)
                let parcel = Parcel(
                    submissions, taken: taken,
                    refusal: taken < submissions.count
                        ? state.refusal(areCalls: areCalls) : .closed, continuation)
                guard !parcel.submissions.isEmpty else { return (parcel, false) }
                if areCalls {
                    state.waitingCalls += parcel.submissions.count
                    state.calls.append(parcel)
                } else {
                    if state.waitingOthers == 0 { state.drain.began(at: .now) }
                    state.waitingOthers += parcel.submissions.count
                    state.others.append(parcel)
                }
                return (parcel, true)
            }
            if isTaken { (areCalls ? callBell : bell).ring() } else { parcel.reply() }
        }
    }

    /// Refuses what comes from now on; what waits is still written.
    func close() {
        state.withLock { $0.isClosed = true }
        callBell.ring()
        bell.ring()
    }

    /// Room came free: a batch that waits for it may go.
    func roomCameFree() { bell.ring() }

    /// Writes what waits until the intake is closed and empty. Calls have a way of their own, so
    /// that none waits until others are on disk.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.runCalls() }
            group.addTask { await self.runOthers() }
        }
    }

    private func runCalls() async {
        var calls: [Parcel] = []
        while true {
            let isClosed = take(\.calls, into: &calls)
            if !calls.isEmpty {
                await writeSome(&calls, areCalls: true, since: .now)
            } else if isClosed {
                return
            } else {
                await callBell.wait()
            }
        }
    }

    private func runOthers() async {
        var others: [Parcel] = []
        // Since when the next batch waits for room.
        var waitsSince: ContinuousClock.Instant?
        let patience = Duration.milliseconds(limits.intakePatienceMilliseconds)
        while true {
            let isClosed = take(\.others, into: &others)
            if others.isEmpty {
                if isClosed { return }
                await bell.wait()
            } else if !isClosed, !hasRoom(),
                waitsSince.map({ $0.duration(to: .now) < patience }) ?? true
            {
                // A wake that is due and finds no room in flight is written as waiting, and again
                // when it is claimed: more than twice the work of one that leaves at once, and that
                // work takes from those in flight the time to come back. So a batch waits for room,
                // though not for long.
                let start = waitsSince ?? .now
                waitsSince = start
                await bell.wait(until: start.advanced(by: patience))
            } else {
                await writeSome(&others, areCalls: false, since: waitsSince ?? .now)
                waitsSince = nil
            }
        }
    }

    /// Moves what came meanwhile behind what is there; whether nothing more comes.
    private func take(
        _ path: WritableKeyPath<State, [Parcel]>, into parcels: inout [Parcel]
    ) -> Bool {
        state.withLock { state in
            parcels += state[keyPath: path]
            state[keyPath: path].removeAll(keepingCapacity: true)
            return state.isClosed
        }
    }

    /// Writes one transaction, in the order in which they came.
    private func writeSome(
        _ parcels: inout [Parcel], areCalls: Bool, since start: ContinuousClock.Instant
    ) async {
        var batch: [Submission] = []
        let shares = Self.take(parcels, limits.intakeBatchCount, &batch)
        let result = await write(batch)
        state.withLock { state in
            guard !areCalls else {
                state.waitingCalls -= batch.count
                return
            }
            state.waitingOthers -= batch.count
            var written = 0
            if case .success = result { written = batch.count }
            state.drain.took(written, from: start, until: .now)
        }
        Self.give(result, shares, &parcels)
    }

    /// Takes submissions that are not answered yet, from the first parcels; how many of each.
    private static func take(
        _ parcels: [Parcel], _ limit: Int, _ batch: inout [Submission]
    ) -> [Int] {
        var room = limit
        var shares: [Int] = []
        for parcel in parcels where room > 0 {
            let rest = parcel.submissions[parcel.answers.count...].prefix(room)
            batch += rest
            room -= rest.count
            shares.append(rest.count)
        }
        return shares
    }

    /// Gives the answers to the first parcels, and lets go of those that have all of theirs.
    private static func give(
        _ result: Result<[Admission], StoreFailure>, _ shares: [Int], _ parcels: inout [Parcel]
    ) {
        var place = 0
        var answered = 0
        for (index, share) in shares.enumerated() {
            for _ in 0..<share {
                switch result {
                case .success(let admissions):
                    parcels[index].answers.append(.stored(admissions[place]))
                case .failure(let failure):
                    parcels[index].answers.append(.failed(failure))
                }
                place += 1
            }
            if parcels[index].isAnswered {
                parcels[index].reply()
                answered = index + 1
            }
        }
        parcels.removeFirst(answered)
    }
}
