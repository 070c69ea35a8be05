// SPDX-License-Identifier: Apache-2.0

import PushTransport
import Synchronization
import WakeModel

/// What a client was told of each push of one phase, to be held against what the server saw.
final class FaultBook: Sendable {
    /// What one push's submitter was told.
    enum Verdict: UInt8 {
        case nothing, accepted, otherAnswer, notSent, unknown
        /// More than one thing, which is wrong in itself.
        case twice
    }

    private struct State {
        var started = 0
        var answered = 0
        var verdicts: [Verdict]
        var failures: [String: Int] = [:]
        var waiter: CheckedContinuation<Void, Never>?
    }

    let count: Int
    private let state: Mutex<State>

    init(count: Int) {
        self.count = count
        state = Mutex(State(verdicts: Array(repeating: .nothing, count: count)))
    }

    /// The numbers of the next pushes, fewer than asked for at the end.
    func take(_ wanted: Int) -> Range<Int> {
        state.withLock { state in
            let first = state.started
            state.started = min(count, first + wanted)
            return first..<state.started
        }
    }

    /// Enters a batch of outcomes.
    func enter(_ batch: [Completion]) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            for completion in batch {
                let number = Int(completion.id)
                let isFirst = state.verdicts[number] == .nothing
                state.verdicts[number] = isFirst ? Verdict(completion.result) : .twice
                if isFirst { state.answered += 1 }
                if case .failure(let failure) = completion.result {
                    let label = "\(failure.kind.rawValue) (\(failure.certainty.rawValue))"
                    state.failures[label, default: 0] += 1
                }
            }
            guard state.answered == count else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns when each push has been answered.
    func waitUntilFull() async {
        await withCheckedContinuation { continuation in
            let isFull = state.withLock { state in
                if state.answered < count { state.waiter = continuation }
                return state.answered == count
            }
            if isFull { continuation.resume() }
        }
    }

    /// Holds what was told against how often each push arrived whole.
    func audit(_ arrivals: (Int) -> Int) -> FaultAudit {
        state.withLock { state in
            var audit = FaultAudit(failures: state.failures)
            for (number, verdict) in state.verdicts.enumerated() {
                audit.enter(verdict, arrivals: arrivals(number))
            }
            return audit
        }
    }
}

extension FaultBook.Verdict {
    init(_ result: Result<WireResponse, TransportFailure>) {
        switch result {
        case .success(let answer): self = answer.status == 200 ? .accepted : .otherAnswer
        case .failure(let failure): self = failure.certainty == .notSent ? .notSent : .unknown
        }
    }
}

/// The balance of a phase.
struct FaultAudit: Encodable {
    var accepted = 0
    var otherAnswers = 0
    var notSent = 0
    var unknown = 0
    /// Of the unknown, those that arrived after all.
    var unknownArrived = 0
    /// How many failed in each way.
    let failures: [String: Int]

    // What must be 0.
    var unanswered = 0
    var answeredTwice = 0
    var arrivedTwice = 0
    var notSentArrived = 0
    var acceptedMissing = 0

    init(failures: [String: Int]) { self.failures = failures }

    mutating func enter(_ verdict: FaultBook.Verdict, arrivals: Int) {
        if arrivals > 1 { arrivedTwice += 1 }
        switch verdict {
        case .nothing: unanswered += 1
        case .twice: answeredTwice += 1
        case .otherAnswer: otherAnswers += 1
        case .accepted:
            accepted += 1
            if arrivals == 0 { acceptedMissing += 1 }
        case .notSent:
            notSent += 1
            if arrivals > 0 { notSentArrived += 1 }
        case .unknown:
            unknown += 1
            if arrivals > 0 { unknownArrived += 1 }
        }
    }

    var wrong: Int {
        unanswered + answeredTwice + arrivedTwice + notSentArrived + acceptedMissing
    }
}
