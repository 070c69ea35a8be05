// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WakeModel

/// Writes accepted requests: those that arrive while a transaction is being written share the next
/// one.
///
/// A commit costs a disk flush, whatever its size; sharing it makes durable acceptance cheap. Calls
/// have a separate queue, and so have requests for few wakes, which do not wait behind batches of
/// other callers. One caller's requests other than calls are written in the order of their arrival,
/// so that the newest payload for a device is the last one requested: its small requests stay
/// behind its own batch, and its batch behind its small requests. A transaction is shared evenly
/// between callers (``CallerQueues``), and a caller's queue is bounded: when it is full, requests
/// are refused immediately.
final class Intake: Sendable {
    /// Submissions of one call, which are answered together.
    fileprivate struct Parcel {
        /// The number of accepted ones; the rest is refused with `refusal`.
        let taken: Int
        let refused: Int
        let refusal: AdmissionResult
        var answers: [AdmissionResult] = []
        let receive: @Sendable ([AdmissionResult]) -> Void

        var isAnswered: Bool { answers.count == taken }

        func reply() { receive(answers + repeatElement(refusal, count: refused)) }
    }

    /// The waiting submissions of one kind.
    fileprivate struct Line {
        var queues = CallerQueues<WakeSubmission>()
        var parcels: [Int: Parcel] = [:]
    }

    private struct State {
        var calls = Line()
        var small = Line()
        var others = Line()
        var nextParcel = 0
        var isClosed = false
        /// The rate at which all but calls are written.
        var drain = DrainRate()

        /// Whether a queue skips a caller for now, because its earlier requests are in the other.
        func passes(_ caller: String, in line: WritableKeyPath<State, Line>) -> Bool {
            line == \.others && small.queues.count(of: caller) > 0
        }

        /// The next submission of each caller that may be served, and the number of its
        /// submissions.
        func fronts(
            of line: WritableKeyPath<State, Line>
        ) -> [(item: WakeSubmission, count: Int)] {
            self[keyPath: line].queues.fronts { passes($0, in: line) }
        }

        /// The queue of a caller's next submissions.
        func line(
            for caller: String, areCalls: Bool, isSmall: Bool
        ) -> WritableKeyPath<State, Line> {
            if areCalls { return \.calls }
            return isSmall && others.queues.count(of: caller) == 0 ? \.small : \.others
        }

        /// Whether callers other than these have calls or small requests, or had some within this
        /// time.
        mutating func hasNeighbours(
            of callers: Set<String>, at now: ContinuousClock.Instant, within span: Duration
        ) -> Bool {
            !self.callers(of: [\.calls, \.small], at: now, within: span).isSubset(of: callers)
        }

        /// The callers with submissions in these queues, or with some within this time.
        private mutating func callers(
            of lines: [WritableKeyPath<State, Line>], at now: ContinuousClock.Instant,
            within span: Duration
        ) -> Set<String> {
            lines.reduce(into: []) {
                $0.formUnion(self[keyPath: $1].queues.callers(at: now, within: span))
            }
        }

        /// Whether requests may wait for one another: several callers have some, or one caller has
        /// calls and other requests, or had some within this time.
        mutating func isShared(at now: ContinuousClock.Instant, within span: Duration) -> Bool {
            let calling = callers(of: [\.calls], at: now, within: span)
            let others = callers(of: [\.small, \.others], at: now, within: span)
            return calling.union(others).count > 1 || !calling.isEmpty && !others.isEmpty
        }

        /// The number of further submissions that are accepted of a caller.
        func room(for caller: String, areCalls: Bool, _ limits: GatewayLimits) -> Int {
            guard !isClosed else { return 0 }
            return CallerQueues.room(
                for: caller, in: areCalls ? [calls.queues] : [small.queues, others.queues],
                total: limits.intakeQueueCount, own: limits.ownIntakeCount)
        }

        /// Whether several callers have submissions of a kind, or had some within this time:
        /// calls, or anything else.
        mutating func areShared(
            _ line: WritableKeyPath<State, Line>, at now: ContinuousClock.Instant,
            within span: Duration
        ) -> Bool {
            let lines = line == \.calls ? [line] : [\.small, \.others]
            return callers(of: lines, at: now, within: span).count > 1
        }

        /// Whether there are calls, or were some within this time.
        mutating func hasCalls(at now: ContinuousClock.Instant, within span: Duration) -> Bool {
            !callers(of: [\.calls], at: now, within: span).isEmpty
        }

        /// The answer to a caller whose queue is full. A call is useless a minute later, so it gets
        /// the shortest retry interval.
        func refusal(_ caller: String, areCalls: Bool) -> AdmissionResult {
            guard !isClosed else { return Intake.closed }
            let bounds = AdmissionResult.overloadPauseSeconds
            guard !areCalls else { return .overloaded(retryAfterSeconds: bounds.lowerBound) }
            // Its queue is emptied as fast as those of the other callers.
            let all = small.queues.count + others.queues.count
            let own = small.queues.count(of: caller) + others.queues.count(of: caller)
            let callers = max(1, small.queues.callerCount, others.queues.callerCount)
            let ahead = min(all, own * callers)
            return .overloaded(
                retryAfterSeconds: drain.secondsToDrain(ahead, at: .now, bounds: bounds))
        }
    }

    /// The answer while the gateway shuts down; nothing is stored.
    private static let closed = AdmissionResult.unavailable("The gateway is shutting down.")

    private let state = Mutex(State())
    private let callSignal = AsyncSignal()
    private let smallSignal = AsyncSignal()
    private let signal = AsyncSignal()
    private let limits: GatewayLimits
    private let hasRoom: @Sendable ([(queue: WakeQueueKey, count: Int)]) -> Bool
    private let write:
        @Sendable ([WakeSubmission], _ isShared: Bool) async -> Result<
            [AdmissionResult], StoreFailure
        >

    /// Creates an intake that passes each batch to `write`, which returns when it is durable;
    /// `isShared` is whether requests may wait for one another. `hasRoom` returns whether a short
    /// wait would not help a batch to be sent immediately; for each waiting caller it gets the
    /// queue of the first wake, and the number of waiting ones.
    init(
        limits: GatewayLimits,
        hasRoom: @escaping @Sendable ([(queue: WakeQueueKey, count: Int)]) -> Bool = { _ in true },
        write:
            @escaping @Sendable ([WakeSubmission], _ isShared: Bool) async -> Result<
                [AdmissionResult], StoreFailure
            >
    ) {
        self.limits = limits
        self.hasRoom = hasRoom
        self.write = write
    }

    /// The number of waiting submissions.
    var waitingCount: Int {
        state.withLock { $0.calls.queues.count + $0.small.queues.count + $0.others.queues.count }
    }

    /// Waits until each submission is durable or refused, and returns an answer for each, in order.
    /// They may be written in several transactions, calls first. ``run()`` must be running.
    func submit(
        _ submissions: [WakeSubmission], areCalls: Bool, caller: String
    ) async -> [AdmissionResult] {
        guard !submissions.isEmpty else { return [] }
        return await withCheckedContinuation { continuation in
            submit(submissions, areCalls: areCalls, caller: caller) {
                continuation.resume(returning: $0)
            }
        }
    }

    /// Submits, and calls `receive` with an answer for each, in order, once each is durable or
    /// refused: on the thread that has written them, which it must not keep, or at once when all
    /// are refused.
    func submit(
        _ submissions: [WakeSubmission], areCalls: Bool, caller: String,
        _ receive: @escaping @Sendable ([AdmissionResult]) -> Void
    ) {
        let isSmall = submissions.count <= limits.intakeSmallCount
        let (refused, signal) = state.withLock { state -> (Parcel?, AsyncSignal?) in
            let line = state.line(for: caller, areCalls: areCalls, isSmall: isSmall)
            let room = state.room(for: caller, areCalls: areCalls, limits)
            let taken = min(room, submissions.count)
            let parcel = Parcel(
                taken: taken, refused: submissions.count - taken,
                refusal: taken < submissions.count
                    ? state.refusal(caller, areCalls: areCalls) : Self.closed,
                receive: receive)
            guard taken > 0 else { return (parcel, nil) }
            if !areCalls, state.small.queues.count + state.others.queues.count == 0 {
                state.drain.began(at: .now)
            }
            state.nextParcel += 1
            state[keyPath: line].parcels[state.nextParcel] = parcel
            state[keyPath: line].queues.append(
                taken == submissions.count ? submissions : Array(submissions.prefix(taken)),
                group: state.nextParcel, of: caller, at: .now)
            return (nil, self.signal(of: line))
        }
        refused?.reply()
        signal?.ring()
    }

    private func signal(of line: WritableKeyPath<State, Line>) -> AsyncSignal {
        line == \.calls ? callSignal : line == \.small ? smallSignal : signal
    }

    /// Refuses new submissions from now on; waiting ones are still written.
    func close() {
        state.withLock { $0.isClosed = true }
        callSignal.ring()
        smallSignal.ring()
        signal.ring()
    }

    /// Reports free slots, for a batch that waits for them.
    func roomCameFree() {
        smallSignal.ring()
        signal.ring()
    }

    /// Writes submissions until the intake is closed and empty. Calls and small requests have
    /// separate loops, so that none waits until others are durable.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.runCalls() }
            group.addTask { await self.run(\.small) }
            group.addTask { await self.run(\.others) }
        }
    }

    private func runCalls() async {
        while true {
            let (isEmpty, isClosed) = state.withLock { ($0.calls.queues.isEmpty, $0.isClosed) }
            if !isEmpty {
                await writeSome(\.calls)
            } else if isClosed {
                return
            } else {
                await callSignal.wait()
            }
        }
    }

    private func run(_ line: any WritableKeyPath<State, Line> & Sendable) async {
        let signal = signal(of: line)
        // The time since which the next batch waits for in-flight slots.
        var waitsSince: ContinuousClock.Instant?
        let patience = Duration.milliseconds(limits.intakePatienceMilliseconds)
        let sharing = Duration.milliseconds(limits.intakeSharingMilliseconds)
        while true {
            let (waiting, isOver, isHurried) = state.withLock { state in
                (
                    state.fronts(of: line).map { ($0.item.queue, $0.count) },
                    state.isClosed && state[keyPath: line].queues.isEmpty,
                    // A small request does not wait for the settlement of another caller's wakes.
                    state.isClosed
                        || line == \.small && state.areShared(line, at: .now, within: sharing)
                )
            }
            if isOver {
                return
            } else if waiting.isEmpty {
                await signal.wait()
            } else if !isHurried, waitsSince.map({ $0.duration(to: .now) < patience }) ?? true,
                !hasRoom(waiting)
            {
                // A due wake without a free in-flight slot is written as waiting, and again when it
                // is claimed: more than twice the work of one that is sent immediately, and that
                // work delays the settlement of those in flight. So a batch waits for slots, though
                // not for long.
                let start = waitsSince ?? .now
                waitsSince = start
                await signal.wait(until: start.advanced(by: patience))
            } else {
                await writeSome(line)
                waitsSince = nil
            }
        }
    }

    /// Writes one transaction. While several callers have requests it is a small one, and batches
    /// pause after it.
    private func writeSome(_ line: any WritableKeyPath<State, Line> & Sendable) async {
        let sharing = Duration.milliseconds(limits.intakeSharingMilliseconds)
        let ((batch, portions), isShared) = state.withLock { state in
            let isLineShared =
                state.areShared(line, at: .now, within: sharing)
                || line != \.calls && state.hasCalls(at: .now, within: sharing)
            var queues = state[keyPath: line].queues
            state[keyPath: line].queues = CallerQueues()
            let taken = queues.take(
                isLineShared ? limits.sharedBatchCount : limits.intakeBatchCount
            ) { state.passes($0, in: line) }
            state[keyPath: line].queues = queues
            return (taken, state.isShared(at: .now, within: sharing))
        }
        let begin = ContinuousClock.now
        let result = await write(batch, isShared)
        let (answered, rests) = state.withLock { state in
            state[keyPath: line].queues.written(portions, at: .now)
            if line != \.calls {
                let written = (try? result.get())?.count ?? 0
                state.drain.took(written, until: .now)
            }
            let rests =
                line == \.others && !state.isClosed
                && state.hasNeighbours(
                    of: Set(portions.map(\.caller)), at: .now, within: sharing)
            return (state[keyPath: line].give(result, to: portions), rests)
        }
        for parcel in answered { parcel.reply() }
        // A caller's batch may wait for its small requests.
        if line == \.small { signal.ring() }
        if rests { await rest(after: begin.duration(to: .now)) }
    }

    /// Leaves the processors to other callers' calls and small requests for a while: to decode,
    /// write, send and settle batches uses all of them on a small machine.
    private func rest(after work: Duration) async {
        let most = Duration.milliseconds(limits.intakeRestMaximumMilliseconds)
        // The gateway outlives the cancellation of its task, in which a sleep returns immediately.
        try? await Task.sleep(for: min(work * limits.intakeRestPercent / 100, most))
    }
}

extension Intake.Line {
    /// Delivers the answers of a batch to their callers, and returns the groups that have all of
    /// theirs, which are released.
    fileprivate mutating func give(
        _ result: Result<[AdmissionResult], StoreFailure>,
        to portions: [CallerQueues<WakeSubmission>.Portion]
    ) -> [Intake.Parcel] {
        var answered: [Intake.Parcel] = []
        var place = 0
        for portion in portions {
            guard var parcel = parcels.removeValue(forKey: portion.group) else {
                preconditionFailure("What waits at intake has somebody who waits for it.")
            }
            switch result {
            case .success(let admissions):
                parcel.answers += admissions[place..<place + portion.count]
            case .failure(let failure):
                parcel.answers += repeatElement(
                    AdmissionResult(failure), count: portion.count)
            }
            place += portion.count
            if parcel.isAnswered {
                answered.append(parcel)
            } else {
                parcels[portion.group] = parcel
            }
        }
        return answered
    }
}
