// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@Suite("Push types")
struct PushTypeTests {
    /// Facts §2.3, row by row: value, topic suffix, priorities, token only, body limit.
    static let table: [(String, String, [UInt8], Bool, Int)] = [
        ("alert", "", [10, 5, 1], false, 4096),
        ("background", "", [5], false, 4096),
        ("voip", ".voip", [10, 5, 1], false, 5120),
        ("complication", ".complication", [10, 5, 1], false, 4096),
        ("fileprovider", ".pushkit.fileprovider", [10, 5, 1], true, 4096),
        ("mdm", "", [10, 5, 1], false, 4096),
        ("location", ".location-query", [10, 5], true, 4096),
        ("liveactivity", ".push-type.liveactivity", [10, 5], true, 4096),
        ("pushtotalk", ".voip-ptt", [10], true, 4096),
        ("widgets", ".push-type.widgets", [10, 5, 1], true, 4096),
        ("controls", ".push-type.controls", [10, 5, 1], true, 4096),
    ]

    @Test("the list is that of facts §2.3, in its order")
    func complete() {
        #expect(PushType.all.map(\.rawValue) == Self.table.map(\.0))
    }

    @Test(
        "each type has the suffix, priorities, authentication and size of its row", arguments: table
    )
    func row(value: String, suffix: String, priorities: [UInt8], tokenOnly: Bool, limit: Int) {
        let type = PushType(rawValue: value)
        #expect(type.isKnown)
        #expect(type.topicSuffix == suffix)
        #expect(type.allowedPriorities.map(\.rawValue) == priorities)
        #expect(type.requiresProviderToken == tokenOnly)
        #expect(type.maximumPayloadBytes == limit)
        #expect(type.description == value)
    }

    @Test("a type that Apple adds later has no suffix and the general rules")
    func unknownType() {
        let type = PushType(rawValue: "telepathy")
        #expect(!type.isKnown)
        #expect(type.topicSuffix.isEmpty)
        #expect(type.allowedPriorities == Priority.allCases)
        #expect(type.maximumPayloadBytes == 4096)
        #expect(!type.requiresProviderToken)
    }

    @Test("the two kinds of wake are pushes of their type with their one priority")
    func wakeKinds() {
        #expect(WakeKind.background.pushType == .background)
        #expect(WakeKind.background.priority == .powerConsiderate)
        #expect(WakeKind.voip.pushType == .voip)
        #expect(WakeKind.voip.priority == .immediate)
        for kind in WakeKind.allCases {
            #expect(kind.pushType.allowedPriorities.contains(kind.priority))
            #expect(kind.description == kind.rawValue)
        }
    }
}

@Suite("Environment")
struct APNsEnvironmentTests {
    @Test("each has Apple's host, and the other one is the other")
    func hosts() {
        #expect(APNsEnvironment.production.host == "api.push.apple.com")
        #expect(APNsEnvironment.sandbox.host == "api.sandbox.push.apple.com")
        #expect(APNsEnvironment.production.other == .sandbox)
        #expect(APNsEnvironment.sandbox.other == .production)
        #expect(APNsEnvironment(rawValue: "sandbox")?.description == "sandbox")
    }
}
