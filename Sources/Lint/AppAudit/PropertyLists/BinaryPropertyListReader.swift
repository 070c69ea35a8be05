// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads a binary property list, version 00: a table of objects that refer to each other by number.
///
/// Every offset is checked. An object that contains itself is refused, and so are lists that expand
/// to too many values.
struct BinaryPropertyListReader {
    /// The size of the trailer, in bytes (CFBinaryPList.c).
    private static let trailerByteCount = 32

    private let bytes: [UInt8]
    private let file: String
    /// The end of the objects, where the table of offsets starts.
    private var objectsEnd: Int

    /// Creates a reader of these bytes.
    init(_ bytes: [UInt8], file: String) {
        self.bytes = bytes
        self.file = file
        objectsEnd = bytes.count
    }

    /// Reads the whole list.
    mutating func read() throws(ReadingFailure) -> AppProperty {
        guard bytes.starts(with: "bplist00".utf8) else {
            throw failure("the version of the binary property list is not known")
        }
        let table = try table()
        objectsEnd = table.start
        var walk = Walk(table: table)
        return try value(of: table.top, pointer: "", in: &walk)
    }

    /// The location of the objects.
    private struct Table {
        let top: Int
        let objectCount: Int
        let start: Int
        let offsetSize: Int
        let referenceSize: Int
    }

    /// The state while objects are visited.
    private struct Walk {
        let table: Table
        /// The containers that enclose the current object.
        var path: [Int] = []
        var valueCount = 0
        /// Decoded strings: several references to an object are possible.
        var texts: [Int: String] = [:]
    }

    private func table() throws(ReadingFailure) -> Table {
        let trailer = bytes.count - Self.trailerByteCount
        guard trailer >= 8 else { throw failure("the file is too short") }
        let table = Table(
            top: try number(at: trailer + 16, size: 8),
            objectCount: try number(at: trailer + 8, size: 8),
            start: try number(at: trailer + 24, size: 8),
            offsetSize: Int(bytes[trailer + 6]), referenceSize: Int(bytes[trailer + 7]))
        let sizes = 1...8
        guard sizes.contains(table.offsetSize), sizes.contains(table.referenceSize),
            table.objectCount <= bytes.count, table.top < table.objectCount,
            table.start <= trailer,
            table.objectCount * table.offsetSize <= trailer - table.start
        else { throw failure("the trailer contradicts the file's length", trailer) }
        return table
    }

    private func value(
        of object: Int, pointer: String, in walk: inout Walk
    ) throws(ReadingFailure) -> AppProperty {
        guard object < walk.table.objectCount else {
            throw failure("an object is named that does not exist")
        }
        let offset = try number(
            at: walk.table.start + object * walk.table.offsetSize, size: walk.table.offsetSize)
        guard offset >= 8, offset < walk.table.start else {
            throw failure("an object lies outside of the file")
        }
        walk.valueCount += 1
        guard walk.valueCount <= AuditLimits.propertyListValues else {
            throw failure("the list has too many values", offset)
        }
        let place = AppPlace(file: file, offset: offset, pointer: pointer)
        let marker = bytes[offset]
        switch marker >> 4 {
        case 0x0 where marker == 0x08: return AppProperty(.boolean(false), at: place)
        case 0x0 where marker == 0x09: return AppProperty(.boolean(true), at: place)
        case 0x1: return AppProperty(.integer(try integer(at: offset)), at: place)
        case 0x2: return AppProperty(.real(try real(at: offset)), at: place)
        case 0x0, 0x3, 0x4, 0x8: return AppProperty(.opaque, at: place)
        case 0x5, 0x6, 0x7:
            return AppProperty(.string(try text(object, at: offset, &walk)), at: place)
        case 0xa, 0xb, 0xc, 0xd:
            try enter(object, at: offset, &walk)
            defer { walk.path.removeLast() }
            return marker >> 4 == 0xd
                ? AppProperty(try dictionary(at: offset, place, &walk), at: place)
                : AppProperty(try array(at: offset, place, &walk), at: place)
        default: throw failure("the kind of an object is not known", offset)
        }
    }

    private func enter(
        _ object: Int, at offset: Int, _ walk: inout Walk
    ) throws(ReadingFailure) {
        guard !walk.path.contains(object) else { throw failure("a value holds itself", offset) }
        guard walk.path.count < AuditLimits.propertyListDepth else {
            throw failure("containers are nested too deeply", offset)
        }
        walk.path.append(object)
    }

    private func array(
        at offset: Int, _ place: AppPlace, _ walk: inout Walk
    ) throws(ReadingFailure) -> AppProperty.Value {
        let size = walk.table.referenceSize
        let content = try content(at: offset, unit: size)
        var elements: [AppProperty] = []
        for index in 0..<content.count / size {
            elements.append(
                try value(
                    of: try number(at: content.lowerBound + index * size, size: size),
                    pointer: place.pointer(appending: "\(index)"), in: &walk))
        }
        return .array(elements)
    }

    private func dictionary(
        at offset: Int, _ place: AppPlace, _ walk: inout Walk
    ) throws(ReadingFailure) -> AppProperty.Value {
        let size = walk.table.referenceSize
        let content = try content(at: offset, unit: 2 * size)
        let count = content.count / (2 * size)
        var members: [String: AppProperty] = [:]
        for index in 0..<count {
            let at = content.lowerBound + index * size
            let key = try value(
                of: try number(at: at, size: size), pointer: place.pointer, in: &walk)
            guard let name = key.string else { throw failure("a key is not a text", offset) }
            members[name] = try value(
                of: try number(at: at + count * size, size: size),
                pointer: place.pointer(appending: name), in: &walk)
        }
        return .dictionary(members)
    }

    // MARK: Scalars

    private func text(
        _ object: Int, at offset: Int, _ walk: inout Walk
    ) throws(ReadingFailure) -> String {
        if let text = walk.texts[object] { return text }
        let isUTF16 = bytes[offset] >> 4 == 0x6
        let content = bytes[try content(at: offset, unit: isUTF16 ? 2 : 1)]
        let text: String?
        if isUTF16 {
            let units = stride(from: content.startIndex, to: content.endIndex, by: 2).map {
                UInt16(content[$0]) << 8 | UInt16(content[$0 + 1])
            }
            text = String(validating: units, as: UTF16.self)
        } else {
            text = String(validating: content, as: UTF8.self)
        }
        guard let text else { throw failure("a text is not Unicode", offset) }
        walk.texts[object] = text
        return text
    }

    private func integer(at offset: Int) throws(ReadingFailure) -> Int64 {
        let size = 1 << Int(bytes[offset] & 0x0f)
        guard size <= 16, offset + size < objectsEnd else {
            throw failure("a number is cut off", offset)
        }
        // Numbers of 16 bytes do not fit into a signed 64-bit integer.
        let digits = bytes[(offset + 1)...(offset + size)].suffix(8)
        return Int64(bitPattern: digits.reduce(0) { $0 << 8 | UInt64($1) })
    }

    private func real(at offset: Int) throws(ReadingFailure) -> Double {
        let size = 1 << Int(bytes[offset] & 0x0f)
        guard size == 4 || size == 8, offset + size < objectsEnd else {
            throw failure("a number is cut off", offset)
        }
        let pattern = bytes[(offset + 1)...(offset + size)].reduce(0) { $0 << 8 | UInt64($1) }
        return size == 4
            ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: pattern)))
            : Double(bitPattern: pattern)
    }

    /// The bytes of an object after its marker and its count, in units of this size.
    private func content(at offset: Int, unit: Int) throws(ReadingFailure) -> Range<Int> {
        var count = Int(bytes[offset] & 0x0f)
        var start = offset + 1
        if count == 0x0f {
            guard start < objectsEnd, bytes[start] >> 4 == 0x1, bytes[start] & 0x0f <= 3 else {
                throw failure("the length of an object is no number", offset)
            }
            let size = 1 << Int(bytes[start] & 0x0f)
            count = try number(at: start + 1, size: size)
            start += 1 + size
        }
        guard start <= objectsEnd, count <= (objectsEnd - start) / unit else {
            throw failure("an object is longer than the file", offset)
        }
        return start..<start + count * unit
    }

    /// An unsigned number, big-endian.
    private func number(at offset: Int, size: Int) throws(ReadingFailure) -> Int {
        guard offset >= 0, offset <= bytes.count - size else {
            throw failure("the file is cut off", offset)
        }
        var number: UInt64 = 0
        for byte in bytes[offset..<offset + size] { number = number << 8 | UInt64(byte) }
        guard let result = Int(exactly: number) else {
            throw failure("a number is too large", offset)
        }
        return result
    }

    private func failure(_ message: String, _ offset: Int = 0) -> ReadingFailure {
        ReadingFailure(place: AppPlace(file: file, offset: max(0, offset)), message: message)
    }
}
