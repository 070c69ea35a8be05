// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// A JSON Schema (draft 2020-12, as OpenAPI 3.1 has it), written with few words.
struct Schema: Sendable {
    /// A member of an object.
    struct Member: Sendable {
        let name: String
        let schema: Schema
        let isRequired: Bool
    }

    let json: JSONValue

    /// A text; `pattern` is a regular expression of ECMA-262.
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

    /// One of a few words.
    static func words(_ words: [String], _ description: String? = nil) -> Schema {
        make("string", description, [("enum", .array(words.map { .string($0) }))])
    }

    /// One of the words of an enumeration.
    static func words<Word: RawRepresentable<String> & CaseIterable>(
        of type: Word.Type, _ description: String? = nil
    ) -> Schema {
        words(type.allCases.map(\.rawValue), description)
    }

    /// A whole number.
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

    /// One of a few whole numbers.
    static func choice(_ numbers: [Int64], _ description: String? = nil) -> Schema {
        make("integer", description, [("enum", .array(numbers.map { .integer($0) }))])
    }

    /// A whole number that counts something.
    static func count(_ description: String? = nil) -> Schema {
        make("integer", description, [("minimum", .integer(0))])
    }

    /// A whole number that begins with the time, and so needs 64 bits.
    static func sequenceNumber(_ description: String) -> Schema {
        make("integer", description, [("minimum", .integer(0)), ("format", .string("int64"))])
    }

    /// A number with a fraction.
    static func number(_ description: String? = nil) -> Schema { make("number", description, []) }

    static func boolean(_ description: String? = nil) -> Schema {
        make("boolean", description, [])
    }

    /// A point of time of RFC 3339, in UTC with milliseconds.
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

    /// What the members of an object must fulfil together.
    enum Rule: Sendable {
        /// One of them is there, and only one.
        case exactlyOne([String])
        /// One of them is there, or more.
        case atLeastOne([Member])
        /// They are not there together.
        case notBoth(String, String)
        /// The first is there only with the second.
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

    /// An object with these members and no others. A variant says more of some members, where its
    /// first member is as it says there.
    ///
    /// Variants are conditions and not alternatives: generated clients make a type of its own of
    /// each alternative, and of an object with conditions one. Each is the `else` of the one
    /// before: side by side, readers that multiply conditions out have twice the cases with each.
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

    /// One condition with all variants; none where there is no variant.
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

    /// An object whose members all look alike, up to so many of them.
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

    /// A bundle id, which has none of the suffixes of topics.
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

    /// One of several schemas.
    static func oneOf(_ schemas: [Schema], _ description: String) -> Schema {
        Schema(
            json: .object([
                ("description", .string(description)),
                ("oneOf", .array(schemas.map(\.json))),
            ]))
    }

    /// What is meant to be like the schema, and is taken whatever it is.
    static func meant(_ schema: Schema, _ description: String) -> Schema {
        Schema(
            json: .object([
                ("description", .string(description)),
                ("anyOf", .array([schema.json, .object([])])),
            ]))
    }

    /// A schema that has a name of its own.
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
