// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import PushTransport
import WakeModel

/// Looks at one server: name, TCP, proxy, TLS, HTTP/2, and what time it is there.
struct ServerCheck {
    /// The clock difference from which on there is a warning, in seconds.
    private static let skewWarningSeconds: Int64 = 5
    /// From which difference on it is wrong, in seconds: provider tokens start to be refused long
    /// before their hour is over.
    private static let skewLimitSeconds: Int64 = 300

    private let transport: TransportConfiguration
    private let kind: TransportKind
    private let timeout: Duration

    /// A check of one server, by what will carry the pushes to it.
    init(_ transport: TransportConfiguration, by kind: TransportKind, timeoutSeconds: Int) {
        self.transport = transport
        self.kind = kind
        timeout = .seconds(timeoutSeconds)
    }

    /// Queries the server and returns the findings.
    func findings() async -> [DoctorChecks.Finding] {
        let name = "\(transport.host):\(transport.port)"
        let result: Result<WireResponse, TransportFailure>
        do throws(APNsClient.Unavailable) {
            result = try await ask()
        } catch {
            return [.wrong("server", "\(name): \(error.description)", nil, .unavailable)]
        }
        switch result {
        case .failure(let failure):
            return [
                .wrong(
                    "server", "\(name): \(failure.cause) (\(failure.detail))", failure.remedy,
                    .unavailable)
            ]
        case .success(let response):
            return [
                .fine(
                    "server",
                    "\(name): TLS and HTTP/2 work (by \(kind.rawValue)); it answered "
                        + "\(response.status)."),
                clock(response, name),
            ]
        }
    }

    /// One request without a device token and without credentials: it can push nothing.
    private func ask() async throws(APNsClient.Unavailable) -> Result<
        WireResponse, TransportFailure
    > {
        let (answers, continuation) = AsyncStream.makeStream(of: Completion.self)
        let transport = try APNsClient.startTransport(kind, self.transport) { batch in
            for completion in batch { continuation.yield(completion) }
        }
        let request = WireRequest(
            to: nil, sharedHeaders: SharedHeaders([]), body: Array("{}".utf8))
        transport.submit([TransportRequest(id: 1, request: request, timeout: timeout)])
        var iterator = answers.makeAsyncIterator()
        let completion = await iterator.next()
        await transport.shutDown(gracePeriod: .zero)
        guard let completion else {
            preconditionFailure("A transport answers every submission.")
        }
        return completion.result
    }

    private func clock(_ response: WireResponse, _ name: String) -> DoctorChecks.Finding {
        guard let theirs = response.date.flatMap({ HTTPDate.parse($0) }) else {
            return .skipped("clock", "\(name) does not send a date.")
        }
        // `date` has whole seconds, so that half of one is noise.
        let seconds = (theirs.milliseconds(since: WallInstant.now) + 500) / 1000
        let text = "This machine's clock is within \(abs(seconds)) s of \(name)'s."
        switch abs(seconds) {
        case ...Self.skewWarningSeconds: return .fine("clock", text)
        case ...Self.skewLimitSeconds:
            return .warning("clock", text, "Set it, by NTP for example.")
        default:
            return .wrong(
                "clock", text + " APNs refuses provider tokens of another time.",
                "Set it, by NTP for example.")
        }
    }
}
