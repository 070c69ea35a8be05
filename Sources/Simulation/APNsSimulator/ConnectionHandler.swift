// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOTLS
import ServerTLS
import WakeModel

/// The handler of one connection: it moves bytes between the channel and ``ServerSession``, gets
/// verdicts from ``RequestJudge`` and faults from ``FaultSchedule``, and applies them.
///
/// Confined to its channel's event loop.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Bodies longer than this are answered before they end.
    static let longestAwaitedBody = 32_768
    /// How long a connection stays open after its last frame, so that the client can read it:
    /// closing a socket with unread bytes would make TCP discard the frame.
    static let linger = TimeAmount.milliseconds(500)

    let state: SimulatorState
    let number: Int
    let answers: AnswerWriter
    let keepsPushes: Bool
    var rules: SimulatorState.Rules
    var session: ServerSession
    var identity = ConnectionIdentity()
    var requests: [Int: ActiveRequest] = [:]
    var context: ChannelHandlerContext?
    /// Bytes of answers that are dripping out.
    var dripping = ByteBuffer()
    var phase = Phase.handshaking

    private var input = ByteBuffer()
    /// Whether nothing was negotiated, and the client has not sent the preface of HTTP/2 yet.
    private var lacksALPN = false
    private var resetLimiter: ResetLimiter?

    /// The state of the connection.
    enum Phase {
        /// TLS is not done.
        case handshaking
        /// Requests are served.
        case serving
        /// A GOAWAY was sent; requests up to its last stream are still served.
        case draining
        /// Nothing is served any more.
        case finished
    }

    init(state: SimulatorState, number: Int) {
        self.state = state
        self.number = number
        let configuration = state.configuration
        answers = AnswerWriter(environment: configuration.environment, seed: configuration.seed)
        if case .last = configuration.log { keepsPushes = true } else { keepsPushes = false }
        rules = state.currentRules
        resetLimiter = ResetLimiter(configuration.resetLimit)
        session = ServerSession(streamLimit: configuration.maxConcurrentStreams)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelInactive(context: ChannelHandlerContext) {
        phase = .finished
        requests.removeAll()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Failed handshakes and broken pipes: the connection is unusable, which the client notices
        // itself. The reason of a refusal by ALPN it may not see.
        switch error as? ServerTLSError {
        case .noSharedProtocol:
            state.warn(
                "A client offers other protocols than h2 by ALPN.", isRefused: true, on: number)
        case .noProtocol: state.warnOfMissingALPN(on: number)
        case .failed, nil: break
        }
        context.close(promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted(let negotiatedProtocol):
            handshakeCompleted(negotiatedProtocol, context)
        case let goAway as Fault.GoAway:
            guard phase == .serving || phase == .draining else { return }
            sendGoAway(goAway, stream: session.lastStream)
            flush()
        case IdleStateHandler.IdleStateEvent.all: endSilence()
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase == .serving || phase == .draining else { return }
        var bytes = unwrapInboundIn(data)
        if input.readableBytes == 0 { input = bytes } else { input.writeBuffer(&bytes) }
        if !state.isCurrent(rules.generation) { rules = state.currentRules }
        let now = state.configuration.now()
        while phase != .finished, let event = session.nextEvent(from: &input) {
            handle(event, now: now)
        }
        if lacksALPN, session.hasPreface {
            lacksALPN = false
            state.warnOfMissingALPN(on: number)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        flush()
        context.fireChannelReadComplete()
    }

    private func handshakeCompleted(_ negotiated: String?, _ context: ChannelHandlerContext) {
        lacksALPN = negotiated == nil
        state.counters.handshakes.increment()
        let configuration = state.configuration
        let tls = try? context.pipeline.syncOperations.handler(type: ServerTLSHandler.self)
        if let validUntil = tls?.clientCertificateValidUntil {
            identity.certificate = .init(
                topics: configuration.clientCertificateTopics,
                environment: configuration.clientCertificateEnvironment,
                validUntilSeconds: validUntil)
        }
        let startsWithOne = configuration.oneStreamUntilValidToken && identity.certificate == nil
        session = ServerSession(streamLimit: startsWithOne ? 1 : configuration.maxConcurrentStreams)
        phase = .serving
        flush()
    }

    private func handle(_ event: ServerSession.Event, now: WallInstant) {
        switch event {
        case .headers(let stream, let fields, let endsStream):
            let request = ActiveRequest(
                number: state.nextRequestNumber(), stream: stream, fields: fields,
                keepsFields: keepsPushes)
            state.counters.requests.increment()
            requests[stream] = request
            guard strike(at: .headers, stream: stream) else { return }
            if endsStream { complete(stream, now: now) }
        case .data(let stream, let bytes, let endsStream):
            receive(bytes, endsStream: endsStream, stream: stream, now: now)
        case .reset(let stream, let code):
            requests[stream] = nil
            state.counters.countReset(code)
            if resetLimiter?.admit(at: .now()) == false {
                sendGoAway(
                    .init(reason: nil, code: .internalError, lastStream: .highestSeen),
                    stream: stream)
            }
        case .headerListTooLarge: state.counters.countAnswer(status: 431)
        case .refused: state.counters.refusedStreams.increment()
        case .malformed(let stream):
            requests[stream] = nil
            state.counters.malformedRequests.increment()
        case .failed:
            if !session.hasPreface {
                state.warn("A client speaks no HTTP/2.", isRefused: true, on: number)
            }
            state.counters.goAwaysSent.increment()
            finish()
        }
    }

    private func receive(_ bytes: ByteBuffer, endsStream: Bool, stream: Int, now: WallInstant) {
        guard let known = requests[stream]?.bodyByteCount else { return }
        if known == 0, bytes.readableBytes > 0 {
            guard strike(at: .body, stream: stream) else { return }
        }
        requests[stream]?.bodyByteCount += bytes.readableBytes
        if keepsPushes || rules.modelsDevices || requests[stream]?.head.isBroadcastAPI == true {
            requests[stream]?.body.append(contentsOf: bytes.readableBytesView)
        }
        if endsStream {
            complete(stream, now: now)
        } else if known + bytes.readableBytes > Self.longestAwaitedBody {
            answer(stream, with: verdict(on: stream, now: now))
        }
    }
}
