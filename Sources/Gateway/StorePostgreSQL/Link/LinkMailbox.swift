// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// What the pool's front and its loop share: which sessions are free, who waits for one, and
/// messages for the loop.
final class LinkMailbox: Sendable {
    /// What the loop is asked to do.
    enum Message {
        case run(PipelineRun)
        case opened(link: Int, generation: UInt64, ConnectionOpening.Outcome)
        case greeted(Session.ID, Result<Void, Unavailable>)
    }

    /// A caller that waits for a session.
    private struct Waiter {
        let due: Int64
        let continuation: CheckedContinuation<Result<Session, Unavailable>, Never>
    }

    /// What is known of the connections of a role.
    private struct Line {
        var free: [Session] = []
        var living: Set<Session.ID> = []
        var waiting = WaitingLine<Waiter>()
        /// No time of one who waits is over before.
        var earliestDue = Int64.max
        /// The sessions that callers have, and the most that they may have.
        var callers: Set<Session.ID> = []
        var maximumCallers = Int.max
        /// Why there is no connection. `nil` as long as the first attempt lasts.
        var failure: String?

        mutating func append(_ waiter: Waiter, _ rank: Session.Rank) {
            waiting.append(waiter, rank)
            earliestDue = min(earliestDue, waiter.due)
        }

        mutating func takeBack(_ session: Session) {
            callers.remove(session.id)
            if living.contains(session.id) { free.append(session) }
        }

        mutating func removeOverdue(now: Int64) -> [Waiter] {
            guard earliestDue <= now else { return [] }
            var earliest = Int64.max
            defer { earliestDue = earliest }
            return waiting.removeAll { waiter in
                guard waiter.due > now else { return true }
                earliest = min(earliest, waiter.due)
                return false
            }
        }

        /// Gives a free session to the next one who waits and may have it.
        mutating func handOver() -> (Waiter, Result<Session, Unavailable>)? {
            // Of those that there are: fewer may be established than configured.
            let mostCallers =
                maximumCallers == .max ? .max : max(1, min(maximumCallers, living.count - 1))
            guard let session = free.last,
                let (waiter, rank) = waiting.popNext(callers: callers.count < mostCallers)
            else { return nil }
            free.removeLast()
            if rank == .caller { callers.insert(session.id) }
            return (waiter, .success(session))
        }
    }

    private struct State {
        var messages: [Message] = []
        var lines: [Session.Role: Line] = [:]
        var isAsleep = false
        var shutdownDue: Int64?
        var hasLeft = false
        var leavers: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    /// The pipe that ends the loop's wait: the loop reads from the first.
    let wakeup: (reading: Int32, writing: Int32)

    /// Callers have so many readers at most. `nil` when the system has no descriptor left.
    init?(callersReaders: Int) {
        state = Mutex(State(lines: [.reader: Line(maximumCallers: callersReaders)]))
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        wakeup = (ends[0], ends[1])
    }

    deinit {
        close(wakeup.reading)
        close(wakeup.writing)
    }

    /// Ends the loop's wait, if it sleeps.
    private func wake(_ state: inout State) {
        guard state.isAsleep else { return }
        state.isAsleep = false
        var byte: UInt8 = 0
        // Fails only when the pipe is full, and then the wake-up is pending anyway.
        _ = write(wakeup.writing, &byte, 1)
    }

    // MARK: The front's side

    /// Takes a free session, or waits for one.
    func take(
        _ role: Session.Role, for rank: Session.Rank, due: Int64
    ) async -> Result<Session, Unavailable> {
        await withCheckedContinuation { continuation in
            let waiter = Waiter(due: due, continuation: continuation)
            let answer: (Waiter, Result<Session, Unavailable>)? = state.withLock { state in
                guard state.shutdownDue == nil else { return (waiter, .failure(.shutDown)) }
                if let failure = state.lines[role]?.failure {
                    return (waiter, .failure(.disconnected(failure)))
                }
                // In place, because a copy of the line would be one of all who wait.
                state.lines[role, default: Line()].append(waiter, rank)
                if let answer = state.lines[role]?.handOver() { return answer }
                // From now on the loop watches its deadline.
                wake(&state)
                return nil
            }
            if let (waiter, answer) = answer { waiter.continuation.resume(returning: answer) }
        }
    }

    /// Returns a session, which the next one who waits gets.
    func giveBack(_ session: Session) {
        let answer = state.withLock { state in
            state.lines[session.id.role, default: Line()].takeBack(session)
            return state.lines[session.id.role]?.handOver()
        }
        if let (waiter, answer) = answer { waiter.continuation.resume(returning: answer) }
    }

    /// Leaves a run for the loop. Its session may have ended.
    func leave(_ run: PipelineRun) {
        let isTaken = state.withLock { state in
            guard !state.hasLeft else { return false }
            state.messages.append(.run(run))
            wake(&state)
            return true
        }
        if !isTaken { run.finish(.lost(message: "the pool is shut down", mayBeCommitted: false)) }
    }

    /// Leaves another message for the loop. False once it has left.
    @discardableResult
    func leave(_ message: Message) -> Bool {
        state.withLock { state in
            guard !state.hasLeft else { return false }
            state.messages.append(message)
            wake(&state)
            return true
        }
    }

    /// Asks the loop to leave when nothing is under way, at the latest at a point of time.
    func requestShutdown(due: Int64) {
        let refused = state.withLock { state in
            state.shutdownDue = min(due, state.shutdownDue ?? due)
            wake(&state)
            return Self.removeWaiters(&state)
        }
        for waiter in refused { waiter.continuation.resume(returning: .failure(.shutDown)) }
    }

    /// Returns when the loop has left.
    func waitUntilLeft() async {
        await withCheckedContinuation { continuation in
            let hasLeft = state.withLock { state in
                if !state.hasLeft { state.leavers.append(continuation) }
                return state.hasLeft
            }
            if hasLeft { continuation.resume() }
        }
    }

    /// How many connections of a role are established, how many wait for one, and why there is
    /// none.
    func condition(
        _ role: Session.Role
    ) -> (established: Int, waiting: Int, failure: String?) {
        state.withLock { state in
            let line = state.lines[role]
            return (line?.living.count ?? 0, line?.waiting.count ?? 0, line?.failure)
        }
    }

    private static func removeWaiters(_ state: inout State) -> [Waiter] {
        var all: [Waiter] = []
        for role in Session.Role.allCases {
            all += state.lines[role]?.waiting.removeAll { _ in true } ?? []
        }
        return all
    }

    // MARK: The loop's side

    /// All messages since the last look, and when the loop is to leave.
    func takeMessages() -> (messages: [Message], shutdownDue: Int64?) {
        state.withLock { state in
            state.isAsleep = false
            let messages = state.messages
            state.messages = []
            return (messages, state.shutdownDue)
        }
    }

    /// Whether the loop may sleep, and whether there are waiters whose deadlines it must watch. It
    /// may not if something came after it took messages, such as another time of the shutdown.
    func fallAsleep(knownShutdownDue: Int64?) -> (mayWait: Bool, hasWaiters: Bool) {
        state.withLock { state in
            let hasWaiters = state.lines.values.contains { !$0.waiting.isEmpty }
            state.isAsleep = state.messages.isEmpty && state.shutdownDue == knownShutdownDue
            return (state.isAsleep, hasWaiters)
        }
    }

    /// A session is established, and free. Why there was none of any role is over with it: what the
    /// next attempt of another role says counts.
    func add(_ session: Session) {
        state.withLock { state in
            for role in state.lines.keys { state.lines[role]?.failure = nil }
            state.lines[session.id.role, default: Line()].living.insert(session.id)
        }
        giveBack(session)
    }

    /// A session has ended.
    func remove(_ id: Session.ID) {
        state.withLock { state in
            state.lines[id.role]?.living.remove(id)
            state.lines[id.role]?.free.removeAll { $0.id == id }
        }
    }

    /// An attempt to connect failed. Unless others of the role are established, all waiters for the
    /// role fail.
    func didFail(_ role: Session.Role, _ message: String) {
        let waiting: [Waiter] = state.withLock { state in
            var line = state.lines[role, default: Line()]
            defer { state.lines[role] = line }
            guard line.living.isEmpty else { return [] }
            line.failure = message
            return line.waiting.removeAll { _ in true }
        }
        for waiter in waiting {
            waiter.continuation.resume(returning: .failure(.disconnected(message)))
        }
    }

    /// Refuses those whose time is over.
    func refuseOverdue(now: Int64) {
        let overdue = state.withLock { state in
            var overdue: [Waiter] = []
            for role in Session.Role.allCases {
                overdue += state.lines[role]?.removeOverdue(now: now) ?? []
            }
            return overdue
        }
        for waiter in overdue { waiter.continuation.resume(returning: .failure(.overloaded)) }
    }

    /// The loop leaves: what comes later is refused, and what had come is returned.
    func leaveForGood() -> [Message] {
        let (messages, leavers, refused) = state.withLock { state in
            state.hasLeft = true
            state.shutdownDue = state.shutdownDue ?? 0
            let refused = Self.removeWaiters(&state)
            defer {
                state.lines = [:]
                state.messages = []
                state.leavers = []
            }
            return (state.messages, state.leavers, refused)
        }
        for waiter in refused { waiter.continuation.resume(returning: .failure(.shutDown)) }
        for leaver in leavers { leaver.resume() }
        return messages
    }
}
