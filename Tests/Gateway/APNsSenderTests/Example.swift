// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSender
import Gateway
import Logging
import StoreSQLite
import WakeModel

// Keeps and sends the wakes of one app until it is cancelled; also a service for a ServiceGroup.
func makeGateway(
    of app: AppIdentity, with client: APNsClient, storePath: String
) throws -> Gateway {
    Gateway(
        apps: [app], store: try SQLiteWakeStore(path: storePath),
        sender: APNsWakeSender(clients: [app: client]), logger: Logger(label: "wakes"))
}

// Asks for a wake while the gateway's run() goes on, and waits ten seconds for its outcome.
func wake(_ request: WakeRequest, by gateway: Gateway) async throws -> String {
    switch await gateway.accept(request) {
    case .admitted(let wake):
        let record = try await gateway.outcome(of: wake.id, within: 10_000)
        return record.map { "\($0.state)" } ?? "unknown"
    case let refusal:
        return "refused: \(refusal)"
    }
}
