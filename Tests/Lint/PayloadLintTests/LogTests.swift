// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import SeedKit
import Testing
import WakeModel

@testable import PayloadLint

@Suite("Logs")
struct LogTests {
    @Test(
        "times are read",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-21T09:34:00.5Z", 1_795_253_640_500),
            ("2026-11-21T10:34:00+01:00", 1_795_253_640_000),
            ("2000-02-29t12:00:00z", 951_825_600_000),
            ("2026-11-21 09:34:00Z", 1_795_253_640_000), ("1795253640", 1_795_253_640_000),
            ("1795253640.25", 1_795_253_640_250), ("1795253640123", 1_795_253_640_123),
            ("-1", -1000), ("1969-12-31T23:59:59-00:30", 1_799_000),
        ] as [(String, Int64)])
    func times(text: String, milliseconds: Int64) {
        #expect(WallInstant(timeText: text)?.millisecondsSinceEpoch == milliseconds)
    }

    @Test(
        "what is no time is none",
        arguments: [
            "", "now", "2026-11-21", "2026-13-01T00:00:00Z", "2026-11-21T24:00:00Z",
            "2026-11-21T09:34:00", "1e400", "nan",
        ])
    func badTimes(text: String) { #expect(WallInstant(timeText: text) == nil) }

    @Test("a time reads back as it is written", arguments: 0..<100)
    func roundTrip(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let instant = WallInstant(
            millisecondsSinceEpoch: Int64.random(
                in: -62_135_596_800_000...253_402_300_799_999, using: &generator))
        #expect(WallInstant(timeText: instant.description) == instant, "seed \(seed)")
    }

    private static let reader = LogReader(
        reader: DocumentReader(assumptions: PushAssumptions(), forcedKind: nil))

    @Test("a line has time, device, headers, payload and answer")
    func line() throws {
        let text = """
            {"time":"2026-11-21T09:34:00Z","token":"740f",\
            "headers":{"apns-push-type":"background"},\
            "body":{"aps":{"content-available":1}},"status":410,"reason":"Unregistered",\
            "timestamp":1795253640123,"registered":1795253641,"deleted":true}
            """
        let push = try #require(Self.reader.read(Array(text.utf8)).push)
        #expect(push.at.secondsSinceEpoch == 1_795_253_640)
        #expect(!push.device.contains("740f"))
        #expect(push.draft.headers == [PushDraft.Header("apns-push-type", "background")])
        #expect(
            String(decoding: push.draft.payload, as: UTF8.self)
                == #"{"aps":{"content-available":1}}"#)
        #expect(
            push.answer
                == SentPush.Answer(
                    status: 410, reason: "Unregistered",
                    inactiveAt: WallInstant(millisecondsSinceEpoch: 1_795_253_640_123)))
        #expect(
            push.token
                == SentPush.TokenCare(
                    registeredAt: WallInstant(secondsSinceEpoch: 1_795_253_641), isDeleted: true))
    }

    @Test(
        "what a line lacks is said",
        arguments: [
            ("{oops", "the line is not JSON"), ("[]", "the line is not a JSON object"),
            ("{\"token\":\"a\",\"payload\":{}}", "the line has no `time`"),
            ("{\"time\":\"soon\",\"token\":\"a\",\"payload\":{}}", "`time` is no time"),
            ("{\"time\":1,\"payload\":{}}", "the line has no `token`"),
            ("{\"time\":1,\"token\":\"a\"}", "the request document has no `payload`"),
        ])
    func faults(text: String, message: String) {
        let line = Self.reader.read(Array(text.utf8))
        #expect(line.push == nil)
        #expect(line.document.faults.map(\.message) == [message])
    }

    @Test("a log is one file of the report, with its faults by line")
    func run() async throws {
        let folder = try TestFolder()
        let log = try folder.write(
            "{\"time\":1,\"token\":\"a\",\"payload\":{}}\n\n{oops\n", to: "sent.jsonl")
        let run = try await FinishedRun([]) {
            $0.log = log
            $0.format = .json
        }
        #expect(try run.findings() == ["G001 3:1 "])
        #expect(try run.files().first?["kind"] as? String == "log")
        #expect(run.result.summary.filesWithoutPush == 0 && run.result.summary.pushes == 2)
        let missing = try await FinishedRun([]) { $0.log = folder.path + "/none" }
        #expect(missing.result.problems.map(\.kind) == [.missing])
    }
}
