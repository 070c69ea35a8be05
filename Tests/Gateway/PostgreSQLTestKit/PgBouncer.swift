// SPDX-License-Identifier: Apache-2.0

import Foundation
import ProcessKit
import Synchronization

/// PgBouncer of Debian's packages before a server, in transaction mode.
package final class PgBouncer: Sendable {
    /// The port on which it listens.
    package let port: Int
    private let folder: String
    private let process = Mutex<ServerProcess?>(nil)

    /// Starts it. `settings` go into its configuration; clients take turns on `poolSize`
    /// connections to the server.
    package init(
        to server: PostgreSQLServer, poolSize: Int, _ settings: [String: String] = [:]
    ) throws {
        port = try Sockets.freePort()
        folder = server.folder + "/pgbouncer-\(port)"
        try ServerProcess.makeFolder(folder)
        var lines = [
            "listen_addr": "127.0.0.1", "listen_port": "\(port)", "unix_socket_dir": "",
            "pool_mode": "transaction", "default_pool_size": "\(poolSize)",
            "auth_type": "plain", "auth_file": folder + "/users", "logfile": folder + "/log",
            "server_tls_sslmode": "disable",
        ]
        lines.merge(settings) { $1 }
        let text =
            "[databases]\n* = host=127.0.0.1 port=\(server.port)\n[pgbouncer]\n"
            + lines.map { "\($0.key) = \($0.value)\n" }.sorted().joined()
        try ServerProcess.write(text, to: folder + "/pgbouncer.ini")
        try ServerProcess.write(
            "\"\(PostgreSQLServer.user)\" \"\(PostgreSQLServer.password)\"\n",
            to: folder + "/users")
        try start()
    }

    deinit { kill() }

    /// Starts it and waits until it listens.
    package func start() throws {
        let bouncer = try ServerProcess(
            ["/usr/sbin/pgbouncer", "-q", folder + "/pgbouncer.ini"], in: folder, end: "KILL")
        process.withLock { $0 = bouncer }
        let end = ContinuousClock.now + .seconds(30)
        while true {
            if let connection = Sockets.connect(to: port) {
                close(connection)
                return
            }
            guard bouncer.isRunning, ContinuousClock.now < end else {
                throw SpawnedProcess.Failure(
                    description: "PgBouncer did not start: apt-get install pgbouncer? "
                        + ServerProcess.log(in: folder))
            }
            usleep(5_000)
        }
    }

    /// Ends it with all its connections. Other signals have it wait for its clients, depending on
    /// its version.
    package func kill() { process.withLock { $0.take() }?.stop(SIGKILL) }
}
