// SPDX-License-Identifier: Apache-2.0

import APNsClient
import AdminAPI
import Gateway
import Logging
import ServiceLifecycle
import StoreSQLite
import Synchronization
import UnixSignals
import WakeModel

/// The gateway, put together: store, clients, gateway and HTTP API, and the order in which they
/// end.
struct GatewayAssembly {
    /// What is configured.
    let configuration: ServeConfiguration
    /// The apps, with their credentials opened.
    let apps: [ServedApp]
    /// Who may call the API.
    let authentication: AdminConfiguration.Authentication

    /// Serves until SIGTERM or SIGINT, then drains: no new wakes, then the answers to those in
    /// flight, then the connections, then the store. `onListening` is told the address.
    func run(
        onListening: @escaping @Sendable (ListenAddress) -> Void
    ) async throws(CommandFailure) {
        var logger = Logger(label: "rouse")
        logger.logLevel = configuration.logLevel
        let manager = try Self.notifier(logger)
        let store = try openStore()
        let clients = try startClients()
        let gateway = Gateway(
            apps: apps.map(\.identity), store: store, sender: APNsWakeSender(clients: clients),
            logger: logger)
        let api = AdminAPI(
            configuration: AdminConfiguration(authentication: authentication), gateway: gateway,
            logger: logger)
        let isListening = Mutex(false)
        let server = api.service(on: address) { bound in
            isListening.withLock { $0 = true }
            manager.tell(.ready("The gateway listens on \(bound)."))
            onListening(bound)
        }
        let group = ServiceGroup(
            services: [gateway, server, manager], gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger)
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await group.run())
        } catch {
            outcome = .failure(error)
        }
        for client in clients.values { await client.shutDown(gracePeriod: .zero) }
        try? store.close()
        if case .failure(let error) = outcome {
            let what = isListening.withLock { $0 } ? "stopped" : "cannot listen on \(address)"
            throw CommandFailure(.unavailable, "The gateway \(what): \(error).")
        }
    }

    private static func notifier(_ logger: Logger) throws(CommandFailure) -> ServiceNotifier {
        try failing(with: .configuration) { () throws(InvalidField) in
            try ServiceNotifier(.current, logger: logger)
        }
    }

    private var address: ListenAddress {
        switch configuration.listen {
        case .tcp(let host, let port): .tcp(host: host, port: port)
        case .unixSocket(let path): .unixSocket(path: path)
        }
    }

    private func openStore() throws(CommandFailure) -> SQLiteWakeStore {
        do throws(StoreFailure) {
            return try SQLiteWakeStore(path: configuration.storePath)
        } catch {
            let status: ExitStatus =
                switch error.kind {
                case .readOnly: .notAllowed
                case .corrupt: .data
                case .full, .inUse, .unavailable: .unavailable
                }
            throw CommandFailure(status, error.message)
        }
    }

    private func startClients() throws(CommandFailure) -> [AppIdentity: APNsClient] {
        var clients: [AppIdentity: APNsClient] = [:]
        var groups: [ServedApp.ConnectionGroup: APNsClient] = [:]
        for app in apps {
            do throws(APNsClient.Unavailable) {
                var client = groups[app.group]
                if client == nil { client = try APNsClient(app.client) }
                groups[app.group] = client
                clients[app.identity] = client
            } catch {
                throw CommandFailure(.unavailable, error.description)
            }
        }
        return clients
    }
}
