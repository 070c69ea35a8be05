// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import PushTransport
import WakeModel

/// What came of one push on a connection of its own.
struct SingleReply: Sendable {
    /// APNs' answer, or why there is none.
    let result: Result<PushOutcome, TransportFailure>
    /// From the first byte of the connection to the answer.
    let elapsed: Duration
    /// How far the server's clock is ahead, if it sent the time.
    let clockSkew: Duration?

    /// Sends a push, waits for the answer, and closes the connection.
    init(
        to push: Push, _ configuration: APNsClient.Configuration
    ) async throws(CommandFailure) {
        let client: APNsClient
        do throws(APNsClient.Unavailable) {
            client = try APNsClient(configuration)
        } catch {
            throw CommandFailure(.unavailable, error.description)
        }
        let start = ContinuousClock.now
        do throws(TransportFailure) {
            result = .success(try await client.send(push))
        } catch {
            result = .failure(error)
        }
        elapsed = ContinuousClock.now - start
        clockSkew = client.clockSkew
        await client.shutDown(gracePeriod: .zero)
    }

    /// Whole milliseconds from sending to the answer.
    var milliseconds: Int {
        Int(elapsed.components.seconds) * 1000
            + Int(elapsed.components.attoseconds / 1_000_000_000_000_000)
    }

    /// How a command ends that sent only this push.
    var status: ExitStatus {
        switch result {
        case .success(.accepted): .success
        case .success(.rejected): .no
        case .failure: .unavailable
        }
    }
}
