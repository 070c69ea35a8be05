// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StorePostgreSQL

@Suite("Parameters and results", .timeLimit(.minutes(10)))
struct QueryTests {
    @Test("the server reads each type as it was meant")
    func parameters() async throws {
        let cases: [(Parameter, TypeID, String, String?)] = [
            (.null, .int8, "int8", nil),
            (.bool(true), .bool, "bool", "true"),
            (.bool(false), .bool, "bool", "false"),
            (.int2(-2), .int2, "int2", "-2"),
            (.int4(.min), .int4, "int4", "-2147483648"),
            (.int8(.min), .int8, "int8", "-9223372036854775808"),
            (.int8(.max), .int8, "int8", "9223372036854775807"),
            (.bytes([]), .bytes, "bytea", "\\x"),
            (.bytes([0, 255, 10]), .bytes, "bytea", "\\x00ff0a"),
            (.text(""), .text, "text", ""),
            (.text("grüß 👋"), .text, "text", "grüß 👋"),
            (.bools([true, false]), .boolArray, "bool[]", "{t,f}"),
            (.int2s([1, -1]), .int2Array, "int2[]", "{1,-1}"),
            (.int4s([]), .int4Array, "int4[]", "{}"),
            (.int8s([1, .max]), .int8Array, "int8[]", "{1,9223372036854775807}"),
            (.optionalInt2s([nil, 2]), .int2Array, "int2[]", "{NULL,2}"),
            (.optionalInt4s([nil]), .int4Array, "int4[]", "{NULL}"),
            (.optionalInt8s([3, nil]), .int8Array, "int8[]", "{3,NULL}"),
            (.bytesArray([[1], nil, []]), .bytesArray, "bytea[]", #"{"\\x01",NULL,"\\x"}"#),
            (.bytesArray([]), .bytesArray, "bytea[]", "{}"),
            (.texts(["a,b", nil, ""]), .textArray, "text[]", #"{"a,b",NULL,""}"#),
        ]
        let test = try TestPool()
        let queries = cases.map { parameter, type, name, _ in
            Query(Statement("SELECT ($1::\(name))::text", type), parameter)
        }
        let outcome = try await test.pool.run(queries).get()
        let results = try #require(outcome.results)
        for (result, (parameter, _, _, expected)) in zip(results, cases) {
            #expect(result.string(0, 0) == expected, "\(parameter)")
        }
    }

    @Test("values of a row come back as they were sent")
    func results() async throws {
        let test = try TestPool()
        let statement = Statement(
            "SELECT $1, $2, $3, $4, $5, $6, NULL", .int8, .int4, .int2, .bool, .bytes, .text)
        let results = try await test.done(
            Query(
                statement, .int8(.min), .int4(-5), .int2(-6), .bool(true), .bytes([0, 1, 255]),
                .text("ü")))
        let row = results[0]
        #expect(row.rowCount == 1)
        #expect(row.columnCount == 7)
        #expect(row.int64(0, 0) == .min)
        #expect(row.int64(0, 1) == -5)
        #expect(row.int64(0, 2) == -6)
        #expect(row.bool(0, 3) == true)
        #expect(row.bytes(0, 4) == [0, 1, 255])
        #expect(row.string(0, 5) == "ü")
        #expect(row.isNull(0, 6))
        #expect(row.int64(0, 6) == nil)
        #expect(row.bytes(0, 6) == nil)
        #expect(row.int64(0, 5) == Int64(bitPattern: 0xFFFF_FFFF_FFFF_C3BC))
    }

    @Test("arrays of 100 000 elements and values of 16 MB")
    func large() async throws {
        let test = try TestPool()
        let numbers = (0..<100_000).map { Int64($0) &* 0x1E37_79B9_7F4A_7C15 }
        let bytes = [UInt8](repeating: 0xA5, count: 16_777_216)
        let results = try await test.done(
            Query(
                Statement("SELECT unnest($1::int8[])", .int8Array), .int8s(numbers)),
            Query(Statement("SELECT $1::bytea", .bytes), .bytes(bytes)))
        #expect((0..<results[0].rowCount).map { results[0].int64($0, 0) } == numbers)
        #expect(results[1].bytes(0, 0) == bytes)
    }

    @Test("counts of changed rows")
    func counts() async throws {
        let test = try TestPool()
        let results = try await test.done(
            Query("CREATE TABLE number (value int8)"),
            Query("INSERT INTO number SELECT generate_series(1, 10)"),
            Query("UPDATE number SET value = 0 WHERE value > 7"),
            Query("DELETE FROM number WHERE value = 100"))
        #expect(results.map(\.affectedRowCount) == [0, 10, 3, 0])
    }
}
