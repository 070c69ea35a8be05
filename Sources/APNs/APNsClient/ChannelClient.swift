// SPDX-License-Identifier: Apache-2.0

internal import APNsWire
internal import LoopKit
public import PushTransport
internal import Synchronization
public import WakeModel

/// Manages the broadcast channels of an app's Live Activities and sends to them (iOS 18).
///
/// One client serves one environment and one credential, as an ``APNsClient/APNsClient`` does. It
/// connects at the first request, separately to Apple's host for channels and to the one for
/// pushes. It may be used from any task, and must be shut down explicitly.
///
/// ```swift
/// let channel = try await client.createChannel(of: app, storing: .latest)
/// ```
///
/// It attaches the provider token, and sends a request again once, with the same `apns-request-id`
/// and within the request's timeout, when the answer proves that nothing was done and a new token
/// or another connection is the remedy. It does nothing else by itself.
public final class ChannelClient: Sendable {
    private struct State {
        var transports: [ChannelRequest.Server: any PushTransport] = [:]
        var isShutDown = false
    }

    private let configuration: Configuration
    private let ids = Atomic<UInt64>(1)
    private let state = StateLock(State())

    /// Creates a client. Nothing is started before the first request.
    public init(_ configuration: Configuration) { self.configuration = configuration }

    /// Makes a channel and returns its id, which apps need to subscribe.
    ///
    /// Throws ``PushTransport/TransportFailure`` when no answer came. When its certainty is
    /// `unknown`, the channel may exist without its id having been received:
    /// ``channels(of:requestID:)`` lists it.
    public func createChannel(
        of bundleID: BundleID, storing storage: ChannelStorage, requestID: APNsID = .generate()
    ) async throws(TransportFailure) -> ChannelAnswer<ChannelID> {
        try await perform(.create(of: bundleID, storing: storage, requestID: requestID))
            .createdChannel
    }

    /// Reads what a channel stores. Throws ``PushTransport/TransportFailure`` when no answer came.
    public func storage(
        of channel: ChannelID, of bundleID: BundleID, requestID: APNsID = .generate()
    ) async throws(TransportFailure) -> ChannelAnswer<ChannelStorage> {
        try await perform(.read(channel, of: bundleID, requestID: requestID)).storage
    }

    /// Reads the ids of all channels of an app. Throws ``PushTransport/TransportFailure`` when no
    /// answer came.
    public func channels(
        of bundleID: BundleID, requestID: APNsID = .generate()
    ) async throws(TransportFailure) -> ChannelAnswer<[ChannelID]> {
        try await perform(.list(of: bundleID, requestID: requestID)).channels
    }

    /// Deletes a channel permanently. Throws ``PushTransport/TransportFailure`` when no answer
    /// came.
    public func deleteChannel(
        _ channel: ChannelID, of bundleID: BundleID, requestID: APNsID = .generate()
    ) async throws(TransportFailure) -> ChannelAnswer<Acknowledgement> {
        try await perform(.delete(channel, of: bundleID, requestID: requestID)).acknowledgement
    }

    /// Sends a broadcast. APNs' acceptance does not mean that a device received it.
    ///
    /// Throws ``PushTransport/TransportFailure`` when no answer came; its certainty says whether
    /// the broadcast may have been sent. It may be sent again in any case: devices show the update
    /// with the later `timestamp`.
    public func send(
        _ broadcast: Broadcast
    ) async throws(TransportFailure) -> ChannelAnswer<Acknowledgement> {
        try await perform(.send(broadcast)).acknowledgement
    }

    /// Refuses new requests, waits up to `gracePeriod` for answers, fails the rest as `shut-down`,
    /// and closes the connections.
    public func shutDown(gracePeriod: Duration = .seconds(5)) async {
        let transports = state.withLock { state in
            state.isShutDown = true
            defer { state.transports = [:] }
            return Array(state.transports.values)
        }
        for transport in transports { await transport.shutDown(gracePeriod: gracePeriod) }
    }

    /// Sends a request, and sends it again once where a new token or connection is the remedy.
    private func perform(
        _ request: ChannelRequest
    ) async throws(TransportFailure) -> ChannelAnswer<WireResponse> {
        let clock = configuration.clock
        let due = clock.uptime() + configuration.timeout
        let transport = try transport(to: request.server)
        var isSecond = false
        while true {
            let token = tokens?.current()
            let response = try await submit(
                request.wireRequest(providerToken: token?.value), over: transport,
                timeLeft: due - clock.uptime()
            ).get()
            let answer = ChannelAnswer(response)
            guard !isSecond, case .rejected(let rejection) = answer,
                isCured(rejection, of: token, by: transport), clock.uptime() < due,
                !Task.isCancelled
            else { return answer }
            isSecond = true
        }
    }

    /// Applies the fix for an answer that the client can make by itself. Returns whether the
    /// request may be sent again then.
    private func isCured(
        _ rejection: ChannelRejection, of token: ProviderToken?, by transport: any PushTransport
    ) -> Bool {
        switch rejection.advice.retry {
        case .onceWithNewProviderToken:
            guard let token, tokens?.replacement(forGeneration: token.generation) != nil
            else { return false }
        case .nowOnAnotherConnection: break
        case .never, .afterFix, .later: return false
        }
        transport.replaceConnections()
        return true
    }

    private var tokens: ProviderTokenSource? {
        if case .providerToken(let source) = configuration.authentication { source } else { nil }
    }

    private func submit(
        _ request: WireRequest, over transport: any PushTransport, timeLeft: Duration
    ) async -> Result<WireResponse, TransportFailure> {
        let id = ids.wrappingAdd(1, ordering: .relaxed).oldValue
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transport.submit(
                    TransportRequest(
                        id: id, request: request, timeout: timeLeft,
                        context: Waiting(continuation)))
                // A task that was cancelled before this point cancelled an id that the transport
                // did not have yet.
                if Task.isCancelled { transport.cancel(id) }
            }
        } onCancel: {
            transport.cancel(id)
        }
    }

    /// The transport to a server, started at the first call.
    private func transport(
        to server: ChannelRequest.Server
    ) throws(TransportFailure) -> any PushTransport {
        let result = state.withLock { state -> Result<any PushTransport, TransportFailure> in
            if let known = state.transports[server] { return .success(known) }
            guard !state.isShutDown else {
                return .failure(TransportFailure(.shutDown, certainty: .notSent))
            }
            do throws(APNsClient.Unavailable) {
                let transport = try start(server)
                state.transports[server] = transport
                return .success(transport)
            } catch {
                return .failure(
                    TransportFailure(.other, certainty: .notSent, detail: error.description))
            }
        }
        return try result.get()
    }

    private func start(
        _ server: ChannelRequest.Server
    ) throws(APNsClient.Unavailable) -> any PushTransport {
        var transport =
            server == .push ? configuration.transport : configuration.managementTransport
        if case .certificate(let certificate) = configuration.authentication {
            transport.clientCertificate = certificate.clientCertificate
        }
        return try APNsClient.startTransport(configuration.transportKind, transport) { batch in
            for completion in batch {
                guard let waiting = completion.context as? Waiting else {
                    preconditionFailure("A submission came back that this client never made.")
                }
                waiting.continuation.resume(returning: completion.result)
            }
        }
    }
}

/// The caller of a request. A transport returns each context once.
private final class Waiting: Sendable {
    let continuation: CheckedContinuation<Result<WireResponse, TransportFailure>, Never>

    init(_ continuation: CheckedContinuation<Result<WireResponse, TransportFailure>, Never>) {
        self.continuation = continuation
    }
}

extension ChannelClient {
    /// The servers and the credential of a channel client.
    public struct Configuration: Sendable {
        /// How the client authenticates to APNs.
        public var authentication: APNsClient.Authentication
        /// The transport to the server for broadcasts, which is the one for pushes.
        public var transport: TransportConfiguration
        /// The transport to the server that manages channels.
        public var managementTransport: TransportConfiguration
        /// The transport.
        public var transportKind = TransportKind.native
        /// The timeout of one request, connecting included: 30 s.
        public var timeout: Duration = .seconds(30)
        /// The clocks. Replaced in tests only.
        public var clock: WakeClock = .system

        /// Uses Apple's servers.
        public init(
            environment: APNsEnvironment, authentication: APNsClient.Authentication
        ) {
            self.init(
                transport: TransportConfiguration(environment), managedBy: environment,
                authentication: authentication)
        }

        /// Sends broadcasts over this transport, and manages channels over one connection of the
        /// same settings: to Apple's server for `environment`, or without one to the same server,
        /// as an APNs simulator is both.
        public init(
            transport: TransportConfiguration, managedBy environment: APNsEnvironment? = nil,
            authentication: APNsClient.Authentication
        ) {
            self.transport = transport
            self.authentication = authentication
            managementTransport = transport
            managementTransport.maximumConnections = 1
            if let environment {
                managementTransport.host = environment.managementHost
                managementTransport.port = environment.managementPort
            }
        }
    }
}

extension ChannelClient: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of its servers.
    public var description: String {
        "channel client of \(configuration.managementTransport.host) and "
            + configuration.transport.host
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// No children, because they contain provider tokens.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
