// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What the simulator counted since it started. The numbers are exact, whatever is logged.
public struct Counters: Hashable, Sendable {
    /// TCP connections accepted.
    public var connectionsOpened = 0
    /// TCP connections that are open now.
    public var connectionsOpen = 0
    /// TLS handshakes after which HTTP/2 was served.
    public var handshakes = 0
    /// Requests whose header block arrived and was well-formed.
    public var requests = 0
    /// Requests that arrived whole.
    public var completeRequests = 0
    /// Requests whose stream was over the limit and was refused.
    public var refusedStreams = 0
    /// Requests that broke HTTP/2.
    public var malformedRequests = 0
    /// Answers sent, by status.
    public var answers: [Int: Int] = [:]
    /// RST_STREAM frames received, by code.
    public var resetsReceived: [HTTP2ErrorCode: Int] = [:]
    /// GOAWAY frames sent.
    public var goAwaysSent = 0
    /// Faults that struck.
    public var faultsInjected = 0
    /// Receipts that a gateway took.
    public var receiptsTold = 0
    /// Receipts that it refused, or that it could not be given.
    public var receiptsLost = 0
    /// Reports of a device's state that a gateway took.
    public var signalsTold = 0
    /// Reports of a device's state that it refused, or that it could not be given.
    public var signalsLost = 0
}

/// The counters while they are counted: one atomic each, so that no request takes a lock.
final class AtomicCounters: Sendable {
    let connectionsOpened = Atomic(0)
    let connectionsOpen = Atomic(0)
    let handshakes = Atomic(0)
    let requests = Atomic(0)
    let completeRequests = Atomic(0)
    let refusedStreams = Atomic(0)
    let malformedRequests = Atomic(0)
    let goAwaysSent = Atomic(0)
    let faultsInjected = Atomic(0)
    let receiptsTold = Atomic(0)
    let receiptsLost = Atomic(0)
    let signalsTold = Atomic(0)
    let signalsLost = Atomic(0)
    private let accepted = Atomic(0)
    /// Rare, so a lock will do.
    private let rejected = Mutex<[Int: Int]>([:])
    private let resets = Mutex<[HTTP2ErrorCode: Int]>([:])

    func countAnswer(status: Int) {
        if status == 200 {
            accepted.add(1, ordering: .relaxed)
        } else {
            rejected.withLock { $0[status, default: 0] += 1 }
        }
    }

    func countReset(_ code: HTTP2ErrorCode) {
        resets.withLock { $0[code, default: 0] += 1 }
    }

    var snapshot: Counters {
        var counters = Counters()
        counters.connectionsOpened = connectionsOpened.load(ordering: .relaxed)
        counters.connectionsOpen = connectionsOpen.load(ordering: .relaxed)
        counters.handshakes = handshakes.load(ordering: .relaxed)
        counters.requests = requests.load(ordering: .relaxed)
        counters.completeRequests = completeRequests.load(ordering: .sequentiallyConsistent)
        counters.refusedStreams = refusedStreams.load(ordering: .relaxed)
        counters.malformedRequests = malformedRequests.load(ordering: .relaxed)
        counters.goAwaysSent = goAwaysSent.load(ordering: .relaxed)
        counters.faultsInjected = faultsInjected.load(ordering: .relaxed)
        counters.receiptsTold = receiptsTold.load(ordering: .relaxed)
        counters.receiptsLost = receiptsLost.load(ordering: .relaxed)
        counters.signalsTold = signalsTold.load(ordering: .relaxed)
        counters.signalsLost = signalsLost.load(ordering: .relaxed)
        counters.answers = rejected.withLock { $0 }
        let accepted = accepted.load(ordering: .relaxed)
        if accepted > 0 { counters.answers[200] = accepted }
        counters.resetsReceived = resets.withLock { $0 }
        return counters
    }
}

extension Atomic<Int> {
    func increment() { add(1, ordering: .relaxed) }
}
