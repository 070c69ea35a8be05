// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadRules
import Testing
import WakeModel

@testable import PayloadLint

/// A temporary folder that is gone with the object.
final class TestFolder: Sendable {
    /// From the root, without symbolic links.
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "pl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.resolvingSymlinksInPath().path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file, and the folders it needs, and returns its path.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try write(Array(text.utf8), to: name)
    }

    @discardableResult
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = URL(filePath: path).appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
        return file.path
    }

    func text(of name: String) throws -> String {
        try String(contentsOfFile: path + "/" + name, encoding: .utf8)
    }
}

/// A run to its end: what it wrote, and what came of it.
struct FinishedRun {
    /// Collects what a run writes. Used by one task.
    private final class Taker {
        var report = ""
        var remarks: [String] = []
    }

    let report: String
    let remarks: [String]
    let result: LintResult

    /// Runs with settings that nothing on the machine can change.
    init(_ paths: [String], _ change: (inout LintOptions) -> Void = { _ in }) async throws {
        var options = LintOptions()
        options.paths = paths
        options.settings = .none
        options.assumptions.now = WallInstant(secondsSinceEpoch: 1_790_000_000)
        options.workers = 2
        change(&options)
        let taker = Taker()
        result = try await LintRun(options).run(
            LintOutput(
                write: { taker.report += $0 }, remark: { taker.remarks.append($0) }))
        report = taker.report
        remarks = taker.remarks
    }

    /// Runs over a file of its own with some rules, for a report in JSON. `others` are the files
    /// beside it.
    init(
        of text: String, named name: String, rules: String, others: [String: String] = [:],
        _ change: (inout LintOptions) -> Void = { _ in }
    ) async throws {
        let folder = try TestFolder()
        for (name, text) in others { try folder.write(text, to: name) }
        let path = try folder.write(text, to: name)
        try await self.init([path]) {
            $0.format = .json
            $0.selected = try? .only(rules)
            change(&$0)
        }
        withExtendedLifetime(folder) {}
    }

    /// The report as a JSON object.
    func json() throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(report.utf8)) as? [String: Any],
            "no JSON object: \(report)")
    }

    /// The files of a JSON report.
    func files() throws -> [[String: Any]] { try #require(try json()["files"] as? [[String: Any]]) }

    /// The findings of the only file of a JSON report, as `rule line:column pointer`.
    func findings() throws -> [String] {
        let file = try #require(try files().first)
        let findings = try #require(file["diagnostics"] as? [[String: Any]])
        return findings.map { finding in
            "\(finding["rule"] ?? "") \(finding["line"] ?? ""):\(finding["column"] ?? "") "
                + "\(finding["pointer"] ?? "")"
        }
    }
}

extension RuleSelection {
    /// Rules that the tests of this room lean on, so that new rules do not change what they see.
    static func only(_ rules: String) throws -> RuleSelection { try RuleSelection([rules]) }
}

/// A request document with a background push, in one line of JSON.
func request(_ payload: String) -> String {
    "{\"headers\":{\"apns-push-type\":\"background\"},\"payload\":\(payload)}"
}
