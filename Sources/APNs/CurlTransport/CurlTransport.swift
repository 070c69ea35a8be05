// SPDX-License-Identifier: Apache-2.0

internal import CCurlShims
internal import LoopKit
public import PushTransport
internal import WakeModel

/// HTTP/2 over libcurl: the transport for every proxy and every distribution.
///
/// One thread of its own owns all of libcurl's state; this front is Sendable and leaves messages.
/// Requests that wait for a stream wait in the transport's own queue, never in libcurl's.
///
/// What libcurl does not report to a client, and the consequences:
/// - It resends a POST by itself when a reused connection dies without an answer, or a stream is
///   refused. Here the body cannot be rewound, so it cannot: the submission fails as `unknown`,
///   and a resend is the caller's decision.
/// - A refused stream, or one excluded by a GOAWAY, is reported by 7.88 only if it was the first
///   request of its connection, which is then sent again; any other looks like one on a connection
///   that died. Where a server ends connections after the same number of requests again and again,
///   no more are started on one; see ``RequestLimit``.
/// - An answer that comes before the body has left, and whose stream is closed with it, is lost in
///   7.88 when libcurl finds the stream closed as it is about to write the body: the outcome is
///   `unknown`, although the answer came. Neither option nor callback gives it out.
/// - It does not expose the server's stream limit; see ``StreamWindow``. It reports a GOAWAY only
///   in its debug output, which this transport reads.
/// - It offers no HTTP/2 PING through its multi interface before 8.10; a silent peer is found by
///   TCP keep-alive, and by submissions that time out without any answer beside them.
/// - It reads for as long as there is something to be read. A peer that floods the connection is
///   no longer listened to once that took half a second of the thread's time in one go.
public final class CurlTransport: PushTransport {
    /// The libcurl that carries it.
    public let library: CurlLibrary
    private let mailbox: Mailbox
    private let refusals: LateRefusals

    /// Starts the thread. No connection is made before the first submission.
    ///
    /// `sink` receives every outcome, on the transport's thread. Throws ``CurlLibrary/Unsuitable``
    /// if libcurl will not do or the system gives no descriptor.
    public convenience init(
        _ configuration: TransportConfiguration, sink: @escaping CompletionSink
    ) throws(CurlLibrary.Unsuitable) {
        let library = try CurlLibrary.loaded()
        try self.init(
            configuration, library: library,
            needsResetRationing: library.resetsFinishedStreams && !library.hasResetGuard,
            sink: sink)
    }

    /// The same, with a decision about rationing (see `CurlLoop.resetRation`) that tests make.
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

    /// Hands over a batch; see ``PushTransport/PushTransport/submit(_:)``. One lock, and a wake-up
    /// only if the thread sleeps.
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

    /// Gives up on one submission; see ``PushTransport/PushTransport/cancel(_:)``. A request that
    /// has a stream is reset.
    public func cancel(_ id: TransportRequest.ID) { mailbox.cancel(id) }

    /// Moves to new connections; see ``PushTransport/PushTransport/replaceConnections()``.
    public func replaceConnections() { mailbox.replaceConnections() }

    /// Ends the transport; see ``PushTransport/PushTransport/shutDown(gracePeriod:)``. When it
    /// returns, every descriptor is closed and the thread is about to be gone.
    public func shutDown(gracePeriod: Duration) async {
        await mailbox.shutDown(grace: gracePeriod)
    }

    /// What the transport held at the thread's last turn.
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

/// What the loop's thread starts from.
///
/// `@unchecked`: the reactor's pointer is made by the front, handed to the thread before it runs,
/// and from then on used by the thread alone, but for waking, which `Mailbox` proves safe.
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
