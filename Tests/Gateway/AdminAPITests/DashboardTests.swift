// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import HTTPTypes
import NIOCore
import OpenSSLCrypto
import Testing

@testable import AdminAPI

@Suite("The dashboard as it is served", .timeLimit(.minutes(10)))
struct DashboardTests {
    /// The directives of a policy, by name.
    private static func directives(_ policy: String) -> [String: Set<String>] {
        var directives: [String: Set<String>] = [:]
        for directive in policy.components(separatedBy: "; ") {
            let words = directive.split(separator: " ").map(String.init)
            directives[words.first ?? ""] = Set(words.dropFirst())
        }
        return directives
    }

    /// A field of an answer's head.
    private static func field(_ name: String, _ exchange: HTTPExchange) -> String? {
        exchange.head.components(separatedBy: "\r\n").first {
            $0.lowercased().hasPrefix(name + ": ")
        }?.dropFirst(name.count + 2).description
    }

    /// What a browser digests: the text of every element of this name.
    private static func digests(of element: String, in document: String) throws -> Set<String> {
        let pattern = try Regex("<\(element)>(.*?)</\(element)>", as: (Substring, Substring).self)
        return Set(
            document.matches(of: pattern.dotMatchesNewlines()).map { match in
                let digest = SHA256.digest(of: match.1.utf8)
                return "'sha256-\(Data(digest).base64EncodedString())'"
            })
    }

    @Test("Everybody gets the page at /, with headers that keep it to itself")
    func page() async throws {
        try await APIBench().serve { caller in
            let page = try await caller.send("GET", "/", as: nil)
            #expect(page.status == 200)
            #expect(page.body == String(buffer: DashboardPage.embedded.document))
            #expect(Self.field("content-type", page) == "text/html; charset=utf-8")
            #expect(Self.field("x-content-type-options", page) == "nosniff")
            #expect(Self.field("referrer-policy", page) == "no-referrer")
            #expect(Self.field("cross-origin-resource-policy", page) == "same-origin")
            #expect(Self.field("cache-control", page) == "no-cache")
            let head = try await caller.send("HEAD", "/", as: nil)
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            #expect(Self.field("etag", head) == Self.field("etag", page))
            try expectProblem(try await caller.send("POST", "/", "{}", as: nil), .methodNotAllowed)
        }
    }

    @Test("The policy allows what stands in the served bytes, and nothing else")
    func policy() async throws {
        try await APIBench().serve { caller in
            let page = try await caller.send("GET", "/", as: nil)
            let policy = Self.directives(
                try #require(Self.field("content-security-policy", page)))
            let scripts = try Self.digests(of: "script", in: page.body)
            let styles = try Self.digests(of: "style", in: page.body)
            #expect(scripts.count > 5)
            #expect(
                policy == [
                    "default-src": ["'none'"], "script-src": scripts, "style-src": styles,
                    "connect-src": ["'self'"], "img-src": ["data:"], "base-uri": ["'none'"],
                    "form-action": ["'none'"], "frame-ancestors": ["'none'"],
                    "require-trusted-types-for": ["'script'"], "trusted-types": ["'none'"],
                ])
        }
    }

    @Test("Who has the page is told that it is current, in few bytes")
    func notModified() async throws {
        try await APIBench().serve { caller in
            let tag = DashboardPage.embedded.entityTag
            let same = try await caller.send("GET", "/", as: nil, headers: ["If-None-Match": tag])
            #expect(same.status == 304)
            #expect(same.body.isEmpty)
            #expect(Self.field("etag", same) == tag)
            #expect(Self.field("content-security-policy", same) != nil)
            let other = try await caller.send(
                "GET", "/", as: nil, headers: ["If-None-Match": "\"of-before\""])
            #expect(other.status == 200)
        }
    }

    @Test(
        "An entity tag is found in a list, weak or not",
        arguments: [
            (nil, false), ("\"a\"", true), ("W/\"a\"", true), ("\"b\", \"a\"", true), ("*", true),
            ("\"b\"", false), ("a", false), ("", false), ("\"ab\"", false),
        ] as [(String?, Bool)])
    func entityTags(field: String?, isCurrent: Bool) {
        #expect(DashboardRoute.isCurrent("\"a\"", field) == isCurrent)
    }

    @Test("A page is put together from the files that its document names")
    func assembly() throws {
        let page = DashboardPage(
            DashboardFiles([
                "dashboard.html": "<head>\n  <link rel=\"stylesheet\" href=\"a.css\">\n"
                    + "<script src=\"a.js\"></script>\n"
                    + "<link rel=\"icon\" href=\"data:,\">\n</head>\n",
                "a.css": "p { margin: 0; }\n", "a.js": "go();\n",
            ]))
        let document = String(buffer: page.document)
        #expect(
            document == "<head>\n<style>\np { margin: 0; }\n</style>\n<script>\ngo();\n</script>\n"
                + "<link rel=\"icon\" href=\"data:,\">\n</head>\n")
        let policy = Self.directives(page.contentSecurityPolicy)
        #expect(policy["script-src"] == (try Self.digests(of: "script", in: document)))
        #expect(policy["style-src"] == (try Self.digests(of: "style", in: document)))
        let other = DashboardPage(DashboardFiles(["dashboard.html": "<p>Another</p>\n"]))
        #expect(other.entityTag != page.entityTag)
        #expect(other.entityTag.wholeMatch(of: /"[A-Za-z0-9+\/]+="/) != nil)
    }

    @Test(
        "The address for a browser",
        arguments: [
            (.tcp(host: "127.0.0.1", port: 8080), false, "http://127.0.0.1:8080/"),
            (.tcp(host: "::1", port: 443), true, "https://[::1]:443/"),
            (.unixSocket(path: "/run/rouse.sock"), false, nil),
        ] as [(ListenAddress, Bool, String?)])
    func address(address: ListenAddress, isEncrypted: Bool, expected: String?) {
        #expect(address.dashboardAddress(isEncrypted: isEncrypted) == expected)
    }
}
