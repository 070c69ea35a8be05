// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import Glibc
internal import LoopKit
public import PushTransport

/// HTTP/2 over libssl and nghttp2: the transport that reports the outcome of each push, at a
/// fraction of libcurl's processor time.
///
/// One thread of its own owns everything that is on the network; this front is Sendable and leaves
/// messages. Requests that wait for a stream wait in the transport's own queue, never in nghttp2's.
/// The article <doc:HTTP2Transport> lists what each outcome says about a push.
public final class HTTP2Transport: PushTransport {
    /// The libraries that carry it.
    public let libraries: HTTP2Libraries
    private let mailbox: Mailbox
    private let refusals: LateRefusals

    /// A transport that cannot be started, in a sentence.
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

    /// The same, with a resolver that tests play.
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

    /// Hands over a batch; see `PushTransport.submit(_:)`. One lock, and a wake-up only if the
    /// thread sleeps.
    public func submit(_ batch: consuming [TransportRequest]) {
        guard !batch.isEmpty, let refused = mailbox.submit(batch) else { return }
        refusals.refuse(refused)
    }

    /// Hands over one submission, as a batch of one would be.
    public func submit(_ submission: consuming TransportRequest) {
        guard let refused = mailbox.submit(submission) else { return }
        refusals.refuse([refused])
    }

    /// Lets submissions one by one wait for each other; see `PushTransport.beginGathering()`.
    public func beginGathering() { mailbox.beginGathering() }

    /// Lets them go; see `PushTransport.endGathering()`.
    public func endGathering() { mailbox.endGathering() }

    /// Gives up on one submission; see `PushTransport.cancel(_:)`. A request that has a stream is
    /// reset.
    public func cancel(_ id: TransportRequest.ID) { mailbox.cancel(id) }

    /// Moves to new connections; see `PushTransport.replaceConnections()`.
    public func replaceConnections() { mailbox.replaceConnections() }

    /// Ends the transport; see `PushTransport.shutDown(gracePeriod:)`. When it returns, every
    /// descriptor is closed and the thread is about to be gone. A lookup of a name that is under
    /// way ends by itself.
    public func shutDown(gracePeriod: Duration) async {
        await mailbox.shutDown(grace: gracePeriod)
    }

    /// What the transport held at the thread's last turn.
    public var gauges: TransportGauges { mailbox.gauges }
}

/// The libraries that the native transport runs on, as they are loaded.
public struct HTTP2Libraries: Hashable, Sendable {
    /// nghttp2's version, such as `1.52.0`.
    public let nghttp2Version: String
    /// OpenSSL's version, such as `3.0.15`.
    public let opensslVersion: String

    /// Sets OpenSSL up, and asks both.
    public init() {
        let version = CHTTP2_load()
        nghttp2Version = String(cString: version.nghttp2)
        opensslVersion = String(cString: version.openssl)
    }
}

/// What the loop's thread starts from.
///
/// `@unchecked`: the reactor's pointer is made by the front, handed to the thread before it runs,
/// and from then on used by the thread alone, but for waking, which `ReactorWaker` proves safe.
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
