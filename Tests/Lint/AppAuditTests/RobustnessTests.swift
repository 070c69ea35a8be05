// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadRules
import SeedKit
import Testing

@testable import AppAudit

/// Damaged files: a finding, a failure or nothing, and never a crash or a hang.
@Suite("Robustness")
struct RobustnessTests {
    private static let words = [
        "<", ">", "/", "<dict>", "</dict>", "<key>", "<![CDATA[", "-->", "&#x10ffff;", "{", "}",
        "(",
        ")", "\"", "\\(", "\"\"\"", "/*", "*/", "#if", "#", "func ", "if ", "guard ", "else",
        "switch ", "case ", "class A: B ", "init(", "\u{0}", "é", "$(A)", "=", ";", ",", "\\U",
    ]

    private static let seeds: [[UInt8]] = {
        let binary = try? PropertyListSerialization.data(
            fromPropertyList: ["a": [1, "é", ["b": true, "c": 1.5]], "d": Data([1, 2])],
            format: .binary, options: 0)
        return [
            Array(
                XML.dictionary([("a", XML.array("b", "c")), ("d", "<integer>1</integer>")]).utf8),
            Array(SampleProject.text().utf8), Array(binary ?? Data()),
            Array(
                """
                class A: UNNotificationServiceExtension {
                  func application(_ a: A, didReceiveRemoteNotification u: U,
                    fetchCompletionHandler done: @escaping (R) -> Void) {
                    guard let x = "\\(a("b"))" else { return }
                    if x { done(.a) } else { sync { r in switch r { case .b: done(.c) } } }
                  }
                }
                """.utf8),
        ]
    }()

    private static func mutate(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes.insert(contentsOf: Array(random.pick(words).utf8), at: place)
            case 1 where place < bytes.count:
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + 9))
            case 3: bytes += bytes[place..<min(bytes.count, place + 40)]
            default:
                if place < bytes.count {
                    bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
            }
        }
        return bytes
    }

    @Test("damaged files are read without a crash", arguments: 0..<24)
    func mutations(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for round in 0..<250 {
            let bytes = Self.mutate(Self.seeds[round % Self.seeds.count], &random)
            Self.readAll(bytes)
        }
    }

    /// Reads the same bytes as everything that they could be. What counts is that it ends.
    private static func readAll(_ bytes: [UInt8]) {
        if let list = try? PropertyList.readProperties(bytes, file: "f"),
            let project = try? XcodeProject(list, file: "f", folder: "/nonexistent", name: "A")
        {
            let files = SettingsFiles { _ in bytes }
            for target in project.targets {
                for name in project.configurations(of: target) {
                    let settings = project.settings(of: target, in: name, files: files)
                    _ = settings.text("PRODUCT_BUNDLE_IDENTIFIER")
                }
                _ = project.sources(of: target, tree: FileTree())
            }
        }
        let text = SourceText(bytes, path: "f")
        var constants = SourceConstants()
        constants.add(text)
        let observations = SourceReader.observations(in: text, constants)
        #expect(observations.allSatisfy { $0.place.offset <= bytes.count })
        #expect(CodeSignature.entitlements(in: bytes).map { $0.upperBound <= bytes.count } ?? true)
    }

    /// Texts of which a careless reader makes a square, or a deep stack.
    @Test(
        "long and deep texts end soon",
        arguments: [
            "{", "(", "(]", "class A ", "func f(", "func f() {", "{ a in ", "\"\\(", "\"", "/*",
            "#if ",
            "if a { ", "guard a else {", "switch a { case b: ", "init(", "f({},", "\\(",
            "x.sync { done",
            "let a = \"b\"; ", "registerForRemoteNotifications() ", "a ? b : ", "<dict>", "<!--",
            "&",
        ])
    func longTexts(part: String) {
        let count = 60_000 / part.utf8.count
        let handler =
            "func application(_ a: A, didReceiveRemoteNotification u: U, "
            + "fetchCompletionHandler done: @escaping (R) -> Void) { "
        for prefix in ["", handler, "<plist>"] {
            Self.readAll(Array((prefix + String(repeating: part, count: count)).utf8))
        }
    }
}
