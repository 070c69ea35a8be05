// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird

/// `GET /healthz` and `GET /readyz`, open to everybody.
struct HealthRoutes {
    let gateway: Gateway

    func add(to router: Router<AdminRequestContext>) {
        router.get("healthz") { _, _ in
            JSONValue.object([("status", .string("alive"))]).response(status: .ok)
        }
        router.get("readyz") { _, _ in
            let readiness = gateway.readiness
            return JSONValue.object([
                ("status", .string(readiness.isReady ? "ready" : "not-ready")),
                ("reasons", .array(readiness.obstacles.map { .string($0) })),
            ]).response(status: readiness.isReady ? .ok : .serviceUnavailable)
        }
    }
}
