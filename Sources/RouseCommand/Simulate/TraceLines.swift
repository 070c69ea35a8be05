// SPDX-License-Identifier: Apache-2.0

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
/// | `fate` | what became of the push (reference §6.3); `null` while open or without model |
/// | `discarded` | why nothing came of it: why no push was sent, or the fate of the push |
struct TraceLines {
    private let scenario: String
    private(set) var bytes: [UInt8] = []

    /// No lines yet.
    init(scenario: String) { self.scenario = scenario }

    /// Adds the lines of one device.
    mutating func append(_ trace: DeviceTrace) {
        let head =
            "{\"scenario\":\(Self.quoted(scenario)),\"policy\":\(Self.quoted(trace.contender)),"
            + "\"device\":\(trace.device),\"profile\":\(Self.quoted(trace.group)),"
        for ask in trace.asks {
            let push = ask.push.map { trace.pushes[$0] }
            let number = ask.push.map(String.init) ?? "null"
            let fate = push?.report?.fate
            let reached = fate?.reachedApp == true
            let discarded = ask.end?.rawValue ?? (reached ? nil : fate?.label)
            bytes +=
                (head + "\"stream\":\(Self.quoted(ask.stream)),\"asked\":\"\(ask.at)\","
                + "\"push\":\(number),\"sent\":\(Self.quoted(push?.sentAt)),"
                + "\"merged_into\":\(ask.isMerged ? number : "null"),"
                + "\"launched\":\(Self.quoted(reached ? push?.report?.at : nil)),"
                + "\"fate\":\(Self.quoted(fate?.label)),"
                + "\"discarded\":\(Self.quoted(discarded))}\n").utf8
        }
    }

    private static func quoted(_ instant: WallInstant?) -> String {
        instant.map { "\"\($0)\"" } ?? "null"
    }

    private static func quoted(_ text: String?) -> String {
        guard let text else { return "null" }
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
