// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import HTTPTypes
import Hummingbird
import Logging
import NIOEmbedded
import Testing

@testable import AdminAPI

@Suite("The id of a request")
struct AdminRequestContextTests {
    @Test("It has 32 digits, also where the first are zeros")
    func digits() {
        for count in [1, 16, 31, 32] {
            let id = String(repeating: "f", count: count)
            let zeros = String(repeating: "0", count: 32 - count)
            #expect(AdminRequestContext.padded(id) == zeros + id)
        }
    }

    @Test("The answer and each line of the log have all of its digits")
    func everywhere() throws {
        let lines = RecordedLines()
        var logger = lines.logger
        logger[metadataKey: AdminRequestContext.idKey] = "abc"
        let context = AdminRequestContext(
            source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger))
        let id = String(repeating: "0", count: 29) + "abc"
        #expect(context.id == id)
        // What routes log by themselves.
        #expect(context.logger[metadataKey: AdminRequestContext.idKey] == "\(id)")

        let bench = try APIBench()
        let services = bench.services
        let middleware = ProblemMiddleware(
            table: RouteTable(services), metrics: services.metrics, refusals: nil)
        var headers = HTTPFields()
        middleware.complete(&headers, of: .notFound, to: .get, nil, since: .now, context)
        _ = middleware.problem(for: CancellationError(), context)
        let name = try #require(HTTPField.Name("x-request-id"))
        #expect(headers[name] == id)
        #expect(lines.all.count == 2)
        #expect(lines.all.allSatisfy { $0.contains("\(AdminRequestContext.idKey)=\(id)") })
    }

    @Test("An id is made where there is none")
    func fresh() {
        let source = ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: .silent)
        let ids = (0..<2).map { _ in AdminRequestContext(source: source).id }
        #expect(ids[0] != ids[1])
        #expect(ids.allSatisfy { $0.count == 32 })
    }
}
