// SPDX-License-Identifier: Apache-2.0

import NIOCore
import WakeModel

/// From the whole request to its answer.
extension ConnectionHandler {
    /// The request has arrived whole: it is judged, logged, and answered unless a fault forbids.
    func complete(_ stream: Int, now: WallInstant) {
        requests[stream]?.isComplete = true
        var verdict = verdict(on: stream, now: now)
        let fault = fault(at: .answer, stream: stream)
        if case .reject(let reason) = fault { verdict = .rejected(reason) }
        // Carried out also if a fault withholds the answer, as after a lost answer.
        if case .call(let call) = verdict { verdict = state.channels.perform(call) }
        if let fault { requests[stream]?.fault = fault }
        guard let request = requests[stream] else { return }
        let isAnswered =
            !request.isMuted && fault?.forbidsAnswer(stream: stream, in: session) != true
        state.noteComplete(deviceToken: request.deviceTokenHex) {
            received(request, verdict: isAnswered ? verdict : nil, now: now)
        }
        if rules.modelsDevices, isAnswered, case .accepted = verdict { deliver(request) }
        if let fault, !apply(fault, stream: stream) { return }
        answer(stream, with: verdict)
    }

    /// Passes an accepted push to the device model. A push that is never answered is not passed:
    /// its outcome is unknown to the sender, and a repetition delivers it.
    private func deliver(_ request: ActiveRequest) {
        let apnsID = request.head.apnsID ?? answers.generatedID(number: request.number)
        if let push = AcceptedPush(request, apnsID: apnsID) { state.devices.take(push) }
    }

    /// APNs' verdict; records who is at the other end, and raises the limit on streams once the
    /// client is authenticated.
    func verdict(on stream: Int, now: WallInstant) -> RequestJudge.Verdict {
        guard let request = requests[stream] else { return .rejected(.internalServerError) }
        let wasAuthenticated = identity.isAuthenticated
        let knownDeviations = identity.deviations
        let verdict =
            request.head.isBroadcastAPI
            ? rules.judge.judgeChannel(
                request.head, body: request.body, bodyByteCount: request.bodyByteCount,
                connection: &identity, now: now)
            : rules.judge.judge(
                request.head, bodyByteCount: request.bodyByteCount, connection: &identity, now: now)
        if identity.deviations != knownDeviations {
            warn(of: identity.deviations.subtracting(knownDeviations))
        }
        let limit = state.configuration.maxConcurrentStreams
        if !wasAuthenticated, identity.isAuthenticated, session.streamLimit < limit {
            session.limitStreams(to: limit)
        }
        return verdict
    }

    /// Answers now, late, drop by drop, or never, as the request's faults demand.
    func answer(_ stream: Int, with verdict: RequestJudge.Verdict) {
        guard let request = requests[stream], !request.isMuted else { return }
        var response =
            request.head.isBroadcastAPI
            ? answers.response(
                to: verdict, requestID: request.head.requestID,
                isBroadcast: request.head.channelID != nil && request.head.method == "POST",
                number: request.number)
            : answers.response(
                to: verdict, apnsID: request.head.apnsID, number: request.number)
        if state.configuration.sendsDate { response.date = state.configuration.now().httpDate }
        guard request.delayMilliseconds > 0 else {
            send(response, request)
            return
        }
        context?.eventLoop.assumeIsolated().scheduleTask(
            in: .milliseconds(Int64(request.delayMilliseconds))
        ) { [self] in
            // The stream may have been reset, or the connection closed, in the meantime.
            guard requests[stream]?.number == request.number else { return }
            send(response, request)
            flush()
        }
    }

    private func send(_ response: WireResponse, _ request: ActiveRequest) {
        requests[request.stream] = nil
        state.counters.countAnswer(status: response.status)
        guard let pause = request.dripMilliseconds else {
            session.respond(to: request.stream, with: response)
            return
        }
        flush()
        session.respond(to: request.stream, with: response)
        drip(session.output, pauseMilliseconds: pause)
        session.output = ByteBuffer()
    }

    private func received(
        _ request: ActiveRequest, verdict: RequestJudge.Verdict?, now: WallInstant
    ) -> ReceivedPush {
        var push = ReceivedPush(
            number: request.number, connection: number, stream: request.stream, receivedAt: now,
            headers: request.fields?.map { (name: $0.name, value: $0.value) } ?? [],
            body: request.body, status: nil, reason: nil, fault: request.fault)
        switch verdict {
        case .accepted: push.status = 200
        case .rejected(let reason, _):
            push.status = AnswerWriter.status(of: reason)
            push.reason = reason
        case .done(let reply): push.status = reply.status
        case .call, nil: break
        }
        return push
    }
}

/// Bytes.
extension ConnectionHandler {
    /// Hands what has collected to TLS, as one write.
    func flush() {
        closeIfDrained()
        guard dripping.readableBytes == 0, session.output.readableBytes > 0,
            phase != .handshaking, let context
        else { return }
        let output = session.output
        session.output = context.channel.allocator.buffer(capacity: output.capacity)
        context.writeAndFlush(wrapOutboundOut(output), promise: nil)
    }

    private func drip(_ bytes: ByteBuffer, pauseMilliseconds: Int) {
        let isRunning = dripping.readableBytes > 0
        dripping.writeImmutableBuffer(bytes)
        if !isRunning { drop(pauseMilliseconds) }
    }

    private func drop(_ pauseMilliseconds: Int) {
        guard let context, phase != .finished || dripping.readableBytes > 0,
            let byte = dripping.readSlice(length: 1)
        else { return }
        context.writeAndFlush(wrapOutboundOut(byte), promise: nil)
        guard dripping.readableBytes > 0 else {
            flush()
            return
        }
        context.eventLoop.assumeIsolated().scheduleTask(
            in: .milliseconds(Int64(pauseMilliseconds))
        ) { [self] in drop(pauseMilliseconds) }
    }

    private func closeIfDrained() {
        if phase == .draining, requests.isEmpty, session.isIdle { finish() }
    }

    /// Serves nothing any more, and closes once the client has had time to read the rest.
    func finish() {
        guard phase != .finished else { return }
        phase = .finished
        flush()
        let channel = context?.channel
        context?.eventLoop.scheduleTask(in: Self.linger) { channel?.close(promise: nil) }
    }
}
