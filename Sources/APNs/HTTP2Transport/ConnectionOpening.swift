// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import Glibc
internal import LoopKit
internal import PushTransport
internal import WakeModel

/// A connection being opened: name lookup, TCP with the addresses side by side, the proxy, TLS.
///
/// Nothing of a push is written before the last of these steps is done, so that every failure here
/// is `not-sent`. Confined to the loop's thread.
final class ConnectionOpening {
    /// The state of an opening.
    enum Progress {
        /// In progress.
        case underWay
        /// Established: a channel that negotiated h2, owned by the receiver of this value.
        case open(OpaquePointer)
        /// Failed. Everything is closed.
        case failed(TransportFailure)
    }

    private enum Step {
        case resolving(NameLookup)
        case racing(AddressRace)
        case tunnelling(ProxyTunnel, Int32)
        case handshaking(OpaquePointer)
        case ended
    }

    private let route: Route
    private let userAgent: String
    private let context: TLSContext
    private let resolver: NameLookup.Resolver
    private let reactor: Reactor
    private let serial: UInt32
    private var step = Step.ended
    /// TCP connections that are being made.
    private var attempts: Set<Int32> = []
    private var lastError: Int32 = 0

    init(
        route: Route, userAgent: String, context: TLSContext,
        resolver: @escaping NameLookup.Resolver, reactor: Reactor, serial: UInt32
    ) {
        self.route = route
        self.userAgent = userAgent
        self.context = context
        self.resolver = resolver
        self.reactor = reactor
        self.serial = serial
    }

    deinit { assert(attempts.isEmpty, "An opening must be closed before it is released.") }

    /// Begins.
    func start(ringing mailbox: Mailbox, now: Int64) -> Progress {
        let (host, port) = route.firstHop
        if SocketAddress.parse(host) != nil {
            return didResolve(NameLookup.resolve(host: host, port: port), now: now)
        }
        guard
            let lookup = NameLookup.start(
                host: host, port: port, with: resolver, ringing: mailbox)
        else {
            return fail(.other, "the system cannot start another thread; raise its limit")
        }
        step = .resolving(lookup)
        return .underWay
    }

    /// Starts and ends the steps that are due.
    func tick(now: Int64) -> Progress {
        switch step {
        case .resolving(let lookup):
            lookup.result.map { didResolve($0, now: now) } ?? .underWay
        case .racing(let race): proceed(race, now: now)
        case .tunnelling, .handshaking, .ended: .underWay
        }
    }

    /// When to call `tick` at the latest, `nil` when nothing but sockets is waited for.
    var due: Int64? {
        if case .racing(let race) = step { race.due } else { nil }
    }

    /// Handles an event on one of its descriptors.
    func handle(_ event: CHTTP2Event, now: Int64) -> Progress {
        switch step {
        case .racing(let race) where attempts.contains(event.descriptor):
            settle(event.descriptor, race, now: now)
        case .tunnelling(let tunnel, let descriptor) where descriptor == event.descriptor:
            negotiate(tunnel, descriptor)
        case .handshaking(let channel): shakeHands(channel)
        default: .underWay
        }
    }

    /// Closes everything that is open.
    func close() {
        for descriptor in attempts { discard(descriptor) }
        attempts = []
        switch step {
        case .tunnelling(_, let descriptor): discard(descriptor)
        case .handshaking(let channel):
            reactor.forget(CHTTP2Channel_descriptor(channel))
            CHTTP2Channel_destroy(channel)
        case .resolving, .racing, .ended: break
        }
        step = .ended
    }

    private func discard(_ descriptor: Int32) {
        reactor.forget(descriptor)
        Glibc.close(descriptor)
    }

    private func fail(_ kind: TransportFailure.Kind, _ detail: String) -> Progress {
        close()
        return .failed(TransportFailure(kind, certainty: .notSent, detail: detail))
    }

    // MARK: Name

    /// Continues with the result of the resolver.
    func didResolve(_ outcome: NameLookup.Outcome, now: Int64) -> Progress {
        switch outcome {
        case .addresses(let addresses):
            return proceed(AddressRace(addresses, now: now), now: now)
        case .failure(let words):
            let detail = "\(route.firstHop.host): \(words)"
            return fail(route.proxy == nil ? .nameResolution : .proxy, detail)
        }
    }

    // MARK: TCP

    /// Starts every attempt that is due.
    private func proceed(_ race: AddressRace, now: Int64) -> Progress {
        var race = race
        while let address = race.next(now: now) {
            let descriptor = CHTTP2Socket_connect(address.bytes, UInt32(address.bytes.count))
            if descriptor < 0 {
                lastError = -descriptor
                guard race.didFail(now: now) else { return failToConnect() }
                continue
            }
            attempts.insert(descriptor)
            reactor.watch(descriptor, of: serial, for: .writing)
        }
        step = .racing(race)
        return .underWay
    }

    private func settle(_ descriptor: Int32, _ race: AddressRace, now: Int64) -> Progress {
        let result = CHTTP2Socket_result(descriptor)
        attempts.remove(descriptor)
        guard result == 0 else {
            lastError = result
            discard(descriptor)
            var race = race
            guard race.didFail(now: now) else { return failToConnect() }
            return proceed(race, now: now)
        }
        // It won; the others are not needed.
        for other in attempts { discard(other) }
        attempts = []
        guard let proxy = route.proxy else { return secure(descriptor) }
        let tunnel = ProxyTunnel(
            to: route.authority, credentials: proxy.credentials, userAgent: userAgent)
        return negotiate(tunnel, descriptor)
    }

    private func failToConnect() -> Progress {
        let (host, port) = route.firstHop
        return fail(
            route.proxy == nil ? .connect : .proxy,
            "\(host), port \(port): \(NameLookup.words(lastError))")
    }

    // MARK: Proxy

    private func negotiate(_ tunnel: ProxyTunnel, _ descriptor: Int32) -> Progress {
        var tunnel = tunnel
        step = .tunnelling(tunnel, descriptor)
        while !tunnel.outbound.isEmpty {
            // SAFETY: the array lives through the call, and send reads `count` bytes and keeps no
            // pointer.
            let count = tunnel.outbound.withUnsafeBufferPointer { bytes in
                bytes.baseAddress.map { CHTTP2Socket_send(descriptor, $0, bytes.count) } ?? 0
            }
            guard count >= 0 else { return failTunnel(Int32(-count)) }
            guard count > 0 else {
                step = .tunnelling(tunnel, descriptor)
                return .underWay
            }
            tunnel.didWrite(Int(count))
        }
        step = .tunnelling(tunnel, descriptor)
        reactor.change(descriptor, of: serial, to: .reading)
        return listen(tunnel, descriptor)
    }

    private func listen(_ tunnel: ProxyTunnel, _ descriptor: Int32) -> Progress {
        var tunnel = tunnel
        var buffer = [UInt8](repeating: 0, count: 2048)
        while true {
            let count = CHTTP2Socket_receive(descriptor, &buffer, buffer.count)
            guard count >= 0 else { return failTunnel(Int32(-count)) }
            guard count > 0 else {
                step = .tunnelling(tunnel, descriptor)
                return .underWay
            }
            switch tunnel.didRead(buffer.prefix(Int(count))) {
            case .incomplete: continue
            case .open: return secure(descriptor)
            case .refused(let words): return fail(.proxy, words)
            }
        }
    }

    private func failTunnel(_ error: Int32) -> Progress {
        fail(
            .proxy,
            error == EPIPE
                ? "the proxy closed the connection before it answered CONNECT"
                : "the proxy: \(NameLookup.words(error))")
    }

    // MARK: TLS

    private func secure(_ descriptor: Int32) -> Progress {
        step = .ended
        reactor.forget(descriptor)
        let isAddress = SocketAddress.parse(route.host) != nil
        guard
            let channel = CHTTP2Channel_create(
                context.pointer, descriptor, route.host, isAddress)
        else { return fail(.tls, "OpenSSL cannot verify the name \(route.host)") }
        reactor.watch(descriptor, of: serial, for: .reading)
        return shakeHands(channel)
    }

    private func shakeHands(_ channel: OpaquePointer) -> Progress {
        step = .handshaking(channel)
        let descriptor = CHTTP2Channel_descriptor(channel)
        switch CHTTP2Channel_handshake(channel) {
        case .done:
            step = .ended
            reactor.change(descriptor, of: serial, to: .reading)
            return .open(channel)
        case .wantsWrite:
            reactor.change(descriptor, of: serial, to: [.reading, .writing])
            return .underWay
        case .wantsRead:
            reactor.change(descriptor, of: serial, to: .reading)
            return .underWay
        case .notHTTP2: return fail(.notHTTP2, words(of: channel))
        default: return fail(.tls, words(of: channel))
        }
    }

    private func words(of channel: OpaquePointer) -> String {
        String(cString: CHTTP2Channel_error(channel))
    }
}
