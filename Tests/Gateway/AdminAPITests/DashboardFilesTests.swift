// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import HTTPTypes
import NIOCore
import Testing
import WakeBudget

@testable import AdminAPI

/// What no compiler checks: that the page's files keep the house rules, and say what the API says.
@Suite("The dashboard's files")
struct DashboardFilesTests {
    private static let files = DashboardFiles.embedded.texts
    private static let scripts = files.filter { $0.key.hasSuffix(".js") }
    private static let script = scripts.sorted { $0.key < $1.key }.map(\.value).joined()
    private static let document = String(buffer: DashboardPage.embedded.document)

    /// Where the files were embedded from.
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Sources/Gateway/C/CDashboard/Page")

    @Test("are all embedded as they stand on disk, and all used")
    func embedded() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(names) == Set(Self.files.keys))
        for (name, text) in Self.files {
            let url = Self.folder.appending(path: name)
            #expect(try String(contentsOf: url, encoding: .utf8) == text, "\(name)")
            #expect(name == "dashboard.html" || Self.document.contains(text), "\(name)")
        }
    }

    @Test("keep to the page, with their licence at the head")
    func pages() {
        for (name, text) in Self.files {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count <= 501, "\(name)")
            #expect(
                name == "dashboard.html"
                    || lines[0].contains("SPDX-License-Identifier: Apache-2.0"), "\(name)")
            for (index, line) in lines.enumerated() where line.count > 100 {
                // The icon is one address.
                #expect(line.hasPrefix("<link rel=\"icon\""), "\(name):\(index + 1)")
            }
        }
    }

    @Test("ask nobody else: no address but the namespace of SVG, and links within the gateway")
    func addresses() {
        let addresses = Self.document.matches(of: /https?:\/\/[^"'\s`]+/).map { String($0.0) }
        #expect(Set(addresses) == ["http://www.w3.org/2000/svg"])
        #expect(!Self.document.contains("//cdn"))
        #expect(!Self.document.contains("@import"))
        #expect(!Self.document.contains("url(\""))
        let links = Self.document.matches(of: /href="([^"]*)"/).map { String($0.1) }
        #expect(!links.isEmpty)
        for link in links {
            #expect(
                link.hasPrefix("#") || link.hasPrefix("data:image/svg+xml,")
                    || link == "openapi.json", "\(link)")
        }
        #expect(Self.document.firstMatch(of: /\ssrc=/) == nil)
    }

    @Test("leave nothing to the policy: no text becomes markup, no style or listener is inline")
    func markup() {
        for word in [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
            "new Function", "DOMParser", "createContextualFragment", "setHTML", "cssText",
            ".style.", "javascript:", "srcdoc",
        ] {
            #expect(!Self.script.contains(word), "\(word)")
        }
        let markup = Self.files["dashboard.html"] ?? ""
        #expect(markup.firstMatch(of: /\sstyle="/) == nil)
        #expect(markup.firstMatch(of: /\son[a-z]+="/) == nil)
        for (name, text) in Self.scripts {
            #expect(text.contains("\n\"use strict\";\n"), "\(name)")
        }
    }

    @Test("ask for routes that the API has")
    func routes() throws {
        let bench = try APIBench()
        let table = RouteTable(
            Services(
                gateway: bench.gateway, configuration: bench.configuration,
                metrics: AdminMetrics(MetricsRegistry()),
                connections: ListenerConnections(places: 1, placesOfPeer: 1),
                streams: ConnectionCount(), audit: AuditLog(.silent), readings: { [] }))
        // A path in a script: in quotes, with parts to be filled in.
        let paths = Self.script.matches(of: /(?:ask|askJSON|askText|fetch|pages)\(\s*["`]([^"`?]+)/)
            .map { "/" + String($0.1).replacing(/\$\{[^}]*\}/, with: "00") }
        #expect(paths.count >= 8)
        for path in paths {
            #expect(table.methods(for: path).contains("GET"), "\(path)")
        }
        let posted = Self.script.matches(of: /lookUpJSON\("([^"]+)"/).map { "/" + String($0.1) }
        #expect(Set(posted) == ["/v1/devices/lookup", "/v1/wakes/lookup"])
        for path in posted { #expect(table.methods(for: path) == ["POST"], "\(path)") }
        let acts = Self.script.matches(of: /act\("([A-Z]+)", `([^`?]+)/)
        #expect(acts.count == 3)
        for act in acts {
            let path = "/" + String(act.2).replacing(/\$\{[^}]*\}/, with: "00")
            #expect(table.methods(for: path).contains(String(act.1)), "\(path)")
        }
        let written = Self.document.matches(of: /POST (\/v1\/[^`\s]+)/)
        #expect(!written.isEmpty)
        for match in written {
            let path = String(match.1).replacing(/\$\{[^}]*\}/, with: "00")
            #expect(table.methods(for: path).contains("POST"), "\(path)")
        }
    }

    @Test("read metrics that the gateway has")
    func metrics() {
        let names = Set(Self.script.matches(of: /rouse_[a-z_]+/).map { String($0.0) })
        #expect(names.count >= 8)
        #expect(names.subtracting(Metric.allCases.map(\.rawValue)).isEmpty, "\(names)")
    }

    @Test("know every state, every decision and every result of an attempt")
    func words() throws {
        let words = try #require(Self.files["words.js"])
        for state in WakeState.allCases {
            #expect(
                words.firstMatch(of: try Regex("[{ ]\(state.rawValue): \\[\"")) != nil,
                "STATE_LOOKS lacks \(state)")
            let isListed = words.contains("[\"\(state.rawValue)\", ")
            #expect(isListed == state.isEnd, "OUTCOMES and \(state)")
        }
        let decisions = try #require(
            Component.decision.schema.json.member("properties")?.member("type")?.member("enum"))
        for word in decisions.texts {
            #expect(words.contains("[\"\(word)\", "), "DECISIONS lacks \(word)")
        }
        let results = try #require(
            Component.attempt.schema.json.member("properties")?.member("result")?.member("enum"))
        #expect(!results.texts.isEmpty)
        for word in results.texts {
            for file in ["timeline.js", "lookup.js"] {
                #expect(
                    Self.files[file]?.firstMatch(of: try Regex("[ {]\(word): ")) != nil,
                    "\(file) lacks \(word)")
            }
        }
    }

    @Test("give each tone that is named a colour, in both themes")
    func tones() throws {
        let style = try #require(Self.files["dashboard.css"])
        let named = Self.script.matches(of: /tone-([a-z]+)/).map { String($0.1) }
        let words = try #require(Self.files["words.js"])
        let listed = words.matches(of: /\["[a-z-]+", "[a-z ]+", "([a-z]+)"\]/)
            .map { String($0.1) }
        let tones = Set(named + listed)
        #expect(tones.count > 8)
        for tone in tones {
            #expect(style.contains(".tone-\(tone) { --tone: var(--\(tone)); }"), "\(tone)")
            #expect(
                style.firstMatch(
                    of: try Regex("--\(tone): light-dark\\(#[0-9a-f]{6}, #[0-9a-f]{6}\\);")) != nil,
                "\(tone)")
        }
    }
}

extension JSONValue {
    /// A member of an object.
    fileprivate func member(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.0 == name }?.1
    }

    /// The texts of an array.
    fileprivate var texts: [String] {
        guard case .array(let elements) = self else { return [] }
        return elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }
}
