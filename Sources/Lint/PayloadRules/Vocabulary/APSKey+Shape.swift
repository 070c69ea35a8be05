// SPDX-License-Identifier: Apache-2.0

import StrictJSON

extension APSKey {
    /// The type and range of a value.
    enum Shape {
        case text
        case dictionary
        case textOrDictionary
        case list
        case sound
        case number
        case boolean
        case badge
        case unitInterval
        case flag
        /// A number, or `true` instead of 1.
        case numberForTrue
        case one
        case oneOf([StaticString])
    }

    /// The shape that Apple requires for this key's value (facts §5.3). The relevance score of a
    /// Live Activity may be any number.
    func shape(in type: PushTypeSet) -> Shape {
        switch self {
        case .alert: .textOrDictionary
        case .sound: .sound
        case .badge: .badge
        case .threadID, .category, .targetContentID, .filterCriteria, .event, .attributesType,
            .inputPushChannel, .pttPushType:
            .text
        case .interruptionLevel: .oneOf(["passive", "active", "time-sensitive", "critical"])
        case .relevanceScore: type == .liveactivity ? .number : .unitInterval
        case .contentAvailable: .numberForTrue
        case .timestamp, .staleDate, .dismissalDate: .number
        case .mutableContent: .flag
        case .inputPushToken: .one
        case .contentState, .attributes: .dictionary
        case .contentChanged: .boolean
        }
    }

    /// The keys that are for notifications and silent pushes, which PushKit ignores.
    static let withoutEffectInVoIP: [APSKey] = [
        .badge, .sound, .mutableContent, .contentAvailable, .alert, .interruptionLevel, .threadID,
        .category,
    ]

    /// Whether the system ignores this key for this push type, so that no rule checks its value:
    /// PushKit ignores the keys for notifications and silent pushes (rule VO009), and other
    /// pushes may have custom data with the names of Live Activity keys.
    func isIgnored(in type: PushTypeSet) -> Bool {
        switch self {
        case _ where Self.withoutEffectInVoIP.contains(self): type == .voip
        case .timestamp, .event, .contentState, .staleDate, .dismissalDate, .attributesType,
            .attributes:
            type != .liveactivity
        default: false
        }
    }

    /// The shapes of the members of this key's value, if it is one of Apple's objects: the alert
    /// dictionary (facts §5.4) and the sound dictionary.
    func parts(in type: PushTypeSet) -> [(name: StaticString, shape: Shape)] {
        switch self {
        case .alert: type == .liveactivity ? Self.activityAlertParts : Self.alertParts
        case .sound: Self.soundParts
        default: []
        }
    }

    private static let soundParts: [(name: StaticString, shape: Shape)] = [
        ("critical", .flag), ("name", .text), ("volume", .unitInterval),
    ]
    private static let alertParts: [(name: StaticString, shape: Shape)] = [
        ("title", .text), ("subtitle", .text), ("body", .text), ("launch-image", .text),
        ("title-loc-key", .text), ("subtitle-loc-key", .text), ("loc-key", .text),
        ("title-loc-args", .list), ("subtitle-loc-args", .list), ("loc-args", .list),
    ]
    /// Here title and body may be dictionaries with a `loc-key`, and the sound is a member.
    private static let activityAlertParts: [(name: StaticString, shape: Shape)] =
        [("title", .textOrDictionary), ("body", .textOrDictionary), ("sound", .sound)]
        + alertParts.dropFirst().filter { $0.name.description != "body" }

    /// Whether a key of an alert dictionary is one of Apple's.
    static func isOfAlert(_ key: Int, in document: JSONDocument) -> Bool {
        alertParts.contains { document.hasText(key, $0.name) }
            || retiredAlertParts.contains { document.hasText(key, $0) }
    }

    /// Members of an alert dictionary that Apple documented in the past.
    static let retiredAlertParts: [StaticString] = [
        "action-loc-key", "action", "summary-arg", "summary-arg-count", "url-args",
    ]
}

extension APSKey.Shape {
    /// The shape as a noun: "a string".
    var noun: String {
        switch self {
        case .text: "a string"
        case .dictionary: "an object"
        case .textOrDictionary: "a string or an object"
        case .list: "an array of strings"
        case .sound: "a string, or an object with `name`, `critical` and `volume`"
        case .number, .numberForTrue: "a number"
        case .boolean: "true or false"
        case .badge: "an integer of 0 or more"
        case .unitInterval: "a number from 0 to 1"
        case .flag: "0 or 1"
        case .one: "1"
        case .oneOf(let choices):
            "one of " + choices.map { "\"\($0)\"" }.joined(separator: ", ")
        }
    }

    /// Whether a value has this shape. The contents of objects and arrays are not checked.
    func fits(_ value: Int, in document: JSONDocument) -> Bool {
        let kind = document.kind(value)
        switch self {
        case .text: return kind == .string
        case .dictionary: return kind == .object
        case .textOrDictionary, .sound: return kind == .string || kind == .object
        case .list: return kind == .array
        case .number, .numberForTrue: return kind == .number
        case .boolean: return kind == .trueLiteral || kind == .falseLiteral
        case .badge:
            return document.double(value).map { $0 >= 0 && $0 == $0.rounded() } ?? false
        case .unitInterval: return document.double(value).map((0.0...1.0).contains) ?? false
        // By value, as in JSON Schema: 1.0 equals 1.
        case .flag: return document.double(value).map { $0 == 0 || $0 == 1 } ?? false
        case .one: return document.double(value) == 1
        case .oneOf(let choices):
            return kind == .string && choices.contains { document.hasText(value, $0) }
        }
    }

    /// The literal that was probably meant by an invalid value, if there is only one: the number in
    /// quotes, 1 for true, the correct spelling of a word.
    func intended(by value: Int, in document: JSONDocument) -> String? {
        let kind = document.kind(value)
        switch self {
        case .flag, .one, .number, .numberForTrue, .badge, .unitInterval:
            switch kind {
            case .trueLiteral where isFlag: return "1"
            case .falseLiteral where isFlag: return "0"
            case .string: return number(inText: document.text(value))
            default: return nil
            }
        case .boolean: return boolean(meantBy: value, in: document)
        case .text:
            let isInteger =
                kind == .number && !document.nodes[value].traits.contains(.notInteger)
            guard isInteger else { return nil }
            return "\"\(String(decoding: document.literal(value), as: UTF8.self))\""
        case .oneOf(let choices):
            guard kind == .string else { return nil }
            let letters = NearMiss.letters(document.text(value))
            return choices.first { NearMiss.letters(of: $0) == letters }.map { "\"\($0)\"" }
        case .dictionary, .textOrDictionary, .list, .sound: return nil
        }
    }

    /// Whether 1 means `true`.
    var isFlag: Bool {
        switch self {
        case .flag, .numberForTrue, .one: true
        default: false
        }
    }

    /// The content of a string, if it is a number of this shape.
    private func number(inText text: ArraySlice<UInt8>) -> String? {
        guard let scanned = try? JSONScanner.scan(Array(text)), scanned.kind(0) == .number,
            scanned.literal(0) == text, fits(0, in: scanned)
        else { return nil }
        return String(decoding: text, as: UTF8.self)
    }

    private func boolean(meantBy value: Int, in document: JSONDocument) -> String? {
        if document.isNumber(value, "1") { return "true" }
        if document.isNumber(value, "0") { return "false" }
        guard document.kind(value) == .string else { return nil }
        switch String(decoding: document.text(value), as: UTF8.self) {
        case "true", "1": return "true"
        case "false", "0": return "false"
        default: return nil
        }
    }
}
