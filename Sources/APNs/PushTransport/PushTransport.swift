// SPDX-License-Identifier: Apache-2.0

/// The small port between a push client and whatever carries its requests.
///
/// Requests go in by batches and outcomes come out by batches, each through one door. The contract
/// that every transport keeps:
/// - Each submission is answered exactly once, whatever happens: an answer, a failure, its
///   deadline, its cancellation, or the transport's shutdown.
/// - A submission's context comes back with its outcome.
/// - One submission is at most one request on the wire. A transport that cannot determine whether
///   its library resent a request reports `unknown`; it never resends by itself.
/// - No method blocks on the network. All may be called from any thread.
/// - After ``shutDown(gracePeriod:)`` has returned, no completion follows for what was taken
///   before, and everything that the transport opened is closed.
public protocol PushTransport: AnyObject, Sendable {
    /// Hands over a batch. Each one's outcome comes back through the sink that the transport was
    /// made with. After shutdown has begun, each is answered `shutDown (not-sent)`, by this call
    /// itself and on its thread; if it comes from inside the sink, once that has returned. A caller
    /// that keeps no copy of the batch spares the transport one.
    func submit(_ batch: consuming [TransportRequest])

    /// Hands over one submission, as a batch of one would be.
    func submit(_ submission: consuming TransportRequest)

    /// Says that submissions one by one are about to come, each from another task, until
    /// ``endGathering()``. Those may wait for each other meanwhile, for a millisecond at most: they
    /// then share a turn of the transport's thread and its writes. Calls may nest.
    func beginGathering()

    /// Ends what ``beginGathering()`` began.
    func endGathering()

    /// Gives up on one submission. It is answered `cancelled`, with the certainty that holds at
    /// that moment, unless its outcome was already on its way. Unknown ids are disregarded, also
    /// those that are submitted later.
    func cancel(_ id: TransportRequest.ID)

    /// Sends everything from now on over new connections, and closes the present ones once what is
    /// in flight on them is answered. For a connection that keeps refusing a good provider token.
    func replaceConnections()

    /// Stops taking submissions, waits up to `gracePeriod` for those already taken, fails the rest
    /// as `shutDown`, closes everything and returns. A second call waits for the first.
    func shutDown(gracePeriod: Duration) async

    /// What the transport holds at this moment.
    var gauges: TransportGauges { get }
}

extension PushTransport {
    /// A batch of one. A transport that can spare the array has a method of its own.
    public func submit(_ submission: consuming TransportRequest) { submit([submission]) }
    /// Nothing: a transport need not wait for more.
    public func beginGathering() {}
    /// Nothing.
    public func endGathering() {}
}

/// One request on its way into a transport.
public struct TransportRequest: Identifiable, Sendable {
    /// A number that the submitter chooses; unique among its submissions in flight.
    public typealias ID = UInt64

    /// The number by which the outcome comes back.
    public let id: ID
    /// The request.
    public let request: WireRequest
    /// How long the whole may take, queueing and connecting included.
    public let timeout: Duration
    /// What the submitter wants to have back with the outcome; the transport only carries it. With
    /// it a submitter needs no table of its own, nor a lock round one.
    public let context: Context?

    /// Anything that may come back on another thread.
    public typealias Context = any AnyObject & Sendable

    /// Numbers a request.
    public init(id: ID, request: WireRequest, timeout: Duration, context: Context? = nil) {
        self.id = id
        self.request = request
        self.timeout = timeout
        self.context = context
    }
}

/// The outcome of one submission.
public struct Completion: Sendable {
    /// The submission's number.
    public let id: TransportRequest.ID
    /// The answer, or why there is none.
    public let result: Result<WireResponse, TransportFailure>
    /// The submission's context.
    public let context: TransportRequest.Context?

    /// Pairs a number with its outcome.
    public init(
        id: TransportRequest.ID, result: Result<WireResponse, TransportFailure>,
        context: TransportRequest.Context?
    ) {
        self.id = id
        self.result = result
        self.context = context
    }
}

/// Takes a transport's outcomes, a batch at a time.
///
/// Called on the transport's own thread, but for submissions after shutdown began: it must not
/// block, must hold no lock while it submits, and must not wait for
/// ``PushTransport/shutDown(gracePeriod:)``. Submitting from inside it is fine.
public typealias CompletionSink = @Sendable (_ batch: [Completion]) -> Void

/// What a transport holds: for metrics, status pages and tests.
public struct TransportGauges: Hashable, Sendable {
    /// Connections that are open or being opened.
    public var connections = 0
    /// Requests handed to a connection and not yet answered.
    public var inFlight = 0
    /// Submissions that wait for a stream.
    public var queued = 0
    /// Connections opened since the start.
    public var connectionsOpened = 0

    /// All zero.
    public init() {}
}
