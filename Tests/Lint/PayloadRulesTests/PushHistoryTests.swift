// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing
import WakeModel

@Suite("Push history")
struct PushHistoryTests {
    @Test(
        "finds what the last push breaks, and nothing in what keeps to the rule",
        arguments: HistoryCase.all)
    func historyCase(_ example: HistoryCase) throws {
        var history = PushHistory()
        var found: [[Diagnostic]] = []
        for push in example.pushes {
            found.append(history.examine(push).filter { $0.rule == example.rule })
        }
        let last = try #require(found.last)
        #expect(last.isEmpty != example.isFound)
        #expect(found.dropLast().allSatisfy { $0.isEmpty })
    }

    @Test("more than twelve background pushes an hour are an error")
    func manyBackgroundPushes() {
        var history = PushHistory()
        let severities = (0..<13).map { number in
            history.examine(HistoryCase.push(.background, at: number * 60))
                .first { $0.rule == "BG020" }?.severity
        }
        #expect(severities[2] == nil)
        #expect(severities[3...11].allSatisfy { $0 == .warning })
        #expect(severities[12] == .error)
    }

    @Test("limits can be set")
    func limits() {
        var configuration = WakeValidator.Configuration()
        configuration.thresholds.backgroundSpacingSeconds = 1200
        configuration.thresholds.backgroundPerHour = 1
        var history = PushHistory(configuration: configuration)
        _ = history.examine(HistoryCase.push(.background, at: 0))
        let found = history.examine(HistoryCase.push(.background, at: 1199))
        #expect(found.map(\.rule) == ["BG020", "BG021"])
    }

    @Test("a push out of order counts as sent with the one before it")
    func outOfOrder() throws {
        var history = PushHistory()
        _ = history.examine(HistoryCase.push(.background, at: 5000))
        let found = history.examine(HistoryCase.push(.background, at: 0))
        let first = try #require(found.first)
        #expect(first.message.contains("0 s ago"))
    }

    @Test("times at the ends of the range are taken", arguments: [Int64.min, 0, Int64.max])
    func extremeTimes(milliseconds: Int64) {
        var history = PushHistory()
        for type in PushType.all {
            for at in [milliseconds, Int64.min, Int64.max] {
                var push = HistoryCase.push(type, at: 0, token: ProviderTokens.good)
                push.at = WallInstant(millisecondsSinceEpoch: at)
                _ = history.examine(push)
            }
        }
        // It still judges: this one comes with the last of its type, at the end of all time.
        var push = HistoryCase.push(.background, at: 0, token: ProviderTokens.good)
        push.at = WallInstant(millisecondsSinceEpoch: .max)
        #expect(history.examine(push).contains { $0.rule == "BG020" })
    }

    @Test("findings show neither payload nor device")
    func secretsStay() {
        var history = PushHistory()
        for second in Int64(0)..<20 {
            let push = HistoryCase.push(
                .background, at: second, device: "c0ffee",
                payload: #"{"aps":{"content-available":1},"v":"c0ffee"}"#)
            #expect(!"\(history.examine(push))".contains("c0ffee"))
        }
    }
}
