// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import CurlHTTP
import FoundationEssentials
import WakeModel

/// Looks at the receivers of webhooks: their secrets, and online whether they can be reached.
enum WebhookCheck {
    /// The length from which on Base64 is recognised as a secret, in bytes (Standard Webhooks 1.0,
    /// "Signing secrets").
    private static let secretByteCount = 24
    /// How long a receiver may take to answer, in milliseconds.
    private static let patienceMilliseconds = 10_000

    /// What was found without asking anybody.
    static func findings(
        of configuration: ServeConfiguration, _ variables: Variables
    ) -> [DoctorChecks.Finding] {
        configuration.webhooks.flatMap { webhook in
            do throws(CommandFailure) {
                let secret = configuration.webhookSecret(variables)
                let endpoint = try webhook.endpoint(secret)
                return [finding(endpoint)]
                    + (isBareBase64(try webhook.secret(secret)) ? [bareSecret(endpoint)] : [])
            } catch {
                return [.wrong("webhook", error.message)]
            }
        }
    }

    private static func finding(_ endpoint: WebhookEndpoint) -> DoctorChecks.Finding {
        guard endpoint.url.hasPrefix("https://") else {
            return .warning(
                "webhook", "Events go to \(endpoint) without TLS.", "Use an https URL.")
        }
        return .fine("webhook", "Events go to \(endpoint).")
    }

    private static func bareSecret(_ endpoint: WebhookEndpoint) -> DoctorChecks.Finding {
        .warning(
            "webhook",
            "The secret for \(endpoint) looks like Base64 without whsec_: Rouse signs with its "
                + "characters, and a library for Standard Webhooks checks with the bytes that "
                + "they decode to.",
            "Write whsec_ before it, unless the receiver takes the characters too.")
    }

    /// Whether libraries for Standard Webhooks would decode what Rouse takes as it is.
    private static func isBareBase64(_ secret: String) -> Bool {
        guard let bytes = Data(base64Encoded: secret.trimmed) else { return false }
        return bytes.count >= secretByteCount
    }

    /// What an answer of the first page says. A server that leads all of its pages elsewhere takes
    /// no event; one that leads from its first page to another of its own may.
    private static func finding(
        of answer: HTTPCaller.Answer, from endpoint: WebhookEndpoint
    ) -> DoctorChecks.Finding {
        let text = "\(endpoint) can be reached; its first page answered \(answer.status)"
        guard let target = answer.redirectURL.flatMap(URLComponents.init(string:)) else {
            return .fine("webhook", text + ".")
        }
        var origin = URLComponents()
        (origin.scheme, origin.host, origin.port) = (target.scheme, target.host, target.port)
        let place = origin.string ?? "another server"
        guard place != "\(endpoint)" else {
            return .fine("webhook", text + ", a redirect. The page for events was not asked.")
        }
        return .warning(
            "webhook", text + ", a redirect to \(place). Redirects of events are not followed.",
            "If the URL of the webhook is redirected too, configure the one that it leads to.")
    }

    /// Asks each receiver that is configured without a fault for the first page of its server.
    ///
    /// Not for the page that takes events, and without one: a receiver may act on any request
    /// there. Whatever the answer, it proves that name, route, TLS and certificate work.
    static func onlineFindings(
        of configuration: ServeConfiguration, _ variables: Variables
    ) -> [DoctorChecks.Finding] {
        configuration.webhooks.compactMap { webhook in
            guard let endpoint = try? webhook.endpoint(configuration.webhookSecret(variables))
            else { return nil }
            var request = HTTPCaller.Request("GET", "\(endpoint)/")
            request.headers = [("User-Agent", "rouse/\(RouseVersion.current)")]
            request.certificateAuthorityPath = endpoint.certificateAuthorityPath
            request.milliseconds = patienceMilliseconds
            do throws(HTTPCaller.Failure) {
                return finding(of: try HTTPCaller().call(request), from: endpoint)
            } catch {
                // A page may be too long for the caller; it came from the receiver all the same.
                guard !error.isTooLarge else {
                    return .fine("webhook", "\(endpoint) can be reached.")
                }
                return .wrong(
                    "webhook", "\(endpoint) cannot be reached: \(error.description).",
                    "Check the receiver, the way to it, and the authorities that are trusted "
                        + "(ca-file).", .unavailable)
            }
        }
    }
}
