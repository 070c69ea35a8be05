// SPDX-License-Identifier: Apache-2.0

import APNsClient
import AdminAPI
import Gateway
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals
import WakeModel

/// All services of a gateway: store, clients, gateway, webhooks and HTTP API, and the order in
/// which they end.
struct GatewayAssembly {
    /// What is configured.
    let plan: ServePlan
    /// The keys of the API.
    let authentication: AdminConfiguration.Authentication
    /// Reads the configuration again, for SIGHUP; `nil` where there is none to read.
    let reread: (@Sendable () throws(CommandFailure) -> ServePlan)?
    /// SIGHUP, trapped before the plan was made.
    let hangUps: UnixSignalsSequence
    /// Whether nothing is sent: every app is paused before the first wake, and this process posts
    /// no webhook.
    var startsPaused = false

    /// The reason of the pause by ``startsPaused``.
    private static let pauseReason = "rouse serve --paused"
    /// What `/readyz` says while this process posts no webhook.
    private static let heldEvents =
        "No webhook is posted until a start without --paused; events are kept until then."

    /// Serves until SIGTERM or SIGINT, then drains: no new wakes, then the answers to those in
    /// flight, then the connections, then the store. `onListening` gets the address.
    func run(
        onListening: @escaping @Sendable (ListenAddress) -> Void
    ) async throws(CommandFailure) {
        let logger = plan.configuration.logFormat.logger("rouse", plan.configuration.logLevel)
        // All that can be wrong without the store comes first: a refused start leaves none behind.
        let api = try adminConfiguration()
        let audit = try auditLog(logger)
        let manager = try Self.notifier(logger)
        let opened = try await OpenStore.open(plan.configuration, logger)
        do throws(CommandFailure) {
            try await serve(opened, api, audit, manager, logger, onListening: onListening)
        } catch {
            await opened.close()
            throw error
        }
        await opened.close()
    }

    /// Serves over an open store, which it does not close.
    private func serve(
        _ opened: OpenStore, _ api: AdminConfiguration, _ audit: AuditLog,
        _ manager: ServiceNotifier, _ logger: Logger,
        onListening: @escaping @Sendable (ListenAddress) -> Void
    ) async throws(CommandFailure) {
        let clients = try ClientGroup(plan.apps)
        let metrics = MetricsRegistry()
        let gateway = Gateway(
            configuration: plan.gatewayConfiguration, store: opened.store, sender: clients.sender,
            clock: opened.clock, limits: GatewayLimits(processorCount: Processors.usableCount),
            metrics: GatewayMeters(metrics), logger: logger)
        if startsPaused {
            do throws(CommandFailure) {
                try await pauseAll(gateway, opened.store)
            } catch {
                await clients.shutDown()
                throw error
            }
            audit.note(
                "every app paused", by: KeysPlace.userName, from: "command line", to: "all apps",
                ["reason": Self.pauseReason])
        }
        let keys = keysWatcher(audit, logger)
        let webhooks = WebhookDelivery(
            gateway: gateway, endpoints: plan.webhooks, metrics: metrics, logger: logger
        ) { CurlWebhookClient() }
        let holdsEvents = startsPaused && !plan.webhooks.isEmpty
        let isListening = Mutex(false)
        let reloader = Reloader(
            hangUps: hangUps, reread: reread, started: plan.configuration, gateway: gateway,
            webhooks: webhooks, keys: keys, audit: audit, tls: api.tls, clients: clients,
            manager: manager, logger: logger)
        let server = AdminAPI(
            configuration: api, gateway: gateway, metrics: metrics, logger: logger, audit: audit,
            readings: { reloader.readings + opened.readings() },
            webhooks: { webhooks.health },
            channels: { reloader.clients.channels },
            warnings: { reloader.warnings + (holdsEvents ? [Self.heldEvents] : []) }
        ).service(on: address) { bound in
            isListening.withLock { $0 = true }
            manager.tell(.ready("The gateway listens on \(bound)."))
            onListening(bound)
        }
        if holdsEvents {
            logger.notice(
                "no webhook is posted until a start without --paused; events are kept until then",
                metadata: ["endpoints": "\(plan.webhooks.count)"])
        }
        let ending: [any Service] =
            opened.ends.map { [StoreFailureMonitor(failures: $0, logger: logger)] } ?? []
        let watching: [any Service] = keys.map { [$0] } ?? []
        let posting: [any Service] = startsPaused ? [] : [webhooks]
        let services: [any Service] =
            ending + [gateway] + posting + [server, reloader] + watching + [manager]
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                // By their types: otherwise the library names them by all of their contents.
                services: services.map { .init(service: $0, serviceName: "\(type(of: $0))") },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await group.run())
        } catch {
            outcome = .failure(error)
        }
        await reloader.clients.shutDown()
        if case .failure(let error) = outcome {
            let what = isListening.withLock { $0 } ? "stopped" : "cannot listen on \(address)"
            let why =
                (error as? ListenerFailure)?.advice ?? (error as? StoreFailure)?.description
                ?? "\(error)."
            throw CommandFailure(.unavailable, "The gateway \(what): \(why)")
        }
    }

    /// The audit log. Fails when its file cannot be written, because a missing audit log must not
    /// be detected only later.
    private func auditLog(_ logger: Logger) throws(CommandFailure) -> AuditLog {
        guard let path = plan.configuration.auditPath else { return AuditLog(logger) }
        let file = AuditFile(path: path)
        do throws(AuditFile.Failure) {
            try file.check()
        } catch {
            throw CommandFailure(.configuration, "audit-file: \(error)")
        }
        return AuditLog(logger, file: file)
    }

    /// The watcher of the keys' file, if keys are required.
    private func keysWatcher(_ audit: AuditLog, _ logger: Logger) -> KeysFileWatcher? {
        guard case .keys(let ring) = authentication else { return nil }
        return KeysFileWatcher(ring, plan: plan, audit: audit, logger: logger)
    }

    /// Pauses the apps that are not paused: an operator's pause keeps its reason and its time.
    private func pauseAll(
        _ gateway: Gateway, _ store: any WakeStore
    ) async throws(CommandFailure) {
        do throws(StoreFailure) {
            let paused = Set(
                try await store.perform(ListQueues()).filter { $0.pausedAt != nil }.map(\.queue.app)
            )
            for app in plan.apps where !paused.contains(app.identity) {
                _ = try await gateway.pause(app.identity, reason: Self.pauseReason)
            }
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func notifier(_ logger: Logger) throws(CommandFailure) -> ServiceNotifier {
        try failing(with: .configuration) { () throws(InvalidField) in
            try ServiceNotifier(.current, logger: logger)
        }
    }

    private func adminConfiguration() throws(CommandFailure) -> AdminConfiguration {
        let configuration = plan.configuration
        var api = AdminConfiguration(authentication: authentication)
        api.tls = try configuration.tls.map { (files) throws(CommandFailure) in
            try failing(with: .configuration) { () throws(InvalidField) in
                try ListenerTLS(certificatePath: files.certificatePath, keyPath: files.keyPath)
            }
        }
        api.connectionCount = configuration.listener.connections
        api.connectionsPerPeerCount = configuration.listener.connectionsPerPeer
        api.socketAccess = try failing(with: .configuration) { () throws(InvalidField) in
            try configuration.socketAccess()
        }
        api.idempotencySeconds = configuration.idempotencyHours * 3600
        return api
    }

    private var address: ListenAddress {
        switch plan.configuration.listen {
        case .tcp(let host, let port): .tcp(host: host, port: port)
        case .unixSocket(let path): .unixSocket(path: path)
        }
    }
}

extension CommandFailure {
    /// The failure of a store that cannot be opened, with its exit code.
    init(_ failure: StoreFailure) {
        let status: ExitStatus =
            switch failure.kind {
            case .readOnly: .notAllowed
            case .corrupt, .damaged: .data
            case .full, .inUse, .overloaded, .unavailable: .unavailable
            }
        self.init(status, failure.description)
    }
}

extension ServePlan {
    /// The part of it that configures the gateway.
    var gatewayConfiguration: GatewayConfiguration {
        var gateway = GatewayConfiguration(apps: apps.map(\.identity))
        for app in apps {
            gateway.policies[app.identity] = app.budget
            gateway.authentications[app.identity] =
                switch app.client.authentication {
                case .providerToken: .providerToken
                case .certificate: .certificate
                }
        }
        gateway.sendSeconds = configuration.transport.pushTimeoutSeconds
        gateway.retentionSeconds = configuration.retentionDays * 86_400
        gateway.webhooks = zip(webhooks, configuration.webhooks).map { endpoint, webhook in
            WebhookSubscription(
                endpoint: endpoint.id, kinds: webhook.events, apps: webhook.apps)
        }
        return gateway
    }
}

extension ServeConfiguration {
    /// Who may connect to the listener's socket. Throws ``WakeModel/InvalidField`` when its group
    /// does not exist on this machine; without a socket there is none to look for.
    func socketAccess() throws(InvalidField) -> SocketAccess {
        var access = SocketAccess()
        access.mode = listener.socketMode
        guard let name = listener.socketGroup, case .unixSocket = listen else { return access }
        guard let group = SocketAccess.groupID(named: name) else {
            throw InvalidField(
                field: "listener.socket-group",
                problem: "is no group of this machine (\(name))",
                remedy: "Write its name or number.")
        }
        access.groupID = group
        return access
    }
}
