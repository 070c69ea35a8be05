// SPDX-License-Identifier: Apache-2.0

/// A statement with the values of its parameters, in PostgreSQL's binary form.
package struct Query: Sendable {
    /// The statement.
    package let statement: Statement
    /// The values of all parameters, one behind the other.
    let bytes: [UInt8]
    /// Where each value ends in `bytes`; a negative number is NULL.
    let ends: [Int]

    /// Creates a query.
    package init(_ statement: Statement, _ parameters: Parameter...) {
        self.init(statement, parameters)
    }

    /// Creates a query.
    package init(_ statement: Statement, _ parameters: [Parameter]) {
        self.statement = statement
        var encoder = ParameterEncoder()
        encoder.bytes.reserveCapacity(parameters.reduce(0) { $0 + $1.byteCount })
        ends = parameters.map { encoder.append($0) ? encoder.bytes.count : -1 }
        bytes = encoder.bytes
    }

    /// Another statement with the parameters of a query.
    init(_ statement: Statement, of query: Query) {
        self.statement = statement
        bytes = query.bytes
        ends = query.ends
    }
}

/// The value of a parameter.
package enum Parameter: Sendable {
    /// NULL, of any type.
    case null
    /// `boolean`
    case bool(Bool)
    /// `smallint`
    case int2(Int16)
    /// `integer`
    case int4(Int32)
    /// `bigint`
    case int8(Int64)
    /// `bytea`
    case bytes([UInt8])
    /// `text`, which holds no zero byte.
    case text(String)
    /// `boolean[]`
    case bools([Bool])
    /// `smallint[]`
    case int2s([Int16])
    /// `integer[]`
    case int4s([Int32])
    /// `bigint[]`
    case int8s([Int64])
    /// `smallint[]` with NULL.
    case optionalInt2s([Int16?])
    /// `integer[]` with NULL.
    case optionalInt4s([Int32?])
    /// `bigint[]` with NULL.
    case optionalInt8s([Int64?])
    /// `bytea[]` with NULL.
    case bytesArray([[UInt8]?])
    /// `text[]` with NULL.
    case texts([String?])

    /// The bytes that the value takes, at least.
    fileprivate var byteCount: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int2: 2
        case .int4: 4
        case .int8: 8
        case .bytes(let bytes): bytes.count
        case .text(let text): text.utf8.count
        case .bools(let values): 20 + values.count * 5
        case .int2s(let values): 20 + values.count * 6
        case .int4s(let values): 20 + values.count * 8
        case .int8s(let values): 20 + values.count * 12
        case .optionalInt2s(let values): 20 + values.count * 6
        case .optionalInt4s(let values): 20 + values.count * 8
        case .optionalInt8s(let values): 20 + values.count * 12
        case .bytesArray(let values): values.reduce(20) { $0 + 4 + ($1?.count ?? 0) }
        case .texts(let values): values.reduce(20) { $0 + 4 + ($1?.utf8.count ?? 0) }
        }
    }
}

/// Writes values as PostgreSQL's binary format has them: integers in network order; an array as the
/// number of its dimensions, whether it has NULL, its elements' type, its length, its first index,
/// and each element behind its length.
private struct ParameterEncoder {
    var bytes: [UInt8] = []

    /// Appends a value. False for NULL.
    mutating func append(_ parameter: Parameter) -> Bool {
        switch parameter {
        case .null: return false
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .int2(let value): append(value)
        case .int4(let value): append(value)
        case .int8(let value): append(value)
        case .bytes(let value): bytes.append(contentsOf: value)
        case .text(let value): bytes.append(contentsOf: value.utf8)
        case .bools(let values):
            appendHeader(of: .bool, count: values.count, hasNull: false)
            for value in values {
                append(Int32(1))
                bytes.append(value ? 1 : 0)
            }
        case .int2s(let values): appendArray(values, of: .int2)
        case .int4s(let values): appendArray(values, of: .int4)
        case .int8s(let values): appendArray(values, of: .int8)
        case .optionalInt2s(let values): appendArray(optional: values, of: .int2)
        case .optionalInt4s(let values): appendArray(optional: values, of: .int4)
        case .optionalInt8s(let values): appendArray(optional: values, of: .int8)
        case .bytesArray(let values): appendArray(values, of: .bytes) { $0 }
        case .texts(let values): appendArray(values, of: .text, \.utf8)
        }
        return true
    }

    private mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        // SAFETY: plain bytes of a local value, copied before the closure returns.
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func appendHeader(of type: TypeID, count: Int, hasNull: Bool) {
        append(Int32(count == 0 ? 0 : 1))
        append(Int32(hasNull ? 1 : 0))
        append(type.rawValue)
        guard count > 0 else { return }
        append(Int32(truncatingIfNeeded: count))
        append(Int32(1))
    }

    private mutating func appendArray<Value: FixedWidthInteger>(
        _ values: [Value], of type: TypeID
    ) {
        appendHeader(of: type, count: values.count, hasNull: false)
        for value in values {
            append(Int32(MemoryLayout<Value>.size))
            append(value)
        }
    }

    private mutating func appendArray<Value: FixedWidthInteger>(
        optional values: [Value?], of type: TypeID
    ) {
        appendHeader(of: type, count: values.count, hasNull: values.contains { $0 == nil })
        for value in values {
            append(Int32(value == nil ? -1 : MemoryLayout<Value>.size))
            if let value { append(value) }
        }
    }

    private mutating func appendArray<Value, Bytes: Collection<UInt8>>(
        _ values: [Value?], of type: TypeID, _ content: (Value) -> Bytes
    ) {
        appendHeader(of: type, count: values.count, hasNull: values.contains { $0 == nil })
        for value in values {
            guard let value else {
                append(Int32(-1))
                continue
            }
            let element = content(value)
            append(Int32(truncatingIfNeeded: element.count))
            bytes.append(contentsOf: element)
        }
    }
}
