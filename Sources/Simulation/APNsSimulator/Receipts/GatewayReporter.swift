// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Logging
import NIOCore
import NIOHTTP1
import Synchronization
import WakeModel

/// Reports the events of modelled devices to a gateway: receipts in batches, signals one by one, in
/// the order of the events.
///
/// A failed report is retried a few times, then counted and dropped, as an app would do.
final class GatewayReporter: Sendable {
    /// How many reports may wait; further ones are counted as lost.
    static let maximumWaiting = 10_000
    /// The most receipts in one request.
    static let maximumBatch = 100
    /// How often a request is tried.
    static let maximumAttempts = 5
    /// The pause before the second attempt, in milliseconds; each further one is four times as
    /// long.
    static let firstPause: Int64 = 100

    private let target: ReceiptTarget
    private let counters: AtomicCounters
    private let waiting = Mutex(CircularBuffer<Report>())
    private let signal: AsyncStream<Void>
    private let ring: AsyncStream<Void>.Continuation

    /// A report to send.
    enum Report: Hashable, Sendable {
        case receipt(ReceiptsBody.Receipt)
        case signals(SignalsBody, of: DeviceToken)
    }

    init(_ target: ReceiptTarget, counters: AtomicCounters) {
        self.target = target
        self.counters = counters
        // One signal is enough for several reports.
        (signal, ring) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Queues what is to be reported.
    func add(_ news: DeviceNews, clock: DeviceClock) {
        let report = report(news, clock: clock)
        let hasRoom = waiting.withLock { waiting in
            guard waiting.count < Self.maximumWaiting else { return false }
            waiting.append(report)
            return true
        }
        if hasRoom { ring.yield() } else { count(report, asLost: 1) }
    }

    private func report(_ news: DeviceNews, clock: DeviceClock) -> Report {
        switch news {
        case .reachedApp(let push):
            let instant = clock.senderTime(at: push.decidedAt ?? push.acceptedAt)
            return .receipt(
                .init(
                    apnsID: push.apnsID, launchedAt: instant.description,
                    synced: target.appsSync))
        case .signals(let signals, let token, let at, let opened):
            let instant = clock.senderTime(at: at)
            return .signals(SignalsBody(signals, opened: opened, at: instant), of: token)
        }
    }

    /// Sends the reports until the task is cancelled.
    func run(on group: any EventLoopGroup, logger: Logger) async {
        for await _ in signal {
            while let batch = nextBatch() {
                guard !Task.isCancelled else { return }
                await tell(batch, on: group, logger: logger)
            }
        }
    }

    /// Takes the oldest report, with the receipts that follow it if it is one itself.
    func nextBatch() -> [Report]? {
        waiting.withLock { waiting in
            guard let first = waiting.first else { return nil }
            var count = 1
            if first.isReceipt {
                count = waiting.prefix(Self.maximumBatch).prefix { $0.isReceipt }.count
            }
            defer { waiting.removeFirst(count) }
            return Array(waiting.prefix(count))
        }
    }

    private func tell(_ batch: [Report], on group: any EventLoopGroup, logger: Logger) async {
        guard let exchange = exchange(batch) else { return }
        var pause = Self.firstPause
        for attempt in 1...Self.maximumAttempts {
            let status = try? await exchange.status(on: group)
            switch status {
            case .some(200..<300):
                count(batch[0], asTold: batch.count)
                return
            case nil, .some(429), .some(500...): break
            case .some(let status):
                logger.warning(
                    "The gateway refused what a device reported", metadata: ["status": "\(status)"])
                count(batch[0], asLost: batch.count)
                return
            }
            guard attempt < Self.maximumAttempts,
                (try? await Task.sleep(for: .milliseconds(pause))) != nil
            else { break }
            pause *= 4
        }
        logger.warning("The gateway did not take a device's report")
        count(batch[0], asLost: batch.count)
    }

    private func exchange(_ batch: [Report]) -> HTTPExchange? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        switch batch[0] {
        case .receipt:
            let body = ReceiptsBody(receipts: batch.compactMap(\.receipt))
            return exchange(.POST, "/v1/receipts", try? encoder.encode(body))
        case .signals(let body, let token):
            return exchange(.PUT, "/v1/devices/\(token.hex)/signals", try? encoder.encode(body))
        }
    }

    private func exchange(_ method: HTTPMethod, _ path: String, _ body: Data?) -> HTTPExchange? {
        guard let body else { return nil }
        var head = HTTPRequestHead(
            version: .http1_1, method: method, uri: target.basePath + path)
        let host = target.host.contains(":") ? "[\(target.host)]" : target.host
        head.headers.add(name: "host", value: "\(host):\(target.port)")
        head.headers.add(name: "connection", value: "close")
        head.headers.add(name: "content-type", value: "application/json")
        head.headers.add(name: "content-length", value: "\(body.count)")
        if let key = target.key { head.headers.add(name: "authorization", value: "Bearer \(key)") }
        return HTTPExchange(
            host: target.host, port: target.port, head: head, body: Array(body))
    }

    private func count(_ report: Report, asTold count: Int) {
        if report.isReceipt {
            counters.receiptsTold.add(count, ordering: .relaxed)
        } else {
            counters.signalsTold.add(count, ordering: .relaxed)
        }
    }

    private func count(_ report: Report, asLost count: Int) {
        if report.isReceipt {
            counters.receiptsLost.add(count, ordering: .relaxed)
        } else {
            counters.signalsLost.add(count, ordering: .relaxed)
        }
    }
}

extension GatewayReporter.Report {
    fileprivate var receipt: ReceiptsBody.Receipt? {
        guard case .receipt(let receipt) = self else { return nil }
        return receipt
    }

    fileprivate var isReceipt: Bool { receipt != nil }
}
