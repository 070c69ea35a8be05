// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// A JSON Schema (draft 2020-12, the dialect of OpenAPI 3.1).
struct Schema: Sendable {
    /// A member of an object.
    struct Member: Sendable {
        let name: String
        let schema: Schema
        let isRequired: Bool
    }

    let json: JSONValue

    /// A string; `pattern` is a regular expression of ECMA-262.
    static func string(
        _ description: String? = nil, format: String? = nil, pattern: String? = nil,
        length: ClosedRange<Int>? = nil, example: String? = nil
    ) -> Schema {
        make(
            "string", description,
            [
                ("format", format.map { .string($0) }),
                ("pattern", pattern.map { .string($0) }),
                ("minLength", length.map { .integer(Int64($0.lowerBound)) }),
                ("maxLength", length.map { .integer(Int64($0.upperBound)) }),
                ("examples", example.map { .array([.string($0)]) }),
            ])
    }

    /// One of several strings.
    static func words(_ words: [String], _ description: String? = nil) -> Schema {
        make("string", description, [("enum", .array(words.map { .string($0) }))])
    }

    /// One of the raw values of an enumeration.
    static func words<Word: RawRepresentable<String> & CaseIterable>(
        of type: Word.Type, _ description: String? = nil
    ) -> Schema {
        words(type.allCases.map(\.rawValue), description)
    }

    /// An integer.
    static func integer(
        _ description: String? = nil, in range: ClosedRange<Int64>? = nil
    ) -> Schema {
        make(
            "integer", description,
            [
                ("minimum", range.map { .integer($0.lowerBound) }),
                ("maximum", range.map { .integer($0.upperBound) }),
            ])
    }

    /// One of several integers.
    static func choice(_ numbers: [Int64], _ description: String? = nil) -> Schema {
        make("integer", description, [("enum", .array(numbers.map { .integer($0) }))])
    }

    /// An integer from 0.
    static func count(_ description: String? = nil) -> Schema {
        make("integer", description, [("minimum", .integer(0))])
    }

    /// An integer from 0 that needs 64 bits, because its high bits are a time.
    static func sequenceNumber(_ description: String) -> Schema {
        make("integer", description, [("minimum", .integer(0)), ("format", .string("int64"))])
    }

    /// A number that may have a fraction.
    static func number(_ description: String? = nil) -> Schema { make("number", description, []) }

    static func boolean(_ description: String? = nil) -> Schema {
        make("boolean", description, [])
    }

    /// A time (RFC 3339), in UTC with milliseconds.
    static func instant(_ description: String? = nil) -> Schema {
        string(description, format: "date-time", example: "2026-11-21T09:34:00.000Z")
    }

    static func array(
        of element: Schema, _ description: String? = nil, count: ClosedRange<Int>? = nil
    ) -> Schema {
        make(
            "array", description,
            [
                ("items", element.json),
                ("minItems", count.map { .integer(Int64($0.lowerBound)) }),
                ("maxItems", count.map { .integer(Int64($0.upperBound)) }),
            ])
    }

    /// A condition on several members of an object.
    enum Rule: Sendable {
        /// Exactly one of them is present.
        case exactlyOne([String])
        /// At least one of them is present.
        case atLeastOne([Member])
        /// They are not both present.
        case notBoth(String, String)
        /// The first requires the second.
        case needs(String, String)

        fileprivate var json: JSONValue {
            func required(_ names: String...) -> JSONValue {
                .object([("required", .array(names.map { .string($0) }))])
            }
            return switch self {
            case .exactlyOne(let names):
                .object([("oneOf", .array(names.map { required($0) }))])
            case .atLeastOne(let members):
                .object([
                    (
                        "anyOf",
                        .array(
                            members.map { member in
                                .object([
                                    ("required", .array([.string(member.name)])),
                                    (
                                        "properties",
                                        .object([(member.name, member.schema.json)])
                                    ),
                                ])
                            })
                    )
                ])
            case .notBoth(let one, let other): .object([("not", required(one, other))])
            case .needs(let one, let other):
                .object([
                    ("dependentRequired", .object([(one, .array([.string(other)]))]))
                ])
            }
        }
    }

    /// An object with these members and no others. A variant constrains some members further; it
    /// applies to objects whose first member of the variant matches its schema there.
    ///
    /// Variants are conditions instead of alternatives, because generated clients have a separate
    /// type for each alternative, but one type for an object with conditions. Each condition is the
    /// `else` of the previous one, because tools that expand independent conditions get twice the
    /// number of cases for each.
    static func object(
        _ members: [Member], _ description: String? = nil, rules: [Rule] = [],
        variants: [[Member]] = []
    ) -> Schema {
        let required = members.filter(\.isRequired)
        return make(
            "object", description,
            [
                ("properties", .object(members.map { ($0.name, $0.schema.json) })),
                (
                    "required",
                    required.isEmpty ? nil : .array(required.map { .string($0.name) })
                ),
                ("additionalProperties", .boolean(false)),
                (
                    "allOf",
                    rules.isEmpty && variants.isEmpty
                        ? nil : .array(conditions(variants[...]) + rules.map(\.json))
                ),
            ])
    }

    /// One condition with all variants; empty if there are none.
    private static func conditions(_ variants: ArraySlice<[Member]>) -> [JSONValue] {
        guard let variant = variants.first else { return [] }
        func part(_ members: ArraySlice<Member>) -> JSONValue {
            let required = members.filter(\.isRequired)
            return .object([
                ("properties", .object(members.map { ($0.name, $0.schema.json) })),
                (
                    "required",
                    required.isEmpty ? nil : .array(required.map { .string($0.name) })
                ),
            ])
        }
        return [
            .object([
                ("if", part(variant.prefix(1))), ("then", part(variant.dropFirst())),
                ("else", conditions(variants.dropFirst()).first),
            ])
        ]
    }

    /// An object with any members.
    static func anyObject(_ description: String? = nil) -> Schema {
        make("object", description, [])
    }

    /// An object whose members all have the same schema, with at most `count` members.
    static func map(
        of value: Schema, _ description: String? = nil, count: Int? = nil
    ) -> Schema {
        make(
            "object", description,
            [
                ("additionalProperties", value.json),
                ("maxProperties", count.map { .integer(Int64($0)) }),
            ])
    }

    /// The value `true`.
    static let onlyTrue = Schema(json: .object([("const", .boolean(true))]))

    /// The value `null`.
    static let null = Schema(json: .object([("type", .string("null"))]))

    /// No value: a member that must not be there.
    static let nothing = Schema(json: .object([("not", .object([]))]))

    /// A bundle id without the suffix of a topic.
    static func bundleID(_ description: String? = nil) -> Schema {
        Schema(
            json: .object([
                ("type", .string("string")), ("description", description.map { .string($0) }),
                ("pattern", .string("^[A-Za-z0-9._-]+$")), ("minLength", .integer(1)),
                ("maxLength", .integer(Int64(BundleID.maximumByteCount))),
                ("not", .object([("pattern", .string(topicSuffixes))])),
            ]))
    }

    private static let topicSuffixes: String = {
        let suffixes = PushType.all.map(\.topicSuffix).filter { !$0.isEmpty }
        return "(" + suffixes.map { $0.replacing(".", with: "\\.") }.joined(separator: "|") + ")$"
    }()

    /// A value that matches exactly one of the schemas.
    static func oneOf(_ schemas: [Schema], _ description: String) -> Schema {
        Schema(
            json: .object([
                ("description", .string(description)),
                ("oneOf", .array(schemas.map(\.json))),
            ]))
    }

    /// A value that should match the schema; other values are accepted too.
    static func meant(_ schema: Schema, _ description: String) -> Schema {
        Schema(
            json: .object([
                ("description", .string(description)),
                ("anyOf", .array([schema.json, .object([])])),
            ]))
    }

    /// A reference to a named schema.
    static func named(_ component: Component) -> Schema {
        Schema(json: .object([("$ref", .string("#/components/schemas/\(component.rawValue)"))]))
    }

    private static func make(
        _ type: String, _ description: String?, _ members: [(String, JSONValue?)]
    ) -> Schema {
        Schema(
            json: .object(
                [("type", .string(type)), ("description", description.map { .string($0) })]
                    + members))
    }
}

extension Schema.Member {
    static func required(_ name: String, _ schema: Schema) -> Schema.Member {
        Schema.Member(name: name, schema: schema, isRequired: true)
    }

    static func optional(_ name: String, _ schema: Schema) -> Schema.Member {
        Schema.Member(name: name, schema: schema, isRequired: false)
    }
}
