// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@testable import AdminAPI

@Suite("The URL of a webhook's receiver")
struct WebhookURLTests {
    @Test(
        "A URL that no request can be made of is refused with what is wrong with it",
        arguments: [
            ("example.com/hidden", "does not begin with https:// or http://"),
            ("HTTPS://example.com/hidden", "does not begin with https:// or http://"),
            ("https://", "names no host"),
            ("https:///hidden", "names no host"),
            ("https://?hidden", "names no host"),
            ("https://:443/hidden", "names no host"),
            ("https://host name/hidden", "white space"),
            ("https://host/a hidden", "white space"),
            ("https://host/hidden\n", "white space"),
            ("https://ex\u{E4}mple.com/hidden", "beyond ASCII"),
            ("https://user:hidden@host/", "before @"),
            ("https://[::1/hidden", "has [ without ]"),
            ("https://[::1]443/hidden", "after ]"),
            ("https://host:0/hidden", "port"),
            ("https://host:65536/hidden", "port"),
            ("https://host:+1/hidden", "port"),
            ("https://host:abc/hidden", "port"),
            ("https://a{b}/hidden", "no host name has"),
        ])
    func refused(url: String, problem: String) throws {
        let error = #expect(throws: InvalidField.self) { try WebhookEndpoint.check(url: url) }
        #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "none")")
        // It may hold what is secret.
        #expect(error?.description.contains("hidden") == false)
    }

    @Test(
        "A URL of a host, with or without port, path and query, is taken",
        arguments: [
            "https://example.com", "https://example.com/", "http://127.0.0.1:8080/hook?a=%20b@c",
            "https://[::1]/x", "https://[::1]:65535", "https://host_1.example?x:y",
            "https://xn--exmple-cua.com:1/x", "https://host:/x", "https://host/x#part",
            "https://host/\u{E4}%2?\u{E4}",
        ])
    func taken(url: String) throws { try WebhookEndpoint.check(url: url) }
}
