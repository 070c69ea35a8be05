// SPDX-License-Identifier: Apache-2.0

internal import WakeModel

/// A statement of SQL, prepared on each connection at its first use.
package struct Statement: Hashable, Sendable {
    /// The statement, with `$1`, `$2` … for its parameters.
    package let sql: String
    /// The types of the parameters, in their order.
    package let parameterTypes: [TypeID]
    /// The name under which it is prepared. It follows from the text and the types, so that behind
    /// a pooler, where clients take turns on a server's connection, no name means two statements.
    let name: String

    /// Creates a statement.
    package init(_ sql: String, _ parameterTypes: TypeID...) {
        self.init(sql, parameterTypes)
    }

    /// Creates a statement.
    package init(_ sql: String, _ parameterTypes: [TypeID]) {
        self.sql = sql
        self.parameterTypes = parameterTypes
        var hash = FNV1a()
        for byte in sql.utf8 { hash.add(byte) }
        for type in parameterTypes { hash.add(integer: type.rawValue) }
        let digits = String(hash.value, radix: 16)
        name = "rouse_" + String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The same statement under another name, for a server that must plan it anew: the name follows
    /// from the text.
    func renewed(_ count: Int) -> Statement {
        count == 0 ? self : Statement("\(sql) /* \(count) */", parameterTypes)
    }
}

/// A type of PostgreSQL, by the number that it has in every database.
package struct TypeID: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `boolean`
    package static let bool = TypeID(rawValue: 16)
    /// `bytea`
    package static let bytes = TypeID(rawValue: 17)
    /// `bigint`
    package static let int8 = TypeID(rawValue: 20)
    /// `smallint`
    package static let int2 = TypeID(rawValue: 21)
    /// `integer`
    package static let int4 = TypeID(rawValue: 23)
    /// `text`
    package static let text = TypeID(rawValue: 25)
    /// `boolean[]`
    package static let boolArray = TypeID(rawValue: 1000)
    /// `bytea[]`
    package static let bytesArray = TypeID(rawValue: 1001)
    /// `smallint[]`
    package static let int2Array = TypeID(rawValue: 1005)
    /// `integer[]`
    package static let int4Array = TypeID(rawValue: 1007)
    /// `text[]`
    package static let textArray = TypeID(rawValue: 1009)
    /// `bigint[]`
    package static let int8Array = TypeID(rawValue: 1016)
}
