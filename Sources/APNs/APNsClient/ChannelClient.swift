// SPDX-License-Identifier: Apache-2.0

internal import APNsWire
internal import LoopKit
public import PushTransport
internal import Synchronization
public import WakeModel

/// Manages the broadcast channels of an app's Live Activities and sends to them (iOS 18).
///
/// One client serves one environment and one credential, as an ``APNsClient/APNsClient`` does. It
/// connects when it is first asked, to Apple's host for channels and to the one for pushes by
/// themselves, may be used from any task, and is shut down explicitly.
///
/// ```swift
/// let channel = try await client.createChannel(of: app, storing: .latest)
/// ```
///
/// What it does by itself, and no more: it attaches the provider token, and asks again once, with
/// the same `apns-request-id` and within the request's time, when the answer proves that nothing
/// was done and a new token or another connection is the remedy.
public final class ChannelClient: Sendable {
    private struct State {
        var transports: [ChannelRequest.Server: any PushTransport] = [:]
        var isShutDown = false
    }

    private let configuration: Configuration
    private let ids = Atomic<UInt64>(1)
    private let state = StateLock(State())

    /// Makes a client. Nothing is started before the first request.
    public init(_ configuration: Configuration) { self.configuration = configuration }

    /// Makes a channel and returns its id, which apps need to subscribe.
    ///
    /// Throws ``PushTransport/TransportFailure`` when no answer came. When its certainty is
    /// `unknown`, there may be a channel whose id nobody knows: ``channels(of:requestID:)`` has it.
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

    /// Deletes a channel, for good. Throws ``PushTransport/TransportFailure`` when no answer came.
    public func deleteChannel(
        _ channel: ChannelID, of bundleID: BundleID, requestID: APNsID = .generate()
    ) async throws(TransportFailure) -> ChannelAnswer<Acknowledgement> {
        try await perform(.delete(channel, of: bundleID, requestID: requestID)).acknowledgement
    }

    /// Sends a broadcast. That APNs took it does not mean that a device got it.
    ///
    /// Throws ``PushTransport/TransportFailure`` when no answer came; its certainty says whether
    /// the broadcast may have been sent. It may go again all the same: devices show the update with
    /// the later `timestamp`.
    public func send(
        _ broadcast: Broadcast
    ) async throws(TransportFailure) -> ChannelAnswer<Acknowledgement> {
        try await perform(.send(broadcast)).acknowledgement
    }

    /// Stops taking requests, waits up to `gracePeriod` for answers, fails the rest as `shut-down`,
    /// and closes the connections.
    public func shutDown(gracePeriod: Duration = .seconds(5)) async {
        let transports = state.withLock { state in
            state.isShutDown = true
            defer { state.transports = [:] }
            return Array(state.transports.values)
        }
        for transport in transports { await transport.shutDown(gracePeriod: gracePeriod) }
    }

    /// Asks, and once more where a new token or connection is the remedy.
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

    /// Does what an answer calls for that the client itself can do. Whether the request may go
    /// again with that.
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
                // One that was cancelled before has told the transport of an id that it did not
                // know yet.
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

/// Who waits for the answer to a request. A transport gives each context back once.
private final class Waiting: Sendable {
    let continuation: CheckedContinuation<Result<WireResponse, TransportFailure>, Never>

    init(_ continuation: CheckedContinuation<Result<WireResponse, TransportFailure>, Never>) {
        self.continuation = continuation
    }
}

extension ChannelClient {
    /// Where a client of channels asks, and as whom.
    public struct Configuration: Sendable {
        /// How APNs knows the client.
        public var authentication: APNsClient.Authentication
        /// How the server is reached that takes broadcasts: the one that takes pushes.
        public var transport: TransportConfiguration
        /// How the server is reached that manages channels.
        public var managementTransport: TransportConfiguration
        /// What carries the requests.
        public var transportKind = TransportKind.native
        /// How long one request may take, connecting included: 30 s.
        public var timeout: Duration = .seconds(30)
        /// The clocks. Replaced in tests only.
        public var clock: WakeClock = .system

        /// Asks Apple.
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
    /// Its servers.
    public var description: String {
        "channel client of \(configuration.managementTransport.host) and "
            + configuration.transport.host
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// No children: beneath them are provider tokens.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
