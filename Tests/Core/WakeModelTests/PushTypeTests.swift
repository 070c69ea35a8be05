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
        ("pushtotalk", ".voip-ptt", [10], false, 4096),
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

    @Test("there is a kind for each type, with priorities that Apple allows and the right default")
    func wakeKinds() {
        #expect(
            Set(WakeKind.allCases.map(\.pushType.rawValue)) == Set(PushType.all.map(\.rawValue)))
        #expect(WakeKind.background.allowedPriorities == [.powerConsiderate])
        #expect(WakeKind.voip.allowedPriorities == [.immediate])
        #expect(WakeKind.pushtotalk.allowedPriorities == [.immediate])
        for kind in WakeKind.allCases {
            #expect(kind.description == kind.rawValue)
            #expect(kind.pushType.rawValue == kind.rawValue)
            #expect(kind.allowedPriorities.contains(kind.defaultPriority))
            #expect(Set(kind.pushType.allowedPriorities).isSuperset(of: kind.allowedPriorities))
            #expect(kind.isImmediate == (kind == .voip || kind == .pushtotalk))
            #expect(!kind.isImmediate || kind.lifetimeSeconds == 0)
        }
        #expect(
            WakeKind.allCases.filter { $0.discipline != .plain } == [.background, .voip])
    }

    @Test("what the user would see, hear or answer twice is not sent twice")
    func repetition() throws {
        let id = try CollapseID("score")
        #expect(
            WakeKind.allCases.filter { !$0.mayRepeat(collapseID: nil) }
                == [.voip, .alert, .pushtotalk])
        #expect(WakeKind.allCases.filter { !$0.mayRepeat(collapseID: id) } == [.voip, .pushtotalk])
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
