// SPDX-License-Identifier: Apache-2.0

internal import CCurlShims
internal import LoopKit
public import PushTransport
internal import WakeModel

/// HTTP/2 over libcurl, for all of libcurl's kinds of proxy, on every distribution.
///
/// A dedicated thread owns all of libcurl's state; this class is Sendable and sends it messages.
/// Requests that wait for a stream wait in the transport's own queue, never in libcurl's.
///
/// What libcurl does not report to a client, and the consequences:
/// - It resends a POST by itself when a reused connection is lost without an answer, or a stream is
///   refused. This transport gives it a body that cannot be rewound, which prevents that: the
///   submission fails as `unknown`, and the caller decides on a resend.
/// - A refused stream is reported before 8.19 only if it was the first request of its connection,
///   which is then sent again; any other looks like one on a connection that was lost. Which
///   streams a GOAWAY leaves out this transport derives from libcurl's debug output. If a server
///   repeatedly closes connections after the same number of requests, no more are started on one,
///   because they would be written for nothing; see `RequestLimit`.
/// - 7.88 loses an answer that is received before the body was sent, if the server closes the
///   stream with it and libcurl finds the stream closed when it writes the body: the outcome is
///   `unknown`. No option and no callback returns the answer.
/// - It does not expose the server's stream limit; see ``StreamWindow``. It reports a GOAWAY only
///   in its debug output, which this transport reads.
/// - It offers no HTTP/2 PING through its multi interface before 8.10; a silent peer is detected by
///   TCP keep-alive, and by submissions that time out while no other is answered.
/// - It reads until nothing is left. A connection on which one call reads for half a second is
///   closed, because its peer floods it.
public final class CurlTransport: PushTransport {
    /// The libcurl that it uses.
    public let library: CurlLibrary
    private let mailbox: Mailbox
    private let refusals: LateRefusals

    /// Starts the thread. No connection is made before the first submission.
    ///
    /// `sink` receives every outcome, on the transport's thread. Throws ``CurlLibrary/Unsuitable``
    /// if libcurl cannot be used or the system has no descriptor or thread left.
    public convenience init(
        _ configuration: TransportConfiguration, sink: @escaping CompletionSink
    ) throws(CurlLibrary.Unsuitable) {
        let library = try CurlLibrary.loaded()
        try self.init(
            configuration, library: library,
            needsResetRationing: library.resetsFinishedStreams && !library.hasResetGuard,
            sink: sink)
    }

    /// Creates a transport with a choice about rationing (see `CurlLoop.resetRation`), for tests.
    package init(
        _ configuration: TransportConfiguration, library: CurlLibrary, needsResetRationing: Bool,
        sink: @escaping CompletionSink
    ) throws(CurlLibrary.Unsuitable) {
        self.library = library
        guard let reactor = CCurlReactor_create() else {
            throw CurlLibrary.Unsuitable(
                description: "No file descriptor is left for the transport; raise the limit "
                    + "(ulimit -n).")
        }
        let mailbox = Mailbox(waker: CurlWaker(reactor: reactor))
        self.mailbox = mailbox
        refusals = LateRefusals(sink)
        let start = LoopStart(
            reactor: reactor, mailbox: mailbox, configuration: configuration,
            refusals: refusals, needsResetRationing: needsResetRationing)
        guard LoopThread.start({ start.run() }) else {
            CCurlReactor_destroy(reactor)
            throw CurlLibrary.Unsuitable(
                description: "The system cannot start another thread; raise its limit.")
        }
    }

    deinit { mailbox.requestShutdown(grace: .zero) }

    /// Submits a batch; see ``PushTransport/PushTransport/submit(_:)``. Costs one lock, and a
    /// wake-up only if the thread sleeps.
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

    /// Cancels one submission; see ``PushTransport/PushTransport/cancel(_:)``. A request that has a
    /// stream is reset.
    public func cancel(_ id: TransportRequest.ID) { mailbox.cancel(id) }

    /// Moves to new connections; see ``PushTransport/PushTransport/replaceConnections()``.
    public func replaceConnections() { mailbox.replaceConnections() }

    /// Ends the transport; see ``PushTransport/PushTransport/shutDown(gracePeriod:)``. When it
    /// returns, every descriptor is closed and the thread is about to end.
    public func shutDown(gracePeriod: Duration) async {
        await mailbox.shutDown(grace: gracePeriod)
    }

    /// The gauges at the thread's last turn.
    public var gauges: TransportGauges { mailbox.gauges }
}

/// A reactor, for waking it alone.
///
/// `@unchecked`: the pointer is not Sendable by itself. The one function called through it,
/// `CCurlReactor_wake`, may be called from any thread until the reactor is destroyed; the mailbox
/// counts the calls under way, and the loop closes the mailbox, which waits for them, before it
/// destroys the reactor.
private struct CurlWaker: LoopWaker, @unchecked Sendable {
    let reactor: OpaquePointer

    func wake() { CCurlReactor_wake(reactor) }
}

/// The state that the loop's thread starts with.
///
/// `@unchecked`: the reactor's pointer is made by the transport's initializer and passed to the
/// thread before it runs. From then on only the thread uses it, except for waking, which `Mailbox`
/// proves safe.
private struct LoopStart: @unchecked Sendable {
    let reactor: OpaquePointer
    let mailbox: Mailbox
    let configuration: TransportConfiguration
    let refusals: LateRefusals
    let needsResetRationing: Bool

    func run() {
        CCurl_name_this_thread("rouse-curl")
        let loop = CurlLoop(
            reactor: reactor, mailbox: mailbox, configuration: configuration,
            refusals: refusals, needsResetRationing: needsResetRationing)
        loop.run()
    }
}
