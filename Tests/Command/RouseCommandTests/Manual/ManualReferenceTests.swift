// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import Logging
import StoreSQLite
import Testing
import WakeModel

@testable import AdminAPI
@testable import RouseCommand

/// The manual's reference pages say what the code's own tables say (ROUSE_REGENERATE_GOLDEN=1
/// writes them anew).
///
/// One after the other, because several of them write to one page.
@Suite("Manual", .serialized)
struct ManualReferenceTests {
    private static let errors = ManualPage("errors.md")

    @Test("errors.md: problem codes")
    func problemCodes() throws {
        var table = ManualTable(["Code", "Status", "Meaning", "What to do"])
        for code in ProblemCode.allCases.sorted(by: { $0.rawValue < $1.rawValue }) {
            table.add(["`\(code.rawValue)`", "\(code.status)", code.meaning, code.remedy])
        }
        #expect(try Self.errors.hasPart("problem codes", table.text), ManualPage.isStale)
    }

    @Test("errors.md: exit codes")
    func exitCodes() throws {
        var table = ManualTable(["Exit code", "Meaning"])
        for status in ExitStatus.allCases { table.add(["\(status.rawValue)", status.meaning]) }
        #expect(try Self.errors.hasPart("exit codes", table.text), ManualPage.isStale)
    }

    @Test("errors.md: states of wakes")
    func wakeStates() throws {
        var table = ManualTable(["State", "An end", "Meaning"])
        for state in WakeState.allCases {
            table.add(["`\(state)`", state.isEnd ? "yes" : "no", state.meaning])
        }
        #expect(try Self.errors.hasPart("wake states", table.text), ManualPage.isStale)
    }

    @Test("errors.md: why a wake is not sent, or given up")
    func causes() throws {
        let moment = WallInstant(secondsSinceEpoch: 0)
        let suppressions: [WakeSuppression] = [
            .backgroundAppRefreshOff(until: moment), .tooManyCalls(until: moment),
            .deviceTokenDead(since: moment),
        ]
        var table = ManualTable(["Where", "Word", "Meaning"])
        for suppression in suppressions {
            let sentence = suppression.sentence.replacing("\(moment)", with: "…")
            table.add(["`suppression`", "`\(suppression.word)`", sentence])
        }
        for cause in FailureCause.allCases {
            table.add(["`cause`", "`\(cause.rawValue)`", cause.sentence])
        }
        #expect(try Self.errors.hasPart("causes", table.text), ManualPage.isStale)
    }

    @Test("apns-answers.md: Apple's reasons")
    func reasons() throws {
        #expect(
            try ManualPage("apns-answers.md").hasPart("reasons", APNsAnswersReference().markdown()),
            ManualPage.isStale)
    }

    @Test("apns-answers.md: the reasons of the broadcast API")
    func channelReasons() throws {
        var table = ManualTable(["Status", "Reason", "Meaning", "What you do"])
        let entries = RejectionReason.channelTable.sorted {
            ($0.status, $0.reason.rawValue) < ($1.status, $1.reason.rawValue)
        }
        for entry in entries {
            table.add([
                "\(entry.status)", "`\(entry.reason)`", entry.meaning, entry.advice.remedy,
            ])
        }
        #expect(
            try ManualPage("apns-answers.md").hasPart("channel reasons", table.text),
            ManualPage.isStale)
    }

    @Test("metrics.md: the table of metrics")
    func metrics() throws {
        var table = ManualTable(["Metric", "Kind", "Labels", "Meaning"])
        for metric in Metric.allCases.sorted(by: { $0.rawValue < $1.rawValue }) {
            table.add([
                "`\(metric.rawValue)`", metric.kind.rawValue,
                metric.labels.isEmpty
                    ? "–" : metric.labels.map { "`\($0)`" }.joined(separator: ", "),
                metric.help,
            ])
        }
        let seconds = Metric.dueLag.bounds.map { "\($0)" }.joined(separator: ", ")
        let rows = Metric.commitRows.bounds.map { "\(Int($0))" }.joined(separator: ", ")
        #expect(
            try ManualPage("metrics.md").hasPart(
                "metrics",
                table.text + "\nBuckets of seconds: \(seconds). Buckets of rows: \(rows).\n"),
            ManualPage.isStale)
    }

    @Test("configuration.md: every key")
    func configurationKeys() throws {
        #expect(
            try ManualPage("configuration.md").hasPart("keys", ConfigurationReference().markdown()),
            ManualPage.isStale)
    }

    @Test("operations.md: what a reload does not change")
    func restartKeys() throws {
        let started = ServeConfiguration()
        var new = started
        new.listen = .unixSocket(path: "rouse.sock")
        new.listener.connections += 1
        new.storePath = "other.sqlite"
        new.storeAcceptsLoss = true
        new.storeDurability = .system
        new.tls = .init(certificatePath: "c.pem", keyPath: "c.key")
        new.idempotencyHours += 1
        new.auditPath = "audit.jsonl"
        new.logLevel = .debug
        new.logFormat = .json
        let text = try ManualPage("operations.md").words
        let end = try #require(text.range(of: "need a restart; a reload"))
        let start = try #require(
            text[..<end.lowerBound].range(of: "the log says why.", options: .backwards))
        let told = text[start.upperBound..<end.lowerBound].matches(of: /`([a-z-]+)`/)
        #expect(
            Set(told.map { String($0.1) }) == Set(started.keysTakingRestart(for: new)))
    }

    @Test("pictures: the simulation of budget.md draws what is there")
    func picture() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../..").standardized
        let committed = root.appending(path: "Deploy/manual/pictures/wwdc-14-pushes.svg")
        let folder = try TestFolder()
        let drawn = folder.path + "/drawn.svg"
        let scenario = root.appending(path: "Deploy/scenarios/wwdc-14-pushes.yaml").path
        let result = try await Rouse.run(["simulate", scenario, "--svg", drawn])
        #expect(result.status == 0, "\(result.all)")
        let picture = try String(contentsOfFile: drawn, encoding: .utf8)
        if ProcessInfo.processInfo.environment["ROUSE_REGENERATE_GOLDEN"] == "1" {
            try picture.write(to: committed, atomically: true, encoding: .utf8)
        }
        #expect(
            try String(contentsOf: committed, encoding: .utf8) == picture,
            "Run the commands of budget.md and commit the pictures.")
    }

    @Test("configuration.md: every variable")
    func variables() throws {
        var table = ManualTable(["Variable", "Secret", "Meaning"])
        for variable in Variable.allCases {
            table.add([
                "`\(variable.rawValue)`", variable.isSecret ? "yes" : "no", variable.meaning,
            ])
        }
        let named = Set(Variable.allCases.map(\.rawValue))
        for key in OuterSettings.keys where !named.contains(key.variable) {
            table.add([
                "`\(key.variable)`", key.isSecret ? "yes" : "no", "Overrides `\(key.path)`.",
            ])
        }
        #expect(
            try ManualPage("configuration.md").hasPart("variables", table.text), ManualPage.isStale)
    }

    @Test("configuration.md: the variables that are not their keys in capitals")
    func shorterVariables() throws {
        let text = try ManualPage("configuration.md").words
        for key in OuterSettings.keys {
            let capitals = key.path.uppercased().replacing(/[-.]/, with: "_")
            guard key.variable != "ROUSE_" + capitals else { continue }
            #expect(text.contains("`\(key.variable)` (`\(key.path)`)"))
        }
    }
}
