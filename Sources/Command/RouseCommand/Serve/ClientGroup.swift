// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSender
import AdminAPI
import Gateway
import PushTransport
import WakeModel

/// The clients of all apps: those with the same server and credential share one.
struct ClientGroup: Sendable {
    /// The time for replaced clients to finish their pushes after a reload, in seconds.
    static let retirementSeconds = 60

    private var clients: [ServedApp.ConnectionGroup: APNsClient] = [:]
    private var apps: [AppIdentity: APNsClient] = [:]
    /// The clients of channels, which connect at their first request.
    private var channelClients: [ServedApp.ConnectionGroup: ChannelClient] = [:]
    private var channelApps: [AppIdentity: ChannelClient] = [:]
    /// The sources of provider tokens, each once, with its labels.
    private var tokens: [(source: ProviderTokenSource, labels: [(String, String)])] = []

    /// The clients for these apps. Those that `earlier` has for the same connections are kept.
    init(_ apps: [ServedApp], earlier: ClientGroup? = nil) throws(CommandFailure) {
        for app in apps {
            do throws(APNsClient.Unavailable) {
                let known = clients[app.group] ?? earlier?.clients[app.group]
                let client = if let known { known } else { try APNsClient(app.client) }
                clients[app.group] = client
                self.apps[app.identity] = client
                let channels =
                    channelClients[app.group] ?? earlier?.channelClients[app.group]
                    ?? ChannelClient(app.channels)
                channelClients[app.group] = channels
                channelApps[app.identity] = channels
                if case .providerToken(let source) = app.client.authentication,
                    !tokens.contains(where: { $0.source === source })
                {
                    let labels = [("key", "\(source.keyID)"), ("team", "\(source.teamID)")]
                    tokens.append((source, labels))
                }
            } catch {
                throw CommandFailure(.unavailable, error.description)
            }
        }
    }

    /// The sender that passes claims to them.
    var sender: APNsWakeSender { APNsWakeSender(clients: apps) }

    /// The service for requests about channels.
    var channels: ChannelClients { ChannelClients(clients: channelApps) }

    /// The apps whose pushes go over the same connections as in `earlier`.
    func unchanged(since earlier: ClientGroup) -> Set<AppIdentity> {
        Set(apps.filter { earlier.apps[$0.key] === $0.value }.keys)
    }

    /// Ends the clients that `later` no longer has, once they have finished their pushes.
    func retire(for later: ClientGroup) {
        for (group, client) in clients where later.clients[group] == nil {
            Task { await client.shutDown(gracePeriod: .seconds(Self.retirementSeconds)) }
        }
        for (group, client) in channelClients where later.channelClients[group] == nil {
            Task { await client.shutDown(gracePeriod: .seconds(Self.retirementSeconds)) }
        }
    }

    /// The state of its connections and provider tokens.
    var readings: [MetricReading] {
        var readings: [MetricReading] = []
        for (group, client) in clients {
            var labels = [("server", group.host)]
            if case .key(_, let keyID, let teamID) = group.credential {
                labels += [("key", "\(keyID)"), ("team", "\(teamID)")]
            }
            let gauges = client.gauges
            readings.append(MetricReading(.apnsConnections, labels, Double(gauges.connections)))
            readings.append(MetricReading(.apnsStreams, labels, Double(gauges.inFlight)))
        }
        let now = WallInstant.now
        for (source, labels) in tokens {
            let age = now.milliseconds(since: source.current().issuedAt)
            readings.append(MetricReading(.providerTokenAge, labels, Double(age) / 1000))
        }
        return readings
    }

    /// Ends all clients.
    func shutDown() async {
        for client in clients.values { await client.shutDown(gracePeriod: .zero) }
        for client in channelClients.values { await client.shutDown(gracePeriod: .zero) }
    }
}
