// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// The keys that Apple defines in `aps` (facts §5.3; Apple, "Generating a remote notification" and
/// the pages of the push types).
enum APSKey: UInt8, CaseIterable, Sendable {
    case alert
    case badge
    case sound
    case threadID
    case category
    case contentAvailable
    case mutableContent
    case targetContentID
    case interruptionLevel
    case relevanceScore
    case filterCriteria
    case timestamp
    case event
    case contentState
    case staleDate
    case dismissalDate
    case attributesType
    case attributes
    case inputPushChannel
    case inputPushToken
    case contentChanged
    case pttPushType

    /// The name of the key.
    var name: StaticString {
        switch self {
        case .alert: "alert"
        case .badge: "badge"
        case .sound: "sound"
        case .threadID: "thread-id"
        case .category: "category"
        case .contentAvailable: "content-available"
        case .mutableContent: "mutable-content"
        case .targetContentID: "target-content-id"
        case .interruptionLevel: "interruption-level"
        case .relevanceScore: "relevance-score"
        case .filterCriteria: "filter-criteria"
        case .timestamp: "timestamp"
        case .event: "event"
        case .contentState: "content-state"
        case .staleDate: "stale-date"
        case .dismissalDate: "dismissal-date"
        case .attributesType: "attributes-type"
        case .attributes: "attributes"
        case .inputPushChannel: "input-push-channel"
        case .inputPushToken: "input-push-token"
        case .contentChanged: "content-changed"
        case .pttPushType: "ptt-push-type"
        }
    }

    /// The key with exactly this name.
    static func named(_ key: Int, in document: JSONDocument) -> APSKey? {
        guard !document.isEscaped(key) else {
            return allCases.first { document.hasText(key, $0.name) }
        }
        let byteCount = document.content(key).count
        guard byteCount < firstOfLength.count - 1 else { return nil }
        for index in firstOfLength[byteCount]..<firstOfLength[byteCount + 1]
        where document.hasText(key, byLength[index].name) {
            return byLength[index]
        }
        return nil
    }

    /// All keys, the shortest first.
    private static let byLength: [APSKey] = allCases.sorted {
        $0.name.utf8CodeUnitCount < $1.name.utf8CodeUnitCount
    }

    /// For each length in bytes, the number of shorter keys; a last entry ends the greatest length.
    private static let firstOfLength: [Int] = {
        let lengths = byLength.map(\.name.utf8CodeUnitCount)
        return (0...(lengths.max() ?? 0) + 1).map { length in lengths.count { $0 < length } }
    }()
}

/// A set of keys in `aps`.
struct APSKeySet: OptionSet, Sendable {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }
    init(_ key: APSKey) { rawValue = 1 << key.rawValue }

    func contains(_ key: APSKey) -> Bool { contains(APSKeySet(key)) }
}
