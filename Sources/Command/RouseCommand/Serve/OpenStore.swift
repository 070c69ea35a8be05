// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Gateway
import Glibc
import Logging
import StorePostgreSQL
import StoreSQLite
import WakeModel

/// The store of a gateway, with the operations of the process on it.
struct OpenStore {
    /// The store.
    let store: any WakeStore
    /// The clock of all gateways on it.
    let clock: any GatewayClock
    /// Yields the failure after which the store must be opened again; `nil` for one that recovers.
    let ends: AsyncStream<StoreFailure>?
    /// Its metrics.
    let readings: @Sendable () -> [MetricReading]
    /// Closes it.
    let close: @Sendable () async -> Void

    /// Opens the store that is configured.
    static func open(
        _ configuration: ServeConfiguration, _ logger: Logger
    ) async throws(CommandFailure) -> OpenStore {
        do throws(StoreFailure) {
            if let url = configuration.storeURL {
                return try await openShared(url, configuration, logger)
            }
            return try openFile(configuration, logger)
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func openShared(
        _ url: String, _ configuration: ServeConfiguration, _ logger: Logger
    ) async throws(StoreFailure) -> OpenStore {
        let store = try await PostgreSQLWakeStore.open(
            url: url, settings: configuration.sharedStoreSettings
        ) { logger.warning("the shared store", metadata: ["notice": "\($0)"]) }
        return OpenStore(
            store: store, clock: SharedStoreClock(store: store), ends: nil, readings: { [] },
            close: { await store.close() })
    }

    private static func openFile(
        _ configuration: ServeConfiguration, _ logger: Logger
    ) throws(StoreFailure) -> OpenStore {
        let durability = configuration.storeDurability
        if durability != .disk {
            logger.notice(
                "answers do not wait for the disk: a power cut may take the last second",
                metadata: ["store-durability": "\(durability.rawValue)"])
        }
        let path = SQLiteWakeStore.place(of: configuration.storePath)
        var status = stat()
        let isThere = stat(path, &status) == 0 && status.st_size > 0
        let store = try SQLiteWakeStore(path: path, durability: durability) {
            $0.log(to: logger)
        }
        // This reports a disk that is not mounted to the operator.
        if !isThere { logger.notice("a new store was made", metadata: ["store": "\(path)"]) }
        return OpenStore(
            store: store, clock: SystemGatewayClock(), ends: store.ends,
            readings: { store.logStatus.readings }, close: { try? store.close() })
    }
}

/// The database's time, on which all gateways of a shared store agree: this machine's, corrected by
/// the offset of the store's last transaction.
struct SharedStoreClock: GatewayClock {
    let store: PostgreSQLWakeStore
    private let machine = SystemGatewayClock()

    init(store: PostgreSQLWakeStore) { self.store = store }

    func now() -> WallInstant {
        machine.now().advanced(byMilliseconds: store.clockOffsetMilliseconds ?? 0)
    }

    func sleep(until instant: WallInstant) async throws {
        let offset = store.clockOffsetMilliseconds ?? 0
        try await machine.sleep(until: instant.advanced(byMilliseconds: -offset))
    }

    func millisecondsSinceBoot() -> Int64? { machine.millisecondsSinceBoot() }
}

extension ServeConfiguration {
    /// Whether a value of `store` names a database, and no file.
    static func isStoreURL(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    /// How the shared store is used.
    var sharedStoreSettings: PostgreSQLWakeStore.Settings {
        var settings = PostgreSQLWakeStore.Settings()
        settings.passwordFile = storePasswordPath
        settings.acceptsLoss = storeAcceptsLoss
        return settings
    }
}
