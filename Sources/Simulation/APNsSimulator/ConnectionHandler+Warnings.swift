// SPDX-License-Identifier: Apache-2.0

import Logging

/// Warnings of what a client does beside the rules, once for each connection. APNs takes it today,
/// but no page of Apple's says so.
extension ConnectionHandler {
    func warnOfMissingALPN() {
        warn(
            "A client did not negotiate h2 by ALPN (RFC 9113 §3.2).",
            isRefused: state.configuration.requiresALPN)
    }

    func warn(of deviations: ProviderToken.Deviations) {
        let refused = rules.judge.refusedDeviations
        if deviations.contains(.derSignature) {
            warn(
                "A provider token is signed in DER instead of 64 bytes (RFC 7518 §3.4).",
                isRefused: refused.contains(.derSignature))
        }
        if deviations.contains(.textualTime) {
            warn(
                "The iat of a provider token is a text instead of a number (RFC 7519 §4.1.6).",
                isRefused: refused.contains(.textualTime))
        }
    }

    private func warn(_ text: String, isRefused: Bool) {
        let outcome = isRefused ? "It is refused." : "APNs takes that, and so does the simulator."
        state.logger.warning(
            "\(text) \(outcome)", metadata: ["connection": "\(number)"])
    }
}
