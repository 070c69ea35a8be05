// SPDX-License-Identifier: Apache-2.0

/// The keys that Apple defines inside `aps` (reference §5.3; Apple, "Generating a remote
/// notification" and the pages of the push types).
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

    /// The key as it is written.
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

    /// The key that is written exactly like this one of a document.
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

    /// For each length in bytes, how many keys are shorter; one more entry closes the last length.
    private static let firstOfLength: [Int] = {
        let lengths = byLength.map(\.name.utf8CodeUnitCount)
        return (0...(lengths.max() ?? 0) + 1).map { length in lengths.count { $0 < length } }
    }()
}

/// Some of the keys inside `aps`.
struct APSKeySet: OptionSet, Sendable {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }
    init(_ key: APSKey) { rawValue = 1 << key.rawValue }

    func contains(_ key: APSKey) -> Bool { contains(APSKeySet(key)) }
}

extension APSKey {
    /// What the value of a key must be.
    enum Shape {
        case text
        case dictionary
        case alert
        case sound
        case number
        case boolean
        case badge
        case unitInterval
        case flag
        case one
        case oneOf([StaticString])
    }

    /// What Apple's table asks of this key's value. The values of Live Activity and widget keys are
    /// for the rules of those push types; here stands their JSON type.
    var shape: Shape {
        switch self {
        case .alert: .alert
        case .sound: .sound
        case .badge: .badge
        case .threadID, .category, .targetContentID, .filterCriteria, .event, .attributesType,
            .inputPushChannel, .pttPushType:
            .text
        case .interruptionLevel: .oneOf(["passive", "active", "time-sensitive", "critical"])
        case .relevanceScore: .unitInterval
        case .contentAvailable, .timestamp, .staleDate, .dismissalDate: .number
        case .mutableContent: .flag
        case .inputPushToken: .one
        case .contentState, .attributes: .dictionary
        case .contentChanged: .boolean
        }
    }
}

extension APSKey.Shape {
    /// The shape as a noun: "a string".
    var noun: String {
        switch self {
        case .text: "a string"
        case .dictionary: "an object"
        case .alert: "a string or an object"
        case .sound:
            "a string, or an object with a `name`, `critical` 0 or 1 and a `volume` from 0 to 1"
        case .number: "a number"
        case .boolean: "true or false"
        case .badge: "an integer of 0 or more"
        case .unitInterval: "a number from 0 to 1"
        case .flag: "0 or 1"
        case .one: "1"
        case .oneOf(let choices):
            "one of " + choices.map { "\"\($0)\"" }.joined(separator: ", ")
        }
    }

    /// Whether a value fits.
    func fits(_ value: Int, in document: JSONDocument) -> Bool {
        let kind = document.kind(value)
        switch self {
        case .text: return kind == .string
        case .dictionary: return kind == .object
        case .alert: return kind == .string || kind == .object
        case .sound: return kind == .string || isCriticalSound(value, in: document)
        case .number: return kind == .number
        case .boolean: return kind == .trueLiteral || kind == .falseLiteral
        case .badge:
            return kind == .number && !document.nodes[value].traits.contains(.notInteger)
                && document.literal(value).first != UInt8(ascii: "-")
        case .unitInterval: return document.double(value).map((0.0...1.0).contains) ?? false
        case .flag: return document.isNumber(value, "0") || document.isNumber(value, "1")
        case .one: return document.isNumber(value, "1")
        case .oneOf(let choices):
            return kind == .string && choices.contains { document.hasText(value, $0) }
        }
    }

    private func isCriticalSound(_ value: Int, in document: JSONDocument) -> Bool {
        guard document.kind(value) == .object else { return false }
        for member in document.members(of: value) {
            let shape: APSKey.Shape
            if document.hasText(member.key, "critical") {
                shape = .flag
            } else if document.hasText(member.key, "name") {
                shape = .text
            } else if document.hasText(member.key, "volume") {
                shape = .unitInterval
            } else {
                continue
            }
            guard shape.fits(member.value, in: document) else { return false }
        }
        return true
    }
}
