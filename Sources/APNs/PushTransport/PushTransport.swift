// SPDX-License-Identifier: Apache-2.0

/// The interface between a push client and the implementation that sends its requests.
///
/// Requests are submitted in batches and outcomes are delivered in batches. The contract of every
/// transport:
/// - Each submission has exactly one outcome: an answer, a failure, its timeout, its cancellation,
///   or the transport's shutdown.
/// - A submission's context is returned with its outcome.
/// - One submission is at most one request on the wire. A transport that cannot determine whether
///   its library resent a request reports `unknown`; it never resends by itself.
/// - No method blocks on the network. All may be called from any thread.
/// - After ``shutDown(gracePeriod:)`` has returned, no completion follows for earlier submissions,
///   and everything that the transport opened is closed.
public protocol PushTransport: AnyObject, Sendable {
    /// Submits a batch. Outcomes are delivered to the sink that the transport was made with. After
    /// shutdown has begun, each is `shutDown (not-sent)`, delivered by this call on its thread, or,
    /// for a call from inside the sink, once that has returned. If the caller keeps no copy of the
    /// batch, the transport makes none.
    func submit(_ batch: consuming [TransportRequest])

    /// Submits one request, as a batch of one.
    func submit(_ submission: consuming TransportRequest)

    /// Announces single submissions from several tasks, until ``endGathering()``. The transport may
    /// delay them meanwhile, by a millisecond at most, so that its thread sends them together.
    /// Calls may nest.
    func beginGathering()

    /// Ends what ``beginGathering()`` began.
    func endGathering()

    /// Cancels one submission. Its outcome is `cancelled`, with the certainty at that moment,
    /// unless another outcome was determined already. Unknown ids are ignored, also those that are
    /// submitted later.
    func cancel(_ id: TransportRequest.ID)

    /// Uses new connections from now on, and closes each present one once its requests in flight
    /// are answered. For connections that keep refusing a valid provider token.
    func replaceConnections()

    /// Refuses new submissions, waits up to `gracePeriod` for the present ones, fails the rest as
    /// `shutDown`, closes everything and returns. A second call waits for the first.
    func shutDown(gracePeriod: Duration) async

    /// The present numbers of connections and requests.
    var gauges: TransportGauges { get }
}

extension PushTransport {
    /// Submits a batch of one. A transport may override it to avoid the array.
    public func submit(_ submission: consuming TransportRequest) { submit([submission]) }
    /// Does nothing: gathering is optional.
    public func beginGathering() {}
    /// Does nothing.
    public func endGathering() {}
}

/// A request that is submitted to a transport.
public struct TransportRequest: Identifiable, Sendable {
    /// A number that the submitter chooses; unique among its submissions in flight.
    public typealias ID = UInt64

    /// The id that the outcome is delivered with.
    public let id: ID
    /// The request.
    public let request: WireRequest
    /// The timeout, queueing and connecting included.
    public let timeout: Duration
    /// A value that is returned with the outcome; the transport does not use it. It saves the
    /// submitter a table and its lock.
    public let context: Context?

    /// Any value that may be used on another thread.
    public typealias Context = any AnyObject & Sendable

    /// Creates a submission.
    public init(id: ID, request: WireRequest, timeout: Duration, context: Context? = nil) {
        self.id = id
        self.request = request
        self.timeout = timeout
        self.context = context
    }
}

/// The outcome of one submission.
public struct Completion: Sendable {
    /// The submission's id.
    public let id: TransportRequest.ID
    /// The answer, or the reason for its absence.
    public let result: Result<WireResponse, TransportFailure>
    /// The submission's context.
    public let context: TransportRequest.Context?

    /// Creates a completion.
    public init(
        id: TransportRequest.ID, result: Result<WireResponse, TransportFailure>,
        context: TransportRequest.Context?
    ) {
        self.id = id
        self.result = result
        self.context = context
    }
}

/// Receives a transport's outcomes in batches.
///
/// Called on the transport's thread, except for submissions after shutdown has begun. It must not
/// block, must hold no lock while it submits, and must not wait for
/// ``PushTransport/shutDown(gracePeriod:)``. It may submit.
public typealias CompletionSink = @Sendable (_ batch: [Completion]) -> Void

/// Numbers of a transport, for metrics, status pages and tests.
public struct TransportGauges: Hashable, Sendable {
    /// The connections that are open or being opened.
    public var connections = 0
    /// The requests that were given to a connection and have no answer yet.
    public var inFlight = 0
    /// The submissions that wait for a stream.
    public var queued = 0
    /// The connections opened since the start.
    public var connectionsOpened = 0

    /// Creates gauges that are all zero.
    public init() {}
}
