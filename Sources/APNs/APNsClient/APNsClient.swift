// SPDX-License-Identifier: Apache-2.0

public import APNsWire
internal import CurlTransport
internal import HTTP2Transport
public import PushTransport
public import WakeModel

/// Sends pushes to APNs over one group of HTTP/2 connections.
///
/// One client serves one environment and one credential, because APNs binds a connection to the
/// team and key of its first push (facts §4.4). It is safe to use from any thread or task, and
/// it must be shut down explicitly.
///
/// ```swift
/// import APNsClient
/// import APNsWire
/// import WakeModel
///
/// // Makes a client from the key that Apple's developer account gave out.
/// func makeClient(keyPath: String) throws -> APNsClient {
///     let tokens = ProviderTokenSource(
///         key: try SigningKey(path: keyPath),
///         keyID: try DeveloperID("ABCDE12345", field: "key id"),
///         teamID: try DeveloperID("TEAM123456", field: "team id"))
///     return try APNsClient(
///         .init(environment: .production, authentication: .providerToken(tokens)))
/// }
///
/// // Wakes one app on one device, and says what became of it.
/// func wake(_ deviceToken: String, with client: APNsClient) async -> String {
///     do {
///         let push = try Push.background(
///             to: DeviceToken(hex: deviceToken), of: BundleID("com.example.app"),
///             payload: Array(#"{"aps":{"content-available":1}}"#.utf8))
///         switch try await client.send(push) {
///         case .accepted(let acceptance):
///             return "accepted as \(acceptance.apnsID ?? push.apnsID)"
///         case .rejected(let rejection):
///             let reason = rejection.reason?.rawValue ?? "no reason"
///             return "refused: \(rejection.status) \(reason). \(rejection.advice.remedy)"
///         }
///     } catch {
///         return "failed: \(error)"  // an InvalidField, or a TransportFailure
///     }
/// }
/// ```
///
/// What the client does by itself, and no more: it attaches the provider token; it sends a push
/// again once, with the same `apns-id` and within the push's time, when APNs' answer proves that it
/// was not accepted and a new token or another connection is the remedy (`ExpiredProviderToken`,
/// `Shutdown`, `IdleTimeout`, `UnrelatedKeyIdInToken`). Everything else, above all what to do about
/// an unknown outcome, is left to the caller.
public final class APNsClient: Sendable {
    let core: ClientCore
    private let transport: any PushTransport

    /// Starts the client. The first push opens the first connection.
    ///
    /// Throws ``APNsClient/Unavailable`` when the process cannot push, with the reason.
    public convenience init(_ configuration: Configuration) throws(Unavailable) {
        try self.init(configuration) { transport, sink throws(Unavailable) in
            try Self.startTransport(configuration.transportKind, transport, sink: sink)
        }
    }

    /// Starts a transport without a client, for requests that are not pushes, or for a client whose
    /// owner needs access to its transport.
    ///
    /// Throws ``APNsClient/Unavailable`` when the process lacks a library that it needs.
    public static func startTransport(
        _ kind: TransportKind, _ configuration: TransportConfiguration,
        sink: @escaping CompletionSink
    ) throws(Unavailable) -> any PushTransport {
        switch kind {
        case .native:
            do throws(HTTP2Transport.Unsuitable) {
                return try HTTP2Transport(configuration, sink: sink)
            } catch {
                throw Unavailable(description: error.description)
            }
        case .curl:
            do throws(CurlLibrary.Unsuitable) {
                return try CurlTransport(configuration, sink: sink)
            } catch {
                throw Unavailable(description: error.description)
            }
        }
    }

    /// Starts the client on a transport that the caller provides: another implementation of
    /// ``PushTransport/PushTransport``, or one that records its requests.
    public init(
        _ configuration: Configuration,
        transport makeTransport: (
            TransportConfiguration, @escaping CompletionSink
        ) throws(Unavailable) -> any PushTransport
    ) throws(Unavailable) {
        let core = ClientCore(configuration)
        var settings = configuration.transport
        if case .certificate(let certificate) = configuration.authentication {
            settings.clientCertificate = certificate.clientCertificate
        }
        // The transport has a strong reference to the core; one in return would be a cycle.
        let transport = try makeTransport(settings) { core.receive($0) }
        self.core = core
        self.transport = transport
        core.connect(to: transport)
    }

    /// The reason why a client cannot be made.
    public struct Unavailable: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is missing, and what to do.
        public let description: String

        /// The reason, as a sentence.
        public init(description: String) { self.description = description }
    }

    /// Sends one push and waits for APNs' answer.
    ///
    /// Throws ``PushTransport/TransportFailure`` when no answer came; its certainty says whether
    /// the push may have arrived. Cancelling the task ends the wait: the failure is then
    /// `cancelled`, with the certainty at that moment. `timeout` replaces
    /// ``Configuration/pushTimeout``.
    public func send(
        _ push: Push, timeout: Duration? = nil
    ) async throws(TransportFailure) -> PushOutcome {
        var timeLeft = timeout ?? core.timeout
        let due = core.uptime + timeLeft
        var isSecond = false
        while true {
            let answer = await submit(push, due: due, timeLeft: timeLeft, isSecond: isSecond)
            // A cancelled push is not sent again.
            guard answer.mayGoAgain, !Task.isCancelled else { return try answer.result.get() }
            timeLeft = due - core.uptime
            guard timeLeft > .zero else { return try answer.result.get() }
            isSecond = true
        }
    }

    /// Submits a push once and waits for the answer.
    private func submit(
        _ push: Push, due: Duration, timeLeft: Duration, isSecond: Bool
    ) async -> PendingSends.Answer {
        let id = core.nextID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                core.send(
                    push, id, of: caller, due: due, timeLeft: timeLeft, isSecond: isSecond,
                    over: transport)
                // A task that was cancelled before this point cancelled an id that the transport
                // did not have yet. One that is cancelled later cancels an id that it has.
                if Task.isCancelled { transport.cancel(id) }
            }
        } onCancel: {
            transport.cancel(id)
        }
    }

    /// Sends a batch and waits for all answers. They are returned in the order of the pushes.
    ///
    /// The whole batch takes one lock and at most one wake-up. Cancelling the task does not cancel
    /// pushes. `timeout`, for each push, replaces ``Configuration/pushTimeout``.
    public func send(_ pushes: [Push], timeout: Duration? = nil) async -> [PushReply] {
        guard !pushes.isEmpty else { return [] }
        return await withCheckedContinuation { continuation in
            let sent = core.prepare(
                pushes, timeout: timeout,
                receiver: .collector { continuation.resume(returning: $0) })
            core.send(pushes, of: sent, timeout: timeout, over: transport)
        }
    }

    /// Sends a batch and delivers the replies in groups, as they arrive.
    ///
    /// `receive` is called on the transport's thread, in one or more calls, until every push of the
    /// batch has had exactly one reply; it must not block. Once the client is shut down, it is
    /// called on the caller's thread before `send` returns, or, for a `send` from inside a reply,
    /// once that has returned. `timeout`, for each push, replaces ``Configuration/pushTimeout``.
    /// The result is a handle that cancels the batch.
    @discardableResult
    public func send(
        _ pushes: [Push], timeout: Duration? = nil,
        receive: @escaping @Sendable (_ replies: [PushReply]) -> Void
    ) -> SentBatch {
        let sent = core.prepare(pushes, timeout: timeout, receiver: .stream(receive))
        if !pushes.isEmpty { core.send(pushes, of: sent, timeout: timeout, over: transport) }
        return SentBatch(sent: sent, core: core)
    }

    /// Refuses new pushes, waits up to `gracePeriod` for answers, fails the rest as `shut-down`,
    /// and closes the connections.
    public func shutDown(gracePeriod: Duration = .seconds(5)) async {
        await transport.shutDown(gracePeriod: gracePeriod)
    }

    /// The present numbers of connections and requests of the client's transport.
    public var gauges: TransportGauges { transport.gauges }

    /// How far APNs' clock is ahead of this machine's, according to its last `date` header field;
    /// `nil` before the first one. A difference of more than a few seconds makes provider tokens
    /// invalid.
    public var clockSkew: Duration? { core.clockSkew }
}

extension APNsClient: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What it holds, in numbers.
    public var description: String {
        let gauges = gauges
        return "APNs client (\(gauges.connections) connections, \(gauges.inFlight) in flight, "
            + "\(gauges.queued) queued)"
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// No children, because they contain pushes and provider tokens.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A batch in flight. It retains the batch's pushes, and until the last reply the closure that
/// receives replies.
public struct SentBatch: Sendable {
    let sent: SentPushes
    let core: ClientCore

    /// Cancels every push that has no reply yet. Each is answered soon, as `cancelled` with the
    /// certainty at that moment, or with APNs' answer if that was received already. May be called
    /// from any thread, more than once.
    public func cancel() { core.cancel(sent) }
}

/// The reply to one push of a batch.
public struct PushReply: Sendable {
    /// The push's place in its batch, from 0.
    public let index: Int
    /// APNs' answer, or the reason for its absence.
    public let result: Result<PushOutcome, TransportFailure>

    /// Creates a reply.
    public init(index: Int, result: Result<PushOutcome, TransportFailure>) {
        self.index = index
        self.result = result
    }
}
