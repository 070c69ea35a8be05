// SPDX-License-Identifier: Apache-2.0

import NIOCore
import ServerTLS
import WakeModel

/// Doing what a fault says.
extension ConnectionHandler {
    /// The fault that the schedule has for this request at this stage, if any.
    func fault(at stage: Fault.Stage, stream: Int) -> Fault.Kind? {
        guard !rules.faults.isEmpty, let request = requests[stream] else { return nil }
        let fault = rules.faults.fault(
            at: stage, number: request.number, deviceToken: request.deviceTokenHex)
        if fault != nil { state.counters.faultsInjected.increment() }
        return fault?.kind
    }

    /// Lets a fault before the end of the request strike, if there is one; false when the request
    /// is over with it.
    func strike(at stage: Fault.Stage, stream: Int) -> Bool {
        guard let fault = fault(at: stage, stream: stream) else { return true }
        requests[stream]?.fault = fault
        guard case .reject(let reason) = fault else { return apply(fault, stream: stream) }
        answer(stream, with: .rejected(reason))
        return false
    }

    /// Does what the fault says; false when the request gets no answer any more.
    func apply(_ fault: Fault.Kind, stream: Int) -> Bool {
        switch fault {
        case .delay(let milliseconds): requests[stream]?.delayMilliseconds = milliseconds
        case .drip(let pause): requests[stream]?.dripMilliseconds = pause
        case .neverAnswer: requests[stream]?.isMuted = true
        case .limitStreams(let limit): session.limitStreams(to: limit)
        case .reject, .refuseTLS: break
        case .goAway(let goAway): sendGoAway(goAway, stream: stream)
        case .resetStream(let code):
            requests[stream] = nil
            session.reset(stream, code)
        case .closeConnection: abort()
        }
        return requests[stream] != nil
    }

    /// Sends GOAWAY, and drops the requests above its last stream.
    func sendGoAway(_ goAway: Fault.GoAway, stream: Int) {
        let last = goAway.lastStreamID(stream: stream, highestSeen: session.lastStream)
        session.goAway(
            lastStream: last, code: goAway.code,
            debugData: goAway.reason.map { AnswerWriter.body(reason: $0) } ?? [])
        state.counters.goAwaysSent.increment()
        requests = requests.filter { $0.key <= last }
        if phase == .serving { phase = .draining }
    }

    /// Closes the TCP connection without a word of TLS. Answers to earlier requests go out first.
    private func abort() {
        flush()
        phase = .finished
        requests.removeAll()
        guard let context else { return }
        let tls = try? context.pipeline.syncOperations.context(handlerType: ServerTLSHandler.self)
        (tls ?? context).close(mode: .all, promise: nil)
    }
}

extension Fault.Kind {
    /// Whether the request on `stream` gets no answer once this fault has struck.
    func forbidsAnswer(stream: Int, in session: ServerSession) -> Bool {
        switch self {
        case .neverAnswer, .resetStream, .closeConnection: true
        case .goAway(let goAway):
            goAway.lastStreamID(stream: stream, highestSeen: session.lastStream) < stream
        case .delay, .reject, .drip, .limitStreams, .refuseTLS: false
        }
    }
}

extension Fault.GoAway {
    /// The last stream id, for the request on `stream`.
    func lastStreamID(stream: Int, highestSeen: Int) -> Int {
        switch lastStream {
        case .thisOne: stream
        case .theOneBefore: max(0, stream - 2)
        case .highestSeen: highestSeen
        case .number(let number): min(max(0, number), Int(Int32.max))
        }
    }
}
