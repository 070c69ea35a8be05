// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Foundation
import Gateway
import GatewayTestKit
import HTTPTestKit
import Logging
import Testing
import WaitKit
import WakeModel

@testable import RouseCommand

@Suite("rouse send, and a gateway that is busy", .timeLimit(.minutes(10)))
struct SendTests {
    /// How many wakes the gateway of these tests has room for at a time.
    private static let room = 4

    /// Serves the API of a gateway with little room while `body` runs; it gets the base URL.
    private static func withNarrowGateway(
        room: Int = Self.room, batchByteCount: Int? = nil,
        _ body: (Gateway, String) async throws -> Void
    ) async throws {
        var limits = GatewayLimits()
        limits.intakeQueueCount = room
        var configuration = AdminConfiguration(authentication: .disabled)
        if let batchByteCount { configuration.batchByteCount = batchByteCount }
        let gateway = sampleGateway(
            store: InMemoryWakeStore(), sender: ScriptedSender(), limits: limits)
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let service = AdminAPI(
            configuration: configuration, gateway: gateway, logger: .silent
        ).service(on: .tcp(host: "127.0.0.1", port: 0)) { address in
            if case .tcp(_, let port) = address { continuation.yield(port) }
        }
        try await withRunning(gateway, with: [service]) {
            for await port in ports {
                try await body(gateway, "http://127.0.0.1:\(port)")
                break
            }
        }
    }

    private static func line(_ number: UInt64) -> String {
        """
        {"kind":"background","device_token":"\(Samples.deviceToken(number).hex)",\
        "app":"com.example.app","payload":{"aps":{"content-available":1},"n":\(number)}}
        """
    }

    @Test("a gateway that is away is said to be, while it is tried again")
    func away() async throws {
        let folder = try TestFolder()
        let file = try folder.write(Self.line(1), to: "wakes.ndjson")
        let send = try RunningRouse(
            ["-c", "exec '\(Rouse.path)' send '\(file)' 2>&1"], by: "/bin/sh",
            environment: ["ROUSE_GATEWAY": "http://127.0.0.1:1"])
        let line = try await send.lines { $0.contains("It is tried again up to 6 times.") }.last
        #expect(line?.contains("http://127.0.0.1:1 cannot be reached") == true)
        #expect(try await send.end(SIGINT) != 0)
    }

    @Test("an answer that is no gateway's is not asked for again")
    func unreadable() async throws {
        let server = try OneShotServer(
            "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n")
        defer { server.stop() }
        let sent = try await Rouse.run(
            ["send", "-"], stdin: Self.line(1),
            environment: ["ROUSE_GATEWAY": "http://127.0.0.1:\(server.port)"])
        #expect(sent.status == 69, "\(sent.all)")
        #expect(server.received.count == 1)
    }

    @Test("what a busy gateway has no room for is sent later, each wake once")
    func narrow() async throws {
        try await Self.withNarrowGateway { gateway, base in
            let lines = (1...10).map { Self.line($0) } + ["{\"kind\":\"alert\"}"]
            let sent = try await Rouse.run(
                ["send", "--json", "-"], stdin: lines.joined(separator: "\n"),
                environment: ["ROUSE_GATEWAY": base])
            #expect(sent.status == 1, "\(sent.all)")
            #expect(try sent.json()["lines"] as? Int == 11)
            #expect(try sent.json()["accepted"] as? Int == 10)
            #expect(try sent.json()["refused"] as? Int == 1)
            #expect(sent.error.contains("line 11:"), "\(sent.error)")
            #expect(!sent.error.contains("line 10:"), "\(sent.error)")
            #expect(try await gateway.stats().accepted == 10)
        }
    }

    @Test("a batch that fails as a whole leaves the sums so far, and where to go on")
    func wholeBatch() async throws {
        let lines = (1...7).map { Self.line($0) }
        // The second batch, lines 4 to 6 with a blank one before, is too large for this gateway.
        let filler = "\"long\":\"\(String(repeating: "x", count: 900))\",\"n\":"
        let long = lines[4].replacing("\"n\":", with: filler)
        let text = (lines[..<3] + ["", lines[3], long] + lines[5...]).joined(separator: "\n")
        try await Self.withNarrowGateway(room: 100, batchByteCount: 1_200) { gateway, base in
            let environment = ["ROUSE_GATEWAY": base]
            let send = ["send", "--batch", "3", "-"]
            let sent = try await Rouse.run(send + ["--json"], stdin: text, environment: environment)
            #expect(sent.status == 65, "\(sent.all)")
            #expect(sent.error.contains("The body is too large"), "\(sent.error)")
            let summary = try sent.json()
            #expect(summary["lines"] as? Int == 7)
            #expect(summary["accepted"] as? Int == 3)
            #expect(summary["refused"] as? Int == 0)
            #expect(summary["next_line"] as? Int == 5)
            let name = try #require(summary["run"] as? String)
            let words = try await Rouse.run(
                send + ["--run", name], stdin: text, environment: environment)
            #expect(words.status == 65)
            #expect(words.out.contains("3 of 7 wakes were accepted."), "\(words.all)")
            #expect(words.out.contains("--run \(name) --from 5 --batch 3"), "\(words.all)")
            // The same run again: what it had taken is recognised.
            #expect(try await gateway.stats().accepted == 3)
        }
        try await Self.withNarrowGateway(room: 100) { gateway, base in
            for (from, count) in [("1", 7), ("5", 4), ("8", 1)] {
                let sent = try await Rouse.run(
                    ["send", "--batch", "3", "--run", "r", "--from", from, "--json", "-"],
                    stdin: text, environment: ["ROUSE_GATEWAY": base])
                #expect(sent.status == 0, "\(sent.all)")
                #expect(try sent.json()["accepted"] as? Int == count)
                #expect(try sent.json()["next_line"] == nil)
                #expect(try await gateway.stats().accepted == 7)
            }
        }
    }

    @Test("Ctrl-C, as SIGTERM, tells the sums so far and how to go on, and ends as a signal does")
    func interrupted() async throws {
        let busy = try OneShotServer(
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 600\r\nContent-Length: 0\r\n\r\n")
        defer { busy.stop() }
        let folder = try TestFolder()
        let text = (1...4).map { Self.line($0) }.joined(separator: "\n")
        let file = try folder.write(text, to: "wakes.ndjson")
        for (json, signal) in [(false, SIGINT), (true, SIGINT), (false, SIGTERM)] {
            let asked = busy.received.count
            let send = try RunningRouse(
                ["send", "--run", "r", "--from", "2", "--batch", "2", file]
                    + (json ? ["--json"] : []),
                environment: ["ROUSE_GATEWAY": "http://127.0.0.1:\(busy.port)"])
            for _ in 0..<600 where busy.received.count == asked {
                try await Task.sleep(for: .milliseconds(50))
            }
            let end = try await send.end(signal)
            #expect(end == -1, "a shell sees that a signal ended it")
            let told = try await send.lines { $0 == "}" || $0.hasPrefix("Go on") }
            let words = told.joined(separator: "\n")
            if json {
                #expect(words.contains("\"next_line\" : 2"), "\(words)")
                #expect(words.contains("\"accepted\" : 0"), "\(words)")
            } else {
                #expect(words.contains("0 of 3 wakes were accepted."), "\(words)")
                #expect(words.hasSuffix("--run r --from 2 --batch 2 --spread 0"), "\(words)")
            }
        }
    }

    @Test("a script's rouse send &, which ignores Ctrl-C, goes on")
    func notInterrupted() async throws {
        let busy = try OneShotServer(
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 600\r\nContent-Length: 0\r\n\r\n")
        defer { busy.stop() }
        let folder = try TestFolder()
        let file = try folder.write(Self.line(1), to: "wakes.ndjson")
        let send = try RunningRouse(
            ["-c", "trap '' INT; exec \"$0\" \"$@\"", Rouse.path, "send", file], by: "/bin/sh",
            environment: ["ROUSE_GATEWAY": "http://127.0.0.1:\(busy.port)"])
        for _ in 0..<600 where busy.received.isEmpty {
            try await Task.sleep(for: .milliseconds(50))
        }
        send.signal(SIGINT)
        #expect(
            try await holds(for: .milliseconds(500)) { kill(send.processID, 0) == 0 }, "it ended")
        #expect(try await send.end(SIGTERM) == -1)
    }

    /// An answer to each wake of a request, by the statuses.
    private static func items(_ statuses: [Int]) -> [BatchDocument.Item] {
        statuses.map { BatchDocument.Item(status: $0, wake: nil, problem: nil, items: nil) }
    }

    @Test("wakes without room go alone, under a key of their own")
    func alone() {
        var batch = SendBatch(name: "n", count: 4)
        #expect(batch.key == "n" && batch.places == [0, 1, 2, 3])
        let isLess1 = batch.take(Self.items([202, 429, 400, 429]))
        #expect(isLess1)
        #expect(batch.key == "n-1" && batch.places == [1, 3])
        #expect(batch.isWaiting)
        let isLess2 = batch.take(Self.items([429, 429]))
        #expect(!isLess2)
        // Nothing was kept of this request, so its key is as good as new.
        #expect(batch.key == "n-1" && batch.places == [1, 3])
        let isLess3 = batch.take(Self.items([202, 202]))
        #expect(isLess3)
        #expect(!batch.isWaiting)
        #expect(batch.items.map { $0?.status } == [202, 202, 400, 202])
    }

    @Test("what was not answered for good is open, and told by its lines")
    func open() {
        var batch = SendBatch(name: "n", count: 5)
        #expect(batch.openPlaces == [0, 1, 2, 3, 4])
        let isLess = batch.take(Self.items([202, 429, 400, 429, 503]))
        #expect(isLess)
        #expect(batch.openPlaces == [1, 3, 4])
        #expect(SendSummary.ranges([]) == "")
        #expect(SendSummary.ranges([3, 7, 8, 9, 12]) == "3, 7-9, 12")
    }

    @Test("the sums of a run that ends in the midst of a batch")
    func stopped() throws {
        var summary = SendSummary(run: "r")
        summary.lines = 9
        var batch = SendBatch(name: "r-0", count: 4)
        let lines = [3, 4, 6, 7]
        // Without any answer it is as if the batch had not been asked for.
        let unasked = summary.stopped(in: batch, lines, later: 8)
        #expect(unasked.nextLine == 3 && unasked.openLines.isEmpty && unasked.refused == 0)
        _ = batch.take(Self.items([400, 429, 400, 503]))
        let open = summary.stopped(in: batch, lines, later: 8)
        #expect(open.openLines == [4, 7] && open.refused == 2 && open.nextLine == 8)
        #expect(summary.stopped(in: batch, lines, later: nil).nextLine == nil)
        summary.book(batch, lines)
        #expect(summary.refused == 4 && summary.accepted == 0)
    }

    @Test("wakes that a failing store may have kept go again under the same key")
    func uncertain() {
        var batch = SendBatch(name: "n", count: 3)
        let isLess4 = batch.take(Self.items([202, 503, 429]))
        #expect(isLess4)
        #expect(batch.key == "n" && batch.places == [0, 1, 2])
        // What was taken stays so, and a full queue says nothing of what the store had kept.
        let isLess5 = batch.take(Self.items([429, 429, 429]))
        #expect(!isLess5)
        #expect(batch.key == "n" && batch.places == [0, 1, 2])
        #expect(batch.items.first??.status == 202)
        let isLess6 = batch.take(Self.items([202, 202, 429]))
        #expect(isLess6)
        #expect(batch.key == "n-1" && batch.places == [2])
        let isLess7 = batch.take(Self.items([202]))
        #expect(isLess7)
        #expect(!batch.isWaiting)
    }
}
