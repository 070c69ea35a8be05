// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import PayloadRules
import WakeModel

/// What it costs to check a payload, beside Foundation merely parsing the same bytes.
struct PayloadBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "payload",
        abstract: "Validations of payloads per second, beside JSONSerialization's parse.",
        discussion: """
            All on one core and in one process. Runs alternate, figures are medians, and a ratio \
            is the median of the ratios of neighbouring runs. "validate" is the gateway's way: \
            scanning the payload, all rules, and the valid wake. "report" is the lint tool's, \
            with raw headers.

            Example: RouseBenchmarks payload --repetitions 5
            """)

    @OptionGroup var options: BenchmarkOptions

    func run() async throws {
        let results = try Self.measure(options)
        try options.show(results, as: Self.report)
    }

    static func measure(_ options: BenchmarkOptions) throws -> [PayloadResult] {
        let seconds = options.quick ? 0.02 : 0.4
        return try PayloadSample.all().map { sample in
            try PayloadResult(sample, rounds: max(options.rounds, 3), seconds: seconds)
        }
    }

    static func report(_ results: [PayloadResult]) -> String {
        var table = TextTable(
            "payload", "bytes", "work", "per second", "ns", "MB/s", "of JSONSerialization")
        for result in results {
            for row in result.rows {
                table.add(
                    result.name, String(result.bytes), row.work, row.perSecond.grouped,
                    row.nanoseconds.fixed(0), row.megabytesPerSecond.fixed(0),
                    row.ratio.fixed(1) + "x")
            }
        }
        return "\nChecking payloads, on one core\n\n" + table.text + "\n"
    }
}

/// A payload as real apps send it, and the request around it.
struct PayloadSample {
    let name: String
    let request: WakeRequest
    let draft: PushDraft
    let data: Data

    /// The instant that all measurements take for now.
    static let now = WallInstant(secondsSinceEpoch: 1_795_255_200)

    static func all() throws -> [PayloadSample] {
        [
            try PayloadSample("background", .background, small),
            try PayloadSample("background", .background, large(ofBytes: 4096)),
            try PayloadSample("voip", .voip, call),
        ]
    }

    private static let small =
        #"{"aps":{"content-available":1},"v":7,"folder":"inbox","account":"a1b2c3d4e5f6","#
        + #""cursor":"b8d1e4f70a93"}"#

    private static let call =
        #"{"callUUID":"6f1c9d5e-2b7a-4f0e-9c3d-8a5b1e7f2d40","handle":"Ann","video":true,"#
        + #""timestamp":1795255200}"#

    /// Records of a few short members each, up to exactly this many bytes.
    private static func large(ofBytes byteCount: Int) -> String {
        var text = #"{"aps":{"content-available":1},"version":412,"changed":["#
        let end = #"],"note":""}"#
        var number = 0
        while true {
            let record =
                (number == 0 ? "" : ",")
                + #"{"id":"m\#(1000 + number)","folder":"inbox","size":\#(number * 37),"#
                + #""unread":\#(number.isMultiple(of: 3)),"tags":["a","beta"]}"#
            guard text.utf8.count + record.utf8.count + end.utf8.count <= byteCount else { break }
            text += record
            number += 1
        }
        let padding = byteCount - text.utf8.count - end.utf8.count
        return text + #"],"note":""# + String(repeating: "n", count: padding) + #""}"#
    }

    private init(_ name: String, _ kind: WakeKind, _ payload: String) throws {
        self.name = name
        let bytes = Array(payload.utf8)
        let expiration: Expiration =
            kind == .voip ? .immediately : .at(Self.now.advanced(bySeconds: 3600))
        request = WakeRequest(
            kind: kind, deviceToken: try DeviceToken(hex: String(repeating: "a5", count: 32)),
            bundleID: try BundleID("com.example.app"), payload: bytes, expiration: expiration)
        draft = PushDraft(
            payload: bytes,
            headers: [
                .init("apns-push-type", kind.rawValue),
                .init("apns-priority", "\(kind.defaultPriority)"),
                .init("apns-topic", "com.example.app" + kind.pushType.topicSuffix),
                .init("apns-expiration", expiration.headerValue),
            ], now: Self.now, headersAreComplete: true)
        data = Data(bytes)
    }
}

/// The figures of one payload.
struct PayloadResult: Encodable {
    struct Row: Encodable {
        let work: String
        let perSecond: Double
        let nanoseconds: Double
        let megabytesPerSecond: Double
        /// How many times JSONSerialization's rate.
        let ratio: Double
    }

    let name: String
    let bytes: Int
    let rows: [Row]

    init(_ sample: PayloadSample, rounds: Int, seconds: Double) throws {
        name = sample.name
        bytes = sample.request.payload.count
        let validator = WakeValidator()
        let pushValidator = PushValidator()
        let now = PayloadSample.now
        let works: [(name: String, once: () throws -> Int)] = [
            (
                "JSONSerialization parses",
                { try JSONSerialization.jsonObject(with: sample.data) is [String: Any] ? 1 : 0 }
            ),
            (
                "validate",
                { validator.validate(sample.request, now: now).validWake == nil ? 0 : 1 }
            ),
            ("report", { pushValidator.report(on: sample.draft).pushType.utf8.count }),
        ]
        var times = [[Double]](repeating: [], count: works.count)
        for _ in 0..<rounds {
            for (index, work) in works.enumerated() {
                times[index].append(try Self.nanoseconds(of: work.once, seconds: seconds))
            }
        }
        let byteCount = Double(bytes)
        rows = works.indices.map { index in
            let nanoseconds = times[index].median
            return Row(
                work: works[index].name, perSecond: 1e9 / nanoseconds, nanoseconds: nanoseconds,
                megabytesPerSecond: byteCount * 1e3 / nanoseconds,
                ratio: zip(times[0], times[index]).map { $0 / $1 }.median)
        }
    }

    /// The time of one call in nanoseconds, from as many as fit into the time given.
    private static func nanoseconds(
        of once: () throws -> Int, seconds: Double
    ) throws -> Double {
        let batch = 64
        var calls = 0
        var checksum = 0
        let start = ProcessClocks.cpuSeconds
        var elapsed = 0.0
        repeat {
            for _ in 0..<batch { checksum += try once() }
            calls += batch
            elapsed = ProcessClocks.cpuSeconds - start
        } while elapsed < seconds
        // The sum is looked at, so that no call can be left out.
        guard checksum >= calls else { throw ValidationError("A sample payload is not valid.") }
        return elapsed * 1e9 / Double(calls)
    }
}
