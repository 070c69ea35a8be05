// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@Suite("Broadcasts and channels")
struct BroadcastTests {
    private static let requestID = APNsID(high: 1, low: 2)

    @Test(
        "a channel's id is base64 of any size",
        arguments: ["dHN0LXNyY2gtY2hubA==", "a", "+/=-_", String(repeating: "A", count: 256)])
    func channelIDs(text: String) throws {
        #expect(try ChannelID(text).value == text)
    }

    @Test(
        "what is none is refused, in words",
        arguments: ["", " a", "a b", "a\r\nx: y", "ä", String(repeating: "A", count: 257)])
    func noChannelIDs(text: String) {
        let error = #expect(throws: InvalidField.self) { try ChannelID(text) }
        #expect(error?.field == "channel id")
        #expect(error?.remedy.isEmpty == false)
    }

    @Test("a storage has Apple's number, and no other number has one")
    func storage() {
        #expect(ChannelStorage.allCases.map(\.policy) == [0, 1])
        #expect(
            (-1...2).map { ChannelStorage(policy: $0) } == [nil, ChannelStorage.none, .latest, nil])
    }

    @Test("a broadcast has a payload of up to 5120 bytes, and priority 10 or 5")
    func broadcasts() throws {
        let (channel, app) = (try ChannelID("dHN0"), try BundleID("com.example.app"))
        func broadcast(_ count: Int, _ priority: Priority = .immediate) throws -> Broadcast {
            try Broadcast(
                to: channel, of: app, payload: Array(repeating: 0x20, count: count),
                priority: priority, requestID: Self.requestID)
        }
        #expect(try broadcast(5120).expiration == .immediately)
        #expect(try broadcast(1, .powerConsiderate).priority == .powerConsiderate)
        for (count, priority, field) in [
            (0, Priority.immediate, "payload"), (5121, .immediate, "payload"),
            (1, .powerFirst, "priority"),
        ] {
            let error = #expect(throws: InvalidField.self) { try broadcast(count, priority) }
            #expect(error?.field == field)
        }
        #expect("\(try broadcast(3))".contains("3 bytes"))
    }

    @Test("each reason of the broadcast API has advice, and those of pushes keep theirs")
    func reasons() throws {
        for entry in RejectionReason.channelTable {
            #expect(entry.reason.channelEntry == entry)
            #expect(entry.reason.entry?.status == entry.status, "\(entry.reason)")
            let rejection = ChannelRejection(status: entry.status, reason: entry.reason)
            #expect(rejection.meaning == entry.meaning && rejection.advice == entry.advice)
        }
        for entry in RejectionReason.table { #expect(entry.reason.entry == entry) }
        let unavailable = RejectionReason(rawValue: "Service Unavailable")
        #expect(unavailable.channelEntry?.reason == .serviceUnavailable)
        let new = ChannelRejection(status: 400, reason: RejectionReason(rawValue: "New"))
        #expect(new.meaning == "This reason is new to Rouse.")
        #expect(new.advice.retry == .afterFix)
        #expect(ChannelRejection(status: 502, reason: nil).meaning.contains("not APNs"))
    }

    @Test("no reason promises for a request about a channel what is done for queued pushes alone")
    func promises() {
        var reasons: [RejectionReason?] = [RejectionReason(rawValue: "New"), nil]
        for entry in RejectionReason.table + RejectionReason.channelTable {
            reasons.append(entry.reason)
        }
        for reason in reasons {
            for status in [400, 403, 404, 405, 410, 413, 429, 500, 502, 503] {
                let rejection = ChannelRejection(status: status, reason: reason)
                let words = rejection.meaning + " " + rejection.advice.remedy
                for promise in ["it is tried again", "the push goes out", "device token"] {
                    #expect(
                        !words.contains(promise), "\(status) \(reason?.rawValue ?? "-"): \(words)")
                }
                #expect(rejection.advice.deviceToken == .unaffected)
            }
        }
    }
}
