// SPDX-License-Identifier: Apache-2.0

import Logging

/// Warnings about a client's violations of the rules, once for each connection. APNs accepts some
/// of them today, but Apple does not document it.
extension ConnectionHandler {
    func warn(of deviations: ProviderToken.Deviations) {
        let refused = rules.judge.refusedDeviations
        if deviations.contains(.derSignature) {
            state.warn(
                "A provider token is signed in DER instead of 64 bytes (RFC 7518 §3.4).",
                isRefused: refused.contains(.derSignature), on: number)
        }
        if deviations.contains(.textualTime) {
            state.warn(
                "The iat of a provider token is a text instead of a number (RFC 7519 §4.1.6).",
                isRefused: refused.contains(.textualTime), on: number)
        }
    }
}

extension SimulatorState {
    func warnOfMissingALPN(on connection: Int) {
        warn(
            "A client did not negotiate h2 by ALPN (RFC 9113 §3.2).",
            isRefused: configuration.requiresALPN, on: connection)
    }

    func warn(_ text: String, isRefused: Bool, on connection: Int) {
        let outcome = isRefused ? "It is refused." : "APNs takes that, and so does the simulator."
        logger.warning("\(text) \(outcome)", metadata: ["connection": "\(connection)"])
    }
}
