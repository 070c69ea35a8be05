// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import Logging
import Testing
import WakeModel

@testable import AdminAPI

/// A gateway on a store in memory behind the API, with one key for each scope.
struct APIBench {
    let gateway: Gateway
    let sender: ScriptedSender
    let channels = ScriptedChannels()
    var configuration: AdminConfiguration
    let keys: [Scope: KeySecret]

    init(
        sender: ScriptedSender = ScriptedSender(), limits: GatewayLimits = GatewayLimits(),
        rate: RequestRate? = nil
    ) throws {
        self.sender = sender
        gateway = sampleGateway(store: InMemoryWakeStore(), sender: sender, limits: limits)
        var keys: [Scope: KeySecret] = [:]
        for (index, scope) in Scope.allCases.enumerated() {
            keys[scope] = KeySecret((UInt64(index), 1, 2, 3))
        }
        self.keys = keys
        let ring = try keys.map { scope, secret in
            try APIKey(
                name: scope.rawValue, sha256: secret.sha256, scopes: [scope], rate: rate)
        }
        configuration = AdminConfiguration(authentication: .keys(KeyRing(ring)))
    }

    /// What routes get, without a listener.
    var services: Services {
        Services(
            gateway: gateway, configuration: configuration,
            metrics: AdminMetrics(MetricsRegistry()),
            connections: ListenerConnections(places: 1, placesOfPeer: 1),
            streams: ConnectionCount(), audit: AuditLog(.silent), readings: { [] })
    }

    /// Serves while `body` runs.
    func serve(
        logger: Logger = .silent, audit: AuditLog? = nil, webhooks: [WebhookHealth] = [],
        _ body: (Caller) async throws -> Void
    ) async throws {
        try await withAPI(
            gateway, configuration: configuration, logger: logger, audit: audit,
            webhooks: webhooks, channels: channels
        ) { port in
            try await body(Caller(port: port, keys: keys))
        }
    }

    /// Makes requests with the key of a scope.
    struct Caller: Sendable {
        let port: Int
        let keys: [Scope: KeySecret]

        func send(
            _ method: String, _ path: String, _ body: String? = nil, as scope: Scope? = .admin,
            headers more: [String: String] = [:], patienceSeconds: Int = 15
        ) async throws -> HTTPExchange {
            var headers = more
            if let scope, let key = keys[scope] { headers["Authorization"] = "Bearer \(key.text)" }
            if body != nil, headers["Content-Type"] == nil {
                headers["Content-Type"] = "application/json"
            }
            return try await HTTPExchange.send(
                method, path, body: body, headers: headers, port: port,
                patienceSeconds: patienceSeconds)
        }

        /// Asks for a background wake; returns its id.
        func wake(device: UInt64 = 7, _ more: String = "") async throws -> String {
            let answer = try await send("POST", "/v1/wakes", APIBench.body(device: device, more))
            #expect(answer.status == 202, "\(answer.body)")
            return try #require(try answer.json()["id"] as? String)
        }
    }

    /// The body of a background wake.
    static func body(device: UInt64 = 7, _ more: String = "") -> String {
        """
        {"kind":"background","device_token":"\(Samples.deviceToken(device).hex)",\
        "app":"com.example.app","payload":{"aps":{"content-available":1},"n":\(device)}\(more)}
        """
    }
}

/// Expects a problem document with this code, which shows no device token.
func expectProblem(
    _ exchange: HTTPExchange, _ code: ProblemCode,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(exchange.status == code.status, "\(exchange.body)", sourceLocation: sourceLocation)
    #expect(
        exchange.head.lowercased().contains("content-type: application/problem+json"),
        sourceLocation: sourceLocation)
    let json = try exchange.json()
    #expect(json["code"] as? String == code.rawValue, sourceLocation: sourceLocation)
    #expect(json["type"] as? String == code.type, sourceLocation: sourceLocation)
    #expect(json["title"] as? String == code.title, sourceLocation: sourceLocation)
    #expect(json["status"] as? Int == code.status, sourceLocation: sourceLocation)
    // What one part of a request is to blame for says which.
    let blaming: [ProblemCode] = [.invalidWake, .unsupportedMediaType, .idempotencyConflict]
    if blaming.contains(code) {
        #expect(json["field"] is String, "\(exchange.body)", sourceLocation: sourceLocation)
    }
    #expect(
        !exchange.body.contains(Samples.deviceToken().hex), sourceLocation: sourceLocation)
}
