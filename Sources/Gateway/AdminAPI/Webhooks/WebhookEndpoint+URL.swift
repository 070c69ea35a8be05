// SPDX-License-Identifier: Apache-2.0

public import WakeModel

extension WebhookEndpoint {
    /// Checks the URL of a receiver without a connection (RFC 3986 §3). Throws
    /// ``WakeModel/InvalidField`` for the first fault, without the URL, which may contain a secret.
    public static func check(url: String) throws(InvalidField) {
        func invalid(
            _ problem: String, _ remedy: String = "Write it as https://host/path."
        ) -> InvalidField {
            InvalidField(field: "webhook url", problem: problem, remedy: remedy)
        }
        guard let scheme = ["https://", "http://"].first(where: { url.hasPrefix($0) }) else {
            throw invalid("does not begin with https:// or http://")
        }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw invalid(
                "holds white space or a control character", "Write a space as %20, or remove it.")
        }
        let authority = url.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else {
            throw invalid(
                "holds a user name or a password before @",
                "Write it as https://host/path; the webhook's secret signs each request.")
        }
        guard authority.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw invalid("has a host beyond ASCII", "Write the host as xn--….")
        }
        try check(authority: authority, invalid)
    }

    private static func check(
        authority: Substring, _ invalid: (String, String) -> InvalidField
    ) throws(InvalidField) {
        var port: Substring
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else {
                throw invalid("has [ without ]", "Write an IPv6 address as https://[::1]/path.")
            }
            port = authority[authority.index(after: end)...]
            guard port.isEmpty || port.first == ":" else {
                throw invalid(
                    "has something else than a port after ]",
                    "Write an IPv6 address as https://[::1]:443/path.")
            }
        } else {
            let host = authority.prefix { $0 != ":" }
            guard !host.isEmpty else {
                throw invalid("names no host", "Write it as https://host/path.")
            }
            let isHost = host.allSatisfy { $0.isLetter || $0.isNumber || "-._%".contains($0) }
            guard isHost else {
                throw invalid(
                    "has a character that no host name has",
                    "Write it as https://host/path.")
            }
            port = authority[host.endIndex...]
        }
        // With nothing behind the colon it is the default (RFC 3986 §3.2.3).
        guard port.count > 1 else { return }
        port = port.dropFirst()
        guard port.allSatisfy(\.isNumber), let number = Int(port), 1...65_535 ~= number else {
            throw invalid(
                "has a port that is no number from 1 to 65535",
                "Write it as https://host:443/path, or leave out the colon.")
        }
    }
}
