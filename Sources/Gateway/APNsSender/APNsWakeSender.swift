// SPDX-License-Identifier: Apache-2.0

public import APNsClient
import APNsWire
public import Gateway
import PushTransport
import Synchronization
public import WakeModel

/// Sends the gateway's claims to APNs: each as the push of its kind, over the client of its app.
///
/// A call, or speech, gets the time that its wake has left, everything else the client's own
/// timeout. May be used from any task.
public struct APNsWakeSender: WakeSender {
    /// The client of each app; apps with the same server and credential share one.
    let clients: [AppIdentity: APNsClient]

    /// A sender over these clients; a claim of an app that has none is reported as not sent.
    public init(clients: [AppIdentity: APNsClient]) { self.clients = clients }

    /// Sends a batch, all apps at the same time, and reports each answer as it comes.
    public func send(
        _ batch: [Claim], at now: WallInstant, report: @escaping @Sendable (SendReport) -> Void
    ) async {
        let countdown = Countdown(batch.count)
        let finish: @Sendable (SendReport) -> Void = { answer in
            report(answer)
            countdown.step()
        }
        var sent: [SentBatch] = []
        for (app, claims) in Dictionary(grouping: batch, by: \.app) {
            let client = clients[app]
            let patient = claims.filter { !$0.kind.isImmediate }
            sent.append(contentsOf: send(patient, with: client, report: finish))
            for claim in claims where claim.kind.isImmediate {
                sent.append(contentsOf: sendInTime(claim, at: now, with: client, report: finish))
            }
        }
        // A cancelled wait gives the pushes up, and each is answered within a turn of its client,
        // so that what was certainly not sent is known as such.
        let batches = sent
        await withTaskCancellationHandler {
            await countdown.wait()
        } onCancel: {
            for batch in batches { batch.cancel() }
        }
    }

    /// A call or speech that comes after its deadline is worse than none: each has only what time
    /// its wake has left. Not since it was claimed, for the claim waits for the disk before it is
    /// sent.
    private func sendInTime(
        _ claim: Claim, at now: WallInstant, with client: APNsClient?,
        report: @escaping @Sendable (SendReport) -> Void
    ) -> [SentBatch] {
        let timeLeft = claim.deadline.milliseconds(since: now)
        guard timeLeft > 0 else {
            report(.notSent(claim, "The deadline came before the push could leave."))
            return []
        }
        return send([claim], with: client, timeout: .milliseconds(timeLeft), report: report)
    }

    private func send(
        _ claims: [Claim], with client: APNsClient?, timeout: Duration? = nil,
        report: @escaping @Sendable (SendReport) -> Void
    ) -> [SentBatch] {
        guard let client else {
            for claim in claims { report(.notSent(claim, "The app has no client.")) }
            return []
        }
        var pushes: [Push] = []
        var sent: [Claim.Ticket] = []
        for claim in claims {
            do throws(InvalidField) {
                pushes.append(
                    try Push.wake(
                        claim.kind, to: claim.deviceToken, of: claim.app.bundleID,
                        payload: claim.payload, priority: claim.priority,
                        expiration: claim.expiration,
                        collapseID: claim.collapseID, apnsID: claim.id.apnsID))
                sent.append(claim.ticket)
            } catch {
                report(.notSent(claim, error.description))
            }
        }
        let tickets = sent
        let batch = client.send(pushes, timeout: timeout) { replies in
            for reply in replies {
                report(
                    SendReport(
                        ticket: tickets[reply.index],
                        result: reply.result.mapError {
                            SendFailure(certainty: $0.certainty, description: $0.description)
                        }))
            }
        }
        return [batch]
    }
}

extension SendReport {
    fileprivate static func notSent(_ claim: Claim, _ reason: String) -> SendReport {
        SendReport(
            ticket: claim.ticket,
            result: .failure(SendFailure(certainty: .notSent, description: reason)))
    }
}

/// Waits until a number of things have happened.
private final class Countdown: Sendable {
    private struct State {
        var remaining: Int
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(remaining: count)) }

    /// One of them happened. Any thread may say so.
    func step() { resume { $0.remaining -= 1 } }

    func wait() async {
        await withCheckedContinuation { continuation in resume { $0.waiter = continuation } }
    }

    private func resume(after change: (inout State) -> Void) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            change(&state)
            guard state.remaining <= 0 else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
