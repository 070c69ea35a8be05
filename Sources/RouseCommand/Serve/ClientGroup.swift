// SPDX-License-Identifier: Apache-2.0

import APNsClient
import Gateway

/// The clients of all apps: those with the same server and credential share one.
struct ClientGroup: Sendable {
    /// How long clients that a reload has replaced may finish what they have, in seconds.
    static let retirementSeconds = 60

    private var clients: [ServedApp.ConnectionGroup: APNsClient] = [:]
    private var apps: [AppIdentity: APNsClient] = [:]

    /// The clients for these apps. Those that `earlier` has for the same connections are kept.
    init(_ apps: [ServedApp], earlier: ClientGroup? = nil) throws(CommandFailure) {
        for app in apps {
            do throws(APNsClient.Unavailable) {
                let known = clients[app.group] ?? earlier?.clients[app.group]
                let client = if let known { known } else { try APNsClient(app.client) }
                clients[app.group] = client
                self.apps[app.identity] = client
            } catch {
                throw CommandFailure(.unavailable, error.description)
            }
        }
    }

    /// What takes claims to them.
    var sender: APNsWakeSender { APNsWakeSender(clients: apps) }

    /// Ends the clients that `later` no longer has, once they have finished what they have.
    func retire(for later: ClientGroup) {
        for (group, client) in clients where later.clients[group] == nil {
            Task { await client.shutDown(gracePeriod: .seconds(Self.retirementSeconds)) }
        }
    }

    /// Ends all clients.
    func shutDown() async {
        for client in clients.values { await client.shutDown(gracePeriod: .zero) }
    }
}
