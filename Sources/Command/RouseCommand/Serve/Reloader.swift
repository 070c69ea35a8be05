// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Gateway
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals
import WakeModel

/// Reads the configuration again at each SIGHUP: apps, budgets, credentials, its API keys, the
/// listener's certificate and the webhooks' endpoints. A file with a fault changes nothing: all is
/// read and checked before anything is applied.
///
/// The settings of an open listener or store cannot change; such a change is logged and takes a
/// restart.
final class Reloader: Service {
    private let hangUps: UnixSignalsSequence
    private let reread: (@Sendable () throws(CommandFailure) -> ServePlan)?
    private let started: ServeConfiguration
    private let gateway: Gateway
    private let webhooks: WebhookDelivery
    private let keys: KeysFileWatcher?
    private let audit: AuditLog
    private let tls: ListenerTLS?
    private let current: Mutex<ClientGroup>
    /// The time of the last reload, if it was refused.
    private let refusedAt = Mutex<WallInstant?>(nil)
    private let manager: ServiceNotifier
    private let logger: Logger

    /// `hangUps` has the signals, also those that came before the gateway ran.
    init(
        hangUps: UnixSignalsSequence, reread: (@Sendable () throws(CommandFailure) -> ServePlan)?,
        started: ServeConfiguration, gateway: Gateway, webhooks: WebhookDelivery,
        keys: KeysFileWatcher?, audit: AuditLog,
        tls: ListenerTLS?, clients: ClientGroup, manager: ServiceNotifier, logger: Logger
    ) {
        self.hangUps = hangUps
        self.reread = reread
        self.started = started
        self.gateway = gateway
        self.webhooks = webhooks
        self.keys = keys
        self.audit = audit
        self.tls = tls
        current = Mutex(clients)
        self.manager = manager
        self.logger = logger
    }

    /// The clients in use.
    var clients: ClientGroup { current.withLock { $0 } }

    /// Those of the clients, and whether the last reload was refused.
    var readings: [MetricReading] {
        let isRefused = refusedAt.withLock { $0 != nil }
        return clients.readings + [MetricReading(.reloadFailed, [], isRefused ? 1 : 0)]
    }

    /// The text of `/readyz` while an older configuration is in use. It omits the reason, because
    /// the route is public.
    var warnings: [String] {
        guard let refusedAt = refusedAt.withLock({ $0 }) else { return [] }
        return [
            "The reload at \(refusedAt) was refused, and the configuration from before it is in "
                + "use. The gateway's log has the reason."
        ]
    }

    /// Waits for signals until the service group shuts down.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in self.hangUps { self.reload() }
        }
    }

    private func reload() {
        guard let reread else {
            logger.notice("there is no configuration to read again")
            return
        }
        manager.tell(.reloading)
        do throws(CommandFailure) {
            let plan = try reread()
            try use(plan)
            refusedAt.withLock { $0 = nil }
            audit.note(
                "configuration reloaded", by: "SIGHUP", from: "signal", to: "configuration",
                ["apps": "\(plan.apps.count)"])
            logger.notice(
                "the configuration was read again", metadata: ["apps": "\(plan.apps.count)"])
            manager.tell(.ready("The configuration was read again."))
        } catch {
            refusedAt.withLock { $0 = gateway.now }
            audit.note(
                "configuration reload refused", by: "SIGHUP", from: "signal",
                to: "configuration")
            logger.error(
                "reload failed; keeping the current configuration",
                metadata: ["error": "\(error.message)"])
            manager.tell(.ready("Reload failed; keeping the current configuration."))
        }
    }

    private func use(_ plan: ServePlan) throws(CommandFailure) {
        let old = clients
        let new = try ClientGroup(plan.apps, earlier: old)
        do throws(CommandFailure) {
            try reloadTLS(plan.configuration)
        } catch {
            new.retire(for: old)
            throw error
        }
        warnOfRestart(plan.configuration)
        current.withLock { $0 = new }
        gateway.reload(
            plan.gatewayConfiguration, sender: new.sender, unchanged: new.unchanged(since: old))
        old.retire(for: new)
        webhooks.replace(plan.webhooks)
        keys?.replace(with: plan)
    }

    private func reloadTLS(_ new: ServeConfiguration) throws(CommandFailure) {
        guard let tls, let files = new.tls else { return }
        try failing(with: .configuration) { () throws(InvalidField) in
            try tls.reload(certificatePath: files.certificatePath, keyPath: files.keyPath)
        }
    }

    /// Logs the settings of the new configuration that take a restart.
    private func warnOfRestart(_ new: ServeConfiguration) {
        let keys = started.keysTakingRestart(for: new)
        guard !keys.isEmpty else { return }
        logger.warning(
            "part of the configuration changes with a restart only",
            metadata: ["keys": "\(keys.joined(separator: ", "))"])
    }
}

extension ServeConfiguration {
    /// The keys whose values in `new` take a restart, as the manual lists them.
    func keysTakingRestart(for new: ServeConfiguration) -> [String] {
        let keys = [
            ("listen", new.listen != listen),
            ("listener", new.listener != listener),
            (
                "store",
                new.storePath != storePath || new.storeURL != storeURL
                    || new.storePasswordPath != storePasswordPath
            ),
            ("store-accepts-loss", new.storeAcceptsLoss != storeAcceptsLoss),
            ("store-durability", new.storeDurability != storeDurability),
            // The files of a certificate are read again; only whether there is one is fixed.
            ("tls", (new.tls == nil) != (tls == nil)),
            ("idempotency-hours", new.idempotencyHours != idempotencyHours),
            ("audit-file", new.auditPath != auditPath),
            ("log-level", new.logLevel != logLevel),
            ("log-format", new.logFormat != logFormat),
        ]
        return keys.filter(\.1).map(\.0)
    }
}
