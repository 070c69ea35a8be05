// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import WakeModel
import WakeSimulation

/// `--trace`: one JSON object a line for each event of each device under each way to send.
///
/// | Key | Value |
/// |---|---|
/// | `scenario`, `policy`, `device`, `profile` | what the line is about; devices count from 0 |
/// | `stream` | the stream that asked |
/// | `asked` | when, RFC 3339 in UTC |
/// | `push` | the push that carries it, counted from 0 per device and policy; `null` for none |
/// | `sent` | when that was sent; `null` for never |
/// | `merged_into` | the same number as `push` when another event had made that push, else `null` |
/// | `launched` | when the push reached the app; `null` when it did not, or without device model |
/// | `fate` | what became of the push (facts §6.3); `null` while open or without model |
/// | `discarded` | why nothing came of it: why no push was sent, or the fate of the push |
struct TraceLines {
    private let scenario: String
    private(set) var bytes: [UInt8] = []

    /// No lines yet.
    init(scenario: String) { self.scenario = scenario }

    /// Adds the lines of one device.
    mutating func append(_ trace: DeviceTrace) {
        for ask in trace.asks {
            let push = ask.push.map { trace.pushes[$0] }
            let report = push?.report
            let reached = report?.fate.reachedApp == true
            let label = report?.fate.label
            begin("scenario", quoted: scenario)
            add("policy", quoted: trace.sendingStrategy)
            add("device", "\(trace.device)")
            add("profile", quoted: trace.group)
            add("stream", quoted: ask.stream)
            add("asked", ask.at)
            add("push", ask.push.map(String.init))
            add("sent", push?.sentAt)
            add("merged_into", ask.isMerged ? ask.push.map(String.init) : nil)
            add("launched", reached ? report?.at : nil)
            add("fate", quoted: label)
            add("discarded", quoted: ask.end?.rawValue ?? (reached ? nil : label))
            bytes += "}\n".utf8
        }
    }

    private mutating func begin(_ key: String, quoted text: String) {
        bytes += "{\"\(key)\":\(Self.quoted(text))".utf8
    }

    private mutating func add(_ key: String, _ value: String?) {
        bytes += ",\"\(key)\":\(value ?? "null")".utf8
    }

    private mutating func add(_ key: String, quoted text: String?) {
        add(key, text.map(Self.quoted))
    }

    private mutating func add(_ key: String, _ instant: WallInstant?) {
        add(key, instant.map { "\"\($0)\"" })
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\u{0}"..."\u{1f}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
