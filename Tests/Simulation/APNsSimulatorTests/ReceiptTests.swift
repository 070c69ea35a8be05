// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import FoundationEssentials
import Testing
import WakeModel

@testable import APNsSimulator

@Suite("Receipts", .timeLimit(.minutes(10)))
struct ReceiptTests {
    static func receipts(_ request: ReceiptServer.Request?) throws -> [ReceiptsBody.Receipt] {
        let body = Data(try #require(request).body.utf8)
        return try JSONDecoder().decode(ReceiptsBody.self, from: body).receipts
    }

    static func signals(_ request: ReceiptServer.Request?) throws -> SignalsBody {
        try JSONDecoder().decode(
            SignalsBody.self, from: Data(try #require(request).body.utf8))
    }

    /// Runs `body` against a simulator that reports to a server of its own.
    static func withServer(
        answering statuses: [Int] = [], key: String? = "rk_secret", appsSync: Bool = true,
        _ body: (
            APNsSimulator, TestClock, inout AsyncStream<ReceiptServer.Request>.AsyncIterator
        ) async throws -> Void
    ) async throws {
        let server = try await ReceiptServer.start(answering: statuses)
        let clock = TestClock()
        let target = try ReceiptTarget(
            url: "http://127.0.0.1:\(server.port)/base/", key: key, appsSync: appsSync)
        try await WireTests.withSimulator {
            $0.now = { clock.now }
            $0.deviceModel = DeviceSetup(parameters: .exact)
            $0.receipts = target
        } _: { simulator in
            var requests = server.makeIterator()
            try await body(simulator, clock, &requests)
        }
        await server.close()
    }

    @Test("a launch is told with its apns-id and time, and what the app knows of the device")
    func launch() async throws {
        try await Self.withServer { simulator, clock, requests in
            let client = try await RawClient.connect(to: simulator)
            _ = try await client.push(DeviceTests.push(atSecond: 0))
            let request = await requests.next()
            #expect(request?.method == "POST")
            #expect(request?.path == "/base/v1/receipts")
            #expect(request?.authorization == "Bearer rk_secret")
            #expect(
                request?.body
                    == #"{"receipts":[{"apns_id":"\#(Push.apnsID)","launched_at":"#
                    + #""2026-11-21T09:20:00.000Z","synced":true}]}"#)

            let told = await requests.next()
            #expect(told?.method == "PUT")
            #expect(told?.path == "/base/v1/devices/\(Push.token)/signals")
            var signals = try Self.signals(told)
            #expect(signals.foreground == nil)
            #expect(!signals.lowPowerMode)
            #expect(signals.batteryPercent == 80)
            #expect(signals.backgroundAppRefresh)

            // An app that does not run reports nothing; when it is opened, it reports that.
            let token = try DeviceTests.token.get()
            simulator.apply(.battery(permille: 550), to: token)
            clock.advance(bySeconds: 5)
            simulator.apply(.appOpened, to: token)
            signals = try Self.signals(await requests.next())
            #expect(signals.foreground == true)
            #expect(signals.batteryPercent == 55)
            #expect(signals.at == "2026-11-21T09:20:05.000Z")
            simulator.apply(.lowPowerMode(true), to: token)
            signals = try Self.signals(await requests.next())
            #expect(signals.foreground == nil)
            #expect(signals.lowPowerMode)
            await client.close()
        }
    }

    // A gateway supersedes what waits only by receipts that say so.
    @Test("receipts say that the app has synced, unless it is told that apps do not")
    func synced() async throws {
        for appsSync in [true, false] {
            try await Self.withServer(appsSync: appsSync) { simulator, _, requests in
                let client = try await RawClient.connect(to: simulator)
                _ = try await client.push(DeviceTests.push(atSecond: 0))
                let receipts = try Self.receipts(await requests.next())
                #expect(receipts.map(\.synced) == [appsSync])
                await client.close()
            }
        }
    }

    @Test("what happens while the devices' time is moved is told in the senders' time")
    func movedTime() async throws {
        try await Self.withServer { simulator, _, requests in
            let client = try await RawClient.connect(to: simulator)
            for _ in 1...2 { _ = try await client.push(DeviceTests.push(atSecond: 0)) }
            _ = await requests.next()
            _ = await requests.next()
            simulator.advanceDevices(bySeconds: 7200)
            let receipts = try Self.receipts(await requests.next())
            #expect(receipts.map(\.launchedAt) == ["2026-11-21T09:20:00.000Z"])
            let push = simulator.fates(of: try DeviceTests.token.get()).last
            #expect(push?.decidedAt?.sinceStart == 900)
            await client.close()
        }
    }

    @Test("a gateway in trouble is told again", arguments: [503, 429])
    func retries(status: Int) async throws {
        try await Self.withServer(answering: [status, status], key: nil) {
            simulator, _, requests in
            let client = try await RawClient.connect(to: simulator)
            _ = try await client.push(DeviceTests.push(atSecond: 0))
            let first = await requests.next()
            #expect(first?.authorization == nil)
            #expect(await requests.next() == first)
            #expect(await requests.next() == first)
            // Signals follow only once the receipt has ended.
            #expect(await requests.next()?.method == "PUT")
            #expect(simulator.counters.receiptsTold == 1)
            #expect(simulator.counters.receiptsLost == 0)
            await client.close()
        }
    }

    @Test("a refused receipt is counted as lost and not told again")
    func refused() async throws {
        try await Self.withServer(answering: [401]) { simulator, _, requests in
            let client = try await RawClient.connect(to: simulator)
            _ = try await client.push(DeviceTests.push(atSecond: 0))
            #expect(await requests.next()?.method == "POST")
            #expect(await requests.next()?.method == "PUT")
            #expect(simulator.counters.receiptsTold == 0)
            #expect(simulator.counters.receiptsLost == 1)
            await client.close()
        }
    }

    @Test("what happens while a gateway is in trouble is told afterwards, in order")
    func pileUp() async throws {
        try await Self.withServer(answering: [503]) { simulator, _, requests in
            let token = try DeviceTests.token.get()
            simulator.register(.init(token: token, model: DeviceSetup(parameters: .exact)))
            simulator.apply(.appOpened, to: token)
            #expect(try Self.signals(await requests.next()).foreground == true)
            // The server answers 503; until the second attempt three receipts come together.
            let client = try await RawClient.connect(to: simulator)
            for _ in 1...3 { _ = try await client.push(DeviceTests.push(atSecond: 0)) }
            #expect(await requests.next()?.method == "PUT")
            var told = 0
            while told < 3 { told += try Self.receipts(await requests.next()).count }
            #expect(told == 3)
            await client.close()
        }
    }

    @Test("receipts go together, a hundred at most, and never past a signal")
    func batches() throws {
        let target = try ReceiptTarget(url: "http://127.0.0.1:9")
        let counters = AtomicCounters()
        let reporter = GatewayReporter(target, counters: counters)
        let token = try DeviceTests.token.get()
        func launch(_ numbers: ClosedRange<Int>) {
            for number in numbers {
                let push = ModelledPush(
                    number: number, apnsID: "\(number)", deviceToken: token, topic: nil,
                    content: .background, acceptedAt: TestClock.start, fate: nil, decidedAt: nil)
                reporter.add(.reachedApp(push), clock: DeviceClock())
            }
        }
        launch(1...250)
        reporter.add(
            .signals(
                DeviceSignals(DeviceConditions()), of: token, at: TestClock.start, opened: true),
            clock: DeviceClock())
        launch(251...260)
        var sizes: [Int] = []
        while let batch = reporter.nextBatch() { sizes.append(batch.count) }
        #expect(sizes == [100, 100, 50, 1, 10])

        // Reports beyond the limit are dropped, and counted.
        launch(1...GatewayReporter.maximumWaiting + 5)
        #expect(counters.snapshot.receiptsLost == 5)
        #expect(reporter.nextBatch()?.count == GatewayReporter.maximumBatch)
    }

    @Test("shutting down does not wait for a gateway that is not there")
    func noGateway() async throws {
        let server = try await ReceiptServer.start()
        let target = try ReceiptTarget(url: "http://127.0.0.1:\(server.port)")
        await server.close()
        try await WireTests.withSimulator {
            $0.deviceModel = DeviceSetup(parameters: .exact)
            $0.receipts = target
        } _: { simulator in
            let client = try await RawClient.connect(to: simulator)
            #expect(try await client.push(Push())?.status == 200)
            await client.close()
        }
    }

    @Test(
        "a target is a plain HTTP URL on this machine",
        arguments: [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://localhost/a/", "http://localhost:80/a"),
            ("http://[::1]:9", "http://[::1]:9"), ("http://127.9.8.7", "http://127.9.8.7:80"),
        ])
    func targets(url: String, description: String) throws {
        let target = try ReceiptTarget(url: url, key: "very-secret")
        #expect("\(target)" == description)
        var dump = ""
        Swift.dump(target, to: &dump)
        #expect(!dump.contains("very-secret"))
        #expect(!String(reflecting: target).contains("very-secret"))
    }

    @Test(
        "any other target is refused by name",
        arguments: [
            "https://127.0.0.1", "http://example.com", "http://127.0.0.1.example.com",
            "http://10.0.0.1", "http://user@127.0.0.1", "http://127.0.0.1?a=b", "", "127.0.0.1:80",
        ])
    func badTargets(url: String) throws {
        let error = #expect(throws: InvalidField.self) { try ReceiptTarget(url: url) }
        #expect(error?.field == "receipts URL")
    }

    @Test("a key that could break out of its header is refused and not repeated")
    func badKey() throws {
        let error = #expect(throws: InvalidField.self) {
            try ReceiptTarget(url: "http://127.0.0.1", key: "a\r\nb: c")
        }
        #expect(error?.field == "receipts key")
        #expect(error?.description.contains("b: c") == false)
    }
}
