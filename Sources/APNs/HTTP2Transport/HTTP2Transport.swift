// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import Glibc
internal import LoopKit
public import PushTransport

/// HTTP/2 over libssl and nghttp2: the transport that reports the outcome of each push, at a
/// fraction of libcurl's processor time.
///
/// A dedicated thread owns all connections; this class is Sendable and sends it messages. Requests
/// that wait for a stream wait in the transport's own queue, never in nghttp2's. The article
/// <doc:HTTP2Transport> lists the meaning of each outcome for a push.
public final class HTTP2Transport: PushTransport {
    /// The libraries that it uses.
    public let libraries: HTTP2Libraries
    private let mailbox: Mailbox
    private let refusals: LateRefusals

    /// The reason why a transport cannot be started.
    public struct Unsuitable: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is missing, and what to do about it.
        public let description: String
    }

    /// Starts the thread. No connection is made before the first submission.
    ///
    /// `sink` receives every outcome, on the transport's thread. With
    /// `TransportConfiguration.Proxy.environment`, the environment is read here, once. Throws
    /// ``Unsuitable`` if the system gives no descriptor or no thread.
    public convenience init(
        _ configuration: TransportConfiguration, sink: @escaping CompletionSink
    ) throws(Unsuitable) {
        try self.init(configuration, resolver: NameLookup.resolve, sink: sink)
    }

    /// Creates a transport with a resolver, for tests.
    init(
        _ configuration: TransportConfiguration, resolver: @escaping NameLookup.Resolver,
        sink: @escaping CompletionSink
    ) throws(Unsuitable) {
        libraries = HTTP2Libraries()
        refusals = LateRefusals(sink)
        guard let reactor = CHTTP2Reactor_create() else {
            throw Unsuitable(
                description: "No file descriptor is left for the transport; raise the limit "
                    + "(ulimit -n).")
        }
        let mailbox = Mailbox(waker: ReactorWaker(reactor: reactor))
        self.mailbox = mailbox
        let route = Route.choose(configuration) { name in
            getenv(name).map { String(cString: $0) }
        }
        let start = LoopStart(
            reactor: reactor, mailbox: mailbox, configuration: configuration, route: route,
            resolver: resolver, refusals: refusals)
        guard LoopThread.start({ start.run() }) else {
            CHTTP2Reactor_destroy(reactor)
            throw Unsuitable(
                description: "The system cannot start another thread; raise its limit.")
        }
    }

    deinit { mailbox.requestShutdown(grace: .zero) }

    /// Submits a batch; see `PushTransport.submit(_:)`. Costs one lock, and a wake-up only if the
    /// thread sleeps.
    public func submit(_ batch: consuming [TransportRequest]) {
        guard !batch.isEmpty, let refused = mailbox.submit(batch) else { return }
        refusals.refuse(refused)
    }

    /// Submits one request, as a batch of one.
    public func submit(_ submission: consuming TransportRequest) {
        guard let refused = mailbox.submit(submission) else { return }
        refusals.refuse([refused])
    }

    /// Announces single submissions; see `PushTransport.beginGathering()`.
    public func beginGathering() { mailbox.beginGathering() }

    /// Ends gathering; see `PushTransport.endGathering()`.
    public func endGathering() { mailbox.endGathering() }

    /// Cancels one submission; see `PushTransport.cancel(_:)`. A request that has a stream is
    /// reset.
    public func cancel(_ id: TransportRequest.ID) { mailbox.cancel(id) }

    /// Moves to new connections; see `PushTransport.replaceConnections()`.
    public func replaceConnections() { mailbox.replaceConnections() }

    /// Ends the transport; see `PushTransport.shutDown(gracePeriod:)`. When it returns, every
    /// descriptor is closed and the thread is about to end. A running name lookup ends by itself.
    public func shutDown(gracePeriod: Duration) async {
        await mailbox.shutDown(grace: gracePeriod)
    }

    /// The gauges at the thread's last turn.
    public var gauges: TransportGauges { mailbox.gauges }
}

/// The versions of the loaded libraries of the native transport.
public struct HTTP2Libraries: Hashable, Sendable {
    /// nghttp2's version, such as `1.52.0`.
    public let nghttp2Version: String
    /// OpenSSL's version, such as `3.0.15`.
    public let opensslVersion: String

    /// Initializes OpenSSL, and reads both versions.
    public init() {
        let version = CHTTP2_load()
        nghttp2Version = String(cString: version.nghttp2)
        opensslVersion = String(cString: version.openssl)
    }
}

/// The state that the loop's thread starts with.
///
/// `@unchecked`: the reactor's pointer is made by the transport's initializer and passed to the
/// thread before it runs. From then on only the thread uses it, except for waking, which
/// `ReactorWaker` proves safe.
private struct LoopStart: @unchecked Sendable {
    let reactor: OpaquePointer
    let mailbox: Mailbox
    let configuration: TransportConfiguration
    let route: Route.Choice
    let resolver: NameLookup.Resolver
    let refusals: LateRefusals

    func run() {
        CHTTP2_name_this_thread("rouse-http2")
        let loop = HTTP2Loop(
            reactor: Reactor(pointer: reactor), mailbox: mailbox, configuration: configuration,
            route: route, resolver: resolver, refusals: refusals)
        loop.run()
    }
}
