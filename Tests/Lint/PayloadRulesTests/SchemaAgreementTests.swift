// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import Testing
import WakeModel

@testable import PayloadRules

/// The OpenAPI document promises that a payload of its schema is taken, and one against it refused.
/// Each key of Apple's has each type of value here, in each kind of push.
@Suite("What the document says of payloads is what the rules find")
struct SchemaAgreementTests {
    /// Values of every type, at both sides of every bound that a rule knows.
    private static let values: [String] =
        [
            "null", "true", "false", "0", "1", "1.0", "1e0", "2", "-1", "-0", "0.5", "1.5", "100",
            "99999999999", "100000000000", "1700000000", "\"\"", "\"1\"", "\"0.5\"", "\"true\"",
            "\"text\"", "\"start\"", "\"update\"", "\"end\"", "\"passive\"", "\"time-sensitive\"",
            "\"critical\"", "\"Critical\"", "[]", "[\"a\"]", "[1]", "[null]", "{}", "{\"a\":1}",
            "{\"loc-key\":\"a\"}",
        ]

    /// Objects that no rule finds an error in: the members of `aps`, and what stands beside it.
    private static func starts(of kind: WakeKind) -> [(aps: [String: String]?, beside: String)] {
        switch kind {
        case .background: [(["content-available": "1"], "")]
        case .voip: [([:], #""callUUID":"a""#)]
        case .alert:
            [(["alert": "\"a\"", "badge": "1"], ""), (["alert": "{\"title\":\"a\"}"], "")]
        case .liveactivity:
            [
                (["timestamp": "1700000000", "event": "\"update\"", "content-state": "{}"], ""),
                (["timestamp": "1700000000", "event": "\"end\""], ""),
                (
                    [
                        "timestamp": "1700000000", "event": "\"start\"", "content-state": "{}",
                        "attributes-type": "\"A\"", "attributes": "{}", "alert": "{}",
                    ], ""
                ),
            ]
        case .widgets, .controls: [(["content-changed": "true"], "")]
        case .mdm: [(nil, #""mdm":"a""#)]
        case .location, .complication, .fileprovider, .pushtotalk: [([:], "")]
        }
    }

    private static func payload(_ aps: String?, _ beside: String) -> String {
        let members = [aps.map { "\"aps\":\($0)" }, beside.isEmpty ? nil : beside]
        return "{" + members.compactMap(\.self).joined(separator: ",") + "}"
    }

    private static func object(_ members: [String: String]) -> String {
        "{" + members.sorted { $0.key < $1.key }.map { "\"\($0)\":\($1)" }.joined(separator: ",")
            + "}"
    }

    /// Payloads that differ in one place from one that is taken.
    private static func payloads(of kind: WakeKind) -> Set<String> {
        var payloads: Set<String> = []
        for (start, beside) in starts(of: kind) {
            payloads.insert(payload(start.map(object), beside))
            payloads.insert(payload(nil, beside))
            payloads.insert(payload(start.map(object), ""))
            for value in values {
                payloads.insert(payload(value, beside))
                payloads.insert(payload(start.map(object), "\"mdm\":\(value)"))
                payloads.insert(payload(start.map(object), "\"alert\":\(value)"))
            }
            guard let start else { continue }
            for name in APSKey.allCases.map({ "\($0.name)" }) + ["custom"] {
                var members = start
                members[name] = nil
                payloads.insert(payload(object(members), beside))
                for value in values {
                    members[name] = value
                    payloads.insert(payload(object(members), beside))
                }
            }
            for key in APSKey.allCases {
                let type = PushTypeSet(kind)
                let names = Set((key.parts(in: type) + key.parts(in: .alert)).map { "\($0.name)" })
                for name in names.union(["custom"]) {
                    for value in values {
                        var members = start
                        members["\(key.name)"] = "{\"\(name)\":\(value)}"
                        payloads.insert(payload(object(members), beside))
                    }
                }
            }
        }
        return payloads
    }

    @Test("Each value of each key is taken by both or by neither", arguments: WakeKind.allCases)
    func agreement(kind: WakeKind) throws {
        let schema = try SchemaReader(PayloadSchema.accepted(of: kind))
        let validator = WakeValidator()
        var counts = [true: 0, false: 0]
        for payload in Self.payloads(of: kind).sorted() {
            let bytes = Array(payload.utf8)
            let verdict = validator.validate(try request(kind, bytes), now: testNow)
            let isTaken = verdict.validWake != nil
            counts[isTaken, default: 0] += 1
            let isOfSchema = try schema.takes(JSONScanner.scan(bytes))
            let errors = verdict.diagnostics.filter { $0.severity == .error }.map(\.rule)
            #expect(isOfSchema == isTaken, "\(payload): \(errors)")
        }
        #expect((counts[true] ?? 0) > 1 && (counts[false] ?? 0) > 30, "\(counts)")
    }
}

/// Judges JSON by a schema, with those of JSON Schema's words that ``PayloadSchema`` uses.
private struct SchemaReader {
    private let schema: JSONDocument

    init(_ text: String) throws { schema = try JSONScanner.scan(Array(text.utf8)) }

    func takes(_ document: JSONDocument) throws -> Bool { try takes(document, 0, by: 0) }

    private func takes(_ json: JSONDocument, _ value: Int, by node: Int) throws -> Bool {
        for word in schema.members(of: node) {
            let rule = word.value
            let name = String(decoding: schema.text(word.key), as: UTF8.self)
            let number = json.double(value)
            let isFulfilled =
                switch name {
                case "description": true
                case "type": alternatives(rule).contains { isOfType(json, value, $0) }
                case "enum": schema.elements(of: rule).contains { isEqual(json, value, $0) }
                case "const": isEqual(json, value, rule)
                case "not": try !takes(json, value, by: rule)
                case "anyOf":
                    try schema.elements(of: rule).contains { try takes(json, value, by: $0) }
                case "minimum": try number.map { try $0 >= bound(rule) } ?? true
                case "maximum": try number.map { try $0 <= bound(rule) } ?? true
                case "exclusiveMaximum": try number.map { try $0 < bound(rule) } ?? true
                case "minLength":
                    try json.kind(value) != .string
                        || Double(json.text(value).count) >= bound(rule)
                case "items":
                    try json.kind(value) != .array
                        || json.elements(of: value).allSatisfy { try takes(json, $0, by: rule) }
                case "maxProperties":
                    try json.kind(value) != .object
                        || Double(json.childCount(of: value)) <= bound(rule)
                case "required":
                    json.kind(value) != .object
                        || schema.elements(of: rule).allSatisfy {
                            member(schema.text($0), of: value, in: json) != nil
                        }
                case "properties":
                    try json.kind(value) != .object
                        || schema.members(of: rule).allSatisfy { property in
                            let name = schema.text(property.key)
                            guard let value = member(name, of: value, in: json) else { return true }
                            return try takes(json, value, by: property.value)
                        }
                default: throw UnknownWord(name: name)
                }
            if !isFulfilled { return false }
        }
        return true
    }

    private struct UnknownWord: Error {
        let name: String
    }

    private func bound(_ rule: Int) throws -> Double { try #require(schema.double(rule)) }

    /// One word, or a list of them.
    private func alternatives(_ rule: Int) -> [String] {
        let words = schema.kind(rule) == .array ? schema.elements(of: rule) : [rule]
        return words.map { String(decoding: schema.text($0), as: UTF8.self) }
    }

    private func member(
        _ name: ArraySlice<UInt8>, of object: Int, in json: JSONDocument
    ) -> Int? {
        json.members(of: object).first { json.text($0.key) == name }?.value
    }

    private func isOfType(_ json: JSONDocument, _ value: Int, _ type: String) -> Bool {
        switch json.kind(value) {
        case .object: type == "object"
        case .array: type == "array"
        case .string: type == "string"
        case .number:
            type == "number"
                || type == "integer" && json.double(value).map { $0 == $0.rounded() } == true
        case .trueLiteral, .falseLiteral: type == "boolean"
        case .null: type == "null"
        case .key: false
        }
    }

    /// Of what a schema lists: no objects and arrays.
    private func isEqual(_ json: JSONDocument, _ value: Int, _ listed: Int) -> Bool {
        guard json.kind(value) == schema.kind(listed) else { return false }
        return switch json.kind(value) {
        case .string: json.text(value) == schema.text(listed)
        case .number: json.double(value) == schema.double(listed)
        default: true
        }
    }
}
