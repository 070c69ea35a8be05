// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import HTTPTypes
import Testing
import WakeModel

@testable import AdminAPI

@Suite("The OpenAPI document", .timeLimit(.minutes(10)))
struct OpenAPITests {
    private func document() async throws -> (document: [String: Any], routes: [Route]) {
        let bench = try APIBench()
        let routes = RouteTable(
            Services(
                gateway: bench.gateway, configuration: bench.configuration,
                metrics: AdminMetrics(MetricsRegistry()),
                connections: ListenerConnections(places: 1, placesOfPeer: 1),
                streams: ConnectionCount(), audit: AuditLog(.silent), readings: { [] })
        ).routes
        var document: [String: Any] = [:]
        try await bench.serve { caller in
            let answer = try await caller.send("GET", "/openapi.json", as: nil)
            #expect(answer.status == 200)
            document = try answer.json()
        }
        return (document, routes)
    }

    @Test("says every route, and no other")
    func routes() async throws {
        let (document, routes) = try await document()
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        let documented = Set(
            paths.flatMap { path, operations in
                operations.keys.map { "\($0.uppercased()) \(path)" }
            })
        #expect(documented == Set(routes.map { "\($0.method.rawValue) \($0.path)" }))
        let ids = routes.map(\.operation.id)
        #expect(Set(ids).count == ids.count)
    }

    @Test("documents the status of every problem of a route, and the scope that it asks for")
    func problems() async throws {
        let (document, routes) = try await document()
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        for route in routes {
            let operation = try #require(
                paths[route.path]?[route.method.rawValue.lowercased()] as? [String: Any])
            let responses = try #require(operation["responses"] as? [String: Any])
            for code in route.problems { #expect(responses["\(code.status)"] != nil) }
            for answer in route.operation.answers { #expect(responses["\(answer.status)"] != nil) }
            let security = try #require(operation["security"] as? [Any])
            #expect(security.isEmpty == (route.access == .open), "\(route.path)")
        }
    }

    @Test("lists the table of codes, which has no code twice and only names in kebab case")
    func codes() async throws {
        let (document, _) = try await document()
        let schemas = try #require(
            (document["components"] as? [String: Any])?["schemas"] as? [String: [String: Any]])
        let properties = try #require(schemas["Problem"]?["properties"] as? [String: Any])
        let code = try #require(properties["code"] as? [String: Any])
        #expect(code["enum"] as? [String] == ProblemCode.allCases.map(\.rawValue))
        let description = try #require(
            (document["info"] as? [String: Any])?["description"] as? String)
        for code in ProblemCode.allCases {
            #expect(description.contains("`\(code.rawValue)` (\(code.status)): \(code.meaning)"))
            #expect(code.rawValue.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil)
            #expect((400...599).contains(code.status))
        }
    }

    @Test("links lead from answers to operations that are there, with parameters that they have")
    func links() async throws {
        let (document, routes) = try await document()
        let operations = Dictionary(
            uniqueKeysWithValues: routes.map { ($0.operation.id, $0.operation) })
        var count = 0
        for operation in operations.values {
            for link in operation.answers.flatMap(\.links) {
                count += 1
                let target = try #require(operations[link.operationID])
                #expect(link.parameter == nil || target.parameters.map(\.name) == ["id"])
                #expect((link.parameter == nil) != (link.member == nil))
            }
        }
        #expect(count > 0)
        let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
        let responses = try #require(paths["/v1/wakes"]?["post"]?["responses"] as? [String: Any])
        let links = try #require((responses["202"] as? [String: Any])?["links"] as? [String: Any])
        #expect(Set(links.keys) == ["getWake", "cancelWake", "confirmLaunches"])
    }

    @Test("says which members need, exclude or replace others")
    func rules() async throws {
        let (document, _) = try await document()
        let schemas = try #require(
            (document["components"] as? [String: Any])?["schemas"] as? [String: [String: Any]])
        func rules(_ name: String) throws -> Set<String> {
            let rules = try #require(schemas[name]?["allOf"] as? [Any])
            return Set(
                try rules.map {
                    String(
                        decoding: try JSONSerialization.data(
                            withJSONObject: $0, options: .sortedKeys), as: UTF8.self)
                })
        }
        let terms: Set = [
            #"{"oneOf":[{"required":["app"]},{"required":["topic"]}]}"#,
            #"{"not":{"required":["ttl_seconds","expires_at"]}}"#,
        ]
        let members = try rules("WakeRequest").filter { !$0.contains(#""then":"#) }
        #expect(
            members
                == terms.union([#"{"oneOf":[{"required":["device_token"]},{"required":["user"]}]}"#]
                ))
        #expect(
            try rules("ValidationRequest") == [
                #"{"oneOf":[{"required":["payload"]},{"required":["payload_text"]}]}"#
            ])
        #expect(
            try rules("Signals").contains(
                #"{"dependentRequired":{"charging":["battery_percent"]}}"#))
        #expect(
            try rules("MulticastRequest").filter { !$0.contains(#""then":"#) } == terms)
        // Each kind is the `else` of the one before: of conditions side by side schemathesis
        // generates nothing, since their cases multiply.
        for name in ["WakeRequest", "MulticastRequest"] {
            let rules = try #require(schemas[name]?["allOf"] as? [[String: Any]])
            var conditions = rules.filter { $0["if"] != nil }
            #expect(conditions.count == 1)
            var kinds: [String] = []
            while let condition = conditions.popLast() {
                let given = try #require(condition["if"] as? [String: Any])
                let members = try #require(given["properties"] as? [String: [String: Any]])
                kinds += try #require(members["kind"]?["enum"] as? [String])
                #expect(condition["then"] is [String: Any])
                if let next = condition["else"] as? [String: Any] { conditions.append(next) }
            }
            #expect(kinds == WakeKind.allCases.map(\.rawValue))
        }
        #expect(
            try rules("Receipt").isSuperset(of: [
                #"{"not":{"required":["ref","id"]}}"#, #"{"not":{"required":["ref","apns_id"]}}"#,
            ]))
        let app = try #require(
            (schemas["Registration"]?["properties"] as? [String: [String: Any]])?["app"])
        #expect(app["minLength"] as? Int == 1 && app["maxLength"] as? Int == 255)
        #expect(app["pattern"] is String && app["not"] is [String: Any])
    }

    /// Readers that know OpenAPI 3.0 fail at `true` and `false` in the place of a schema.
    @Test("a schema is an object everywhere")
    func schemas() async throws {
        let (document, _) = try await document()
        func check(_ value: Any, _ path: String) {
            if let list = value as? [Any] {
                for (index, item) in list.enumerated() { check(item, "\(path)/\(index)") }
            }
            guard let object = value as? [String: Any] else { return }
            for (name, value) in object {
                if name == "properties", let properties = value as? [String: Any] {
                    for (name, schema) in properties {
                        #expect(schema is [String: Any], "\(path)/properties/\(name)")
                    }
                }
                check(value, "\(path)/\(name)")
            }
        }
        check(document, "")
    }

    @Test("every operation has a group that the document lists, and events have their place")
    func groups() async throws {
        let (document, _) = try await document()
        let tags = try #require(document["tags"] as? [[String: String]]).map { $0["name"] }
        let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
        var used: Set<String?> = []
        for operation in paths.values.flatMap(\.values) {
            used.formUnion(try #require(operation["tags"] as? [String]))
        }
        #expect(used == Set(tags) && tags.count == used.count)
        let webhooks = try #require(document["webhooks"] as? [String: [String: [String: Any]]])
        #expect(webhooks["events"]?["post"]?["operationId"] as? String == "receiveEvents")
    }

    @Test("the examples of bodies are taken by the operations that they are for")
    func examples() async throws {
        let bench = try APIBench()
        let (document, routes) = try await document()
        let ids = Set(routes.filter { $0.operation.body != nil }.map(\.operation.id))
        #expect(Set(bodyExamples.keys).isSubset(of: ids))
        let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
        let body = paths["/v1/wakes"]?["post"]?["requestBody"] as? [String: Any]
        let content = body?["content"] as? [String: [String: Any]]
        #expect(content?["application/json"]?["example"] != nil)
        try await bench.serve { caller in
            for route in routes {
                guard let example = bodyExamples[route.operation.id] else { continue }
                let answer = try await caller.send(
                    route.method.rawValue,
                    route.path.replacing("{token}", with: "00fc13adff785122")
                        .replacing("{channel}", with: "YQ%3D%3D"), example)
                // What it names may not be there.
                #expect(
                    [200, 201, 202, 404].contains(answer.status), "\(route.path): \(answer.body)")
                #expect(!answer.body.contains("invalid-"), "\(route.path): \(answer.body)")
            }
        }
    }

    @Test("app and environment are plain parameters, as generated clients know them")
    func environmentOfQuery() async throws {
        let (document, _) = try await document()
        let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
        for (path, method) in [
            ("/v1/wakes", "get"), ("/v1/devices/{token}", "get"), ("/v1/devices/{token}", "delete"),
        ] {
            let parameters = try #require(paths[path]?[method]?["parameters"] as? [[String: Any]])
            for name in ["app", "environment"] {
                let parameter = try #require(parameters.first { $0["name"] as? String == name })
                #expect((parameter["schema"] as? [String: Any])?["type"] as? String == "string")
                #expect(parameter["required"] as? Bool == false)
            }
        }
    }

    @Test("refers to schemas that are there, and has none that nobody refers to")
    func references() async throws {
        let (document, _) = try await document()
        let text = String(
            decoding: try JSONSerialization.data(withJSONObject: document), as: UTF8.self)
        let names = text.matches(of: /#\\\/components\\\/schemas\\\/(\w+)/).map { String($0.1) }
        #expect(Set(names) == Set(Component.allCases.map(\.rawValue)))
    }
}
