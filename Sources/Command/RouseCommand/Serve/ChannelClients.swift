// SPDX-License-Identifier: Apache-2.0

import APNsClient
import AdminAPI
import Gateway
import PushTransport
import WakeModel

/// Sends the gateway's requests about channels to APNs, with a client for each app.
struct ChannelClients: ChannelService {
    /// The client of each app; apps with the same server and credential share one.
    let clients: [AppIdentity: ChannelClient]

    func createChannel(
        of app: AppIdentity, storing storage: ChannelStorage
    ) async -> ChannelResult<ChannelID> {
        await ask(app) { (client) async throws(TransportFailure) in
            try await client.createChannel(of: app.bundleID, storing: storage)
        }
    }

    func storage(
        of channel: ChannelID, of app: AppIdentity
    ) async -> ChannelResult<ChannelStorage> {
        await ask(app) { (client) async throws(TransportFailure) in
            try await client.storage(of: channel, of: app.bundleID)
        }
    }

    func channels(of app: AppIdentity) async -> ChannelResult<[ChannelID]> {
        await ask(app) { (client) async throws(TransportFailure) in
            try await client.channels(of: app.bundleID)
        }
    }

    func deleteChannel(
        _ channel: ChannelID, of app: AppIdentity
    ) async -> ChannelResult<Acknowledgement> {
        await ask(app) { (client) async throws(TransportFailure) in
            try await client.deleteChannel(channel, of: app.bundleID)
        }
    }

    func send(
        _ broadcast: Broadcast, for app: AppIdentity
    ) async -> ChannelResult<Acknowledgement> {
        await ask(app) { (client) async throws(TransportFailure) in
            try await client.send(broadcast)
        }
    }

    private func ask<Value>(
        _ app: AppIdentity,
        _ body: (ChannelClient) async throws(TransportFailure) -> ChannelAnswer<Value>
    ) async -> ChannelResult<Value> {
        guard let client = clients[app] else {
            return .failure(
                SendFailure(certainty: .notSent, description: "The app has no client"))
        }
        do throws(TransportFailure) {
            return .success(try await body(client))
        } catch {
            return .failure(
                SendFailure(certainty: error.certainty, description: error.description))
        }
    }
}
