// SPDX-License-Identifier: Apache-2.0

import PushTransport
import Testing

@testable import HTTP2Transport

@Suite("The way to the server")
struct RouteTests {
    @Test(
        "a proxy's URL",
        arguments: [
            ("http://proxy.example:3128", "proxy.example:3128", nil),
            ("proxy.example", "proxy.example:1080", nil),
            ("HTTP://anna:p%40ss@proxy.example:80/", "proxy.example:80", "anna:p@ss"),
            ("http://[::1]:3128", "::1:3128", nil), ("https://proxy.example", nil, nil),
            ("socks5://proxy.example", nil, nil), ("http://proxy.example:0", nil, nil),
            ("http://:3128", nil, nil), ("http://a%zz@proxy.example", nil, nil),
        ] as [(String, String?, String?)])
    func proxyURL(url: String, address: String?, credentials: String?) {
        let proxy = ProxyAddress(url, credentials: nil)
        #expect(proxy?.description == address)
        #expect(proxy?.credentials == credentials)
    }

    @Test("explicit credentials go before the URL's, and no dump shows them")
    func secrets() {
        let proxy = ProxyAddress(
            "http://a:b@proxy.example", credentials: .init(user: "anna", password: "secret"))
        #expect(proxy?.credentials == "anna:secret")
        var text = ""
        dump(proxy, to: &text)
        #expect(!text.contains("secret"))
    }

    @Test(
        "the environment's proxy and its exceptions",
        arguments: [
            ("https_proxy=http://p:1", "api.push.apple.com", "http://p:1"),
            ("HTTPS_PROXY=http://p:1", "api.push.apple.com", "http://p:1"),
            ("all_proxy=http://p:2", "api.push.apple.com", "http://p:2"),
            ("https_proxy=http://p:1;all_proxy=http://p:2", "h", "http://p:1"),
            ("http_proxy=http://p:1", "h", nil), ("https_proxy=", "h", nil),
            ("https_proxy=http://p:1;no_proxy=*", "h", nil),
            ("https_proxy=http://p:1;no_proxy=apple.com", "api.push.apple.com", nil),
            ("https_proxy=http://p:1;no_proxy=.Apple.com, x", "api.push.apple.com", nil),
            ("https_proxy=http://p:1;no_proxy=pple.com", "api.apple.com", "http://p:1"),
            ("https_proxy=http://p:1;no_proxy=10.0.0.0/8", "10.200.3.4", nil),
            ("https_proxy=http://p:1;no_proxy=10.0.0.0/8", "11.0.0.1", "http://p:1"),
            ("https_proxy=http://p:1;no_proxy=127.0.0.1", "127.0.0.1", nil),
            ("https_proxy=http://p:1;no_proxy=[::1]", "::1", nil),
            ("https_proxy=http://p:1;no_proxy=fd00::/8", "fd12::1", nil),
            ("https_proxy=http://p:1;no_proxy=1.2.3.4/99", "1.2.3.4", "http://p:1"),
        ] as [(String, String, String?)])
    func environment(variables: String, host: String, proxy: String?) {
        let values = Dictionary(
            uniqueKeysWithValues: variables.split(separator: ";").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1)
                return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
            })
        #expect(ProxyEnvironment { values[$0] }.proxy(for: host) == proxy)
    }

    @Test("the port that https implies is left out of the authority")
    func authority() {
        #expect(Route(host: "h", port: 443, proxy: nil).pseudoHeader == "h")
        #expect(Route(host: "h", port: 2197, proxy: nil).pseudoHeader == "h:2197")
        #expect(Route(host: "::1", port: 443, proxy: nil).authority == "[::1]:443")
    }

    @Test(
        "CONNECT's answer, in whatever pieces it comes",
        arguments: [
            ("HTTP/1.1 200 OK\r\n\r\n", ProxyTunnel.Verdict.open),
            ("HTTP/1.0 299 Sure\r\nVia: x\r\n\r\n", .open),
            ("HTTP/1.1 407 No\r\n\r\n", .refused("the proxy answered CONNECT with 407")),
            ("SSH-2.0\r\n\r\n", .refused("the proxy's answer is not HTTP")),
            ("HTTP/1.1 200 OK\r\n\r\nx", .refused("the proxy sent more than an answer to CONNECT")),
            ("HTTP/1.1 200 OK\r\n", .incomplete),
        ])
    func tunnel(answer: String, verdict: ProxyTunnel.Verdict) {
        var whole = ProxyTunnel(to: "h:443", credentials: "anna:pass", userAgent: "rouse")
        let request = String(decoding: whole.outbound, as: UTF8.self)
        #expect(request.hasPrefix("CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n"))
        #expect(request.contains("Proxy-Authorization: Basic YW5uYTpwYXNz\r\n"))
        #expect(whole.didRead(answer.utf8) == verdict)
        var pieces = ProxyTunnel(to: "h:443", credentials: nil, userAgent: "rouse")
        var last = ProxyTunnel.Verdict.incomplete
        for byte in answer.utf8 where last == .incomplete { last = pieces.didRead([byte]) }
        if verdict != .refused("the proxy sent more than an answer to CONNECT") {
            #expect(last == verdict)
        }
    }

    @Test(
        "base64 by the vectors of RFC 4648 §10",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ])
    func base64(plain: String, coded: String) {
        #expect(ProxyTunnel.base64(Array(plain.utf8)) == coded)
    }
}
