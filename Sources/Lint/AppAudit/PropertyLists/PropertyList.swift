// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The reason why a file could not be parsed, with the place.
struct ReadingFailure: Error, Hashable, Sendable {
    /// The place of the error.
    let place: AppPlace
    /// The error, as a clause without a full stop.
    let message: String
}

/// Reads property lists in all formats.
enum PropertyList {
    /// The format of a property list.
    enum Form: Hashable, Sendable {
        /// Apple's document type in XML.
        case xml
        /// `bplist00`.
        case binary
        /// The OpenStep format, which Xcode uses for projects.
        case openStep
    }

    /// The format of these bytes, by their start; `nil` if they are not a property list.
    static func form(of bytes: [UInt8]) -> Form? {
        if bytes.starts(with: "bplist".utf8) { return .binary }
        var cursor = TextCursor(bytes)
        _ = cursor.take(while: { $0 == 0x20 || (0x09...0x0d).contains($0) })
        if cursor.sees("<?") || cursor.sees("<!") || cursor.sees("<plist") { return .xml }
        if cursor.sees("{") || cursor.sees("//") || cursor.sees("/*") || cursor.sees("(") {
            return .openStep
        }
        return nil
    }

    /// The root value of a file, which an empty `<plist>` may stand for.
    static func read(
        _ bytes: [UInt8], file: String, allowsNothing: Bool = false
    ) throws(ReadingFailure) -> AppProperty {
        let bytes = inUTF8(bytes)
        switch form(of: bytes) {
        case .xml:
            var reader = XMLPropertyListReader(
                bytes, file: file, allowsNothing: allowsNothing)
            return try reader.read()
        case .binary:
            var reader = BinaryPropertyListReader(bytes, file: file)
            return try reader.read()
        case .openStep:
            var reader = OpenStepPropertyListReader(bytes, file: file)
            return try reader.read()
        case nil:
            throw ReadingFailure(
                place: AppPlace(file: file), message: "the file is no property list")
        }
    }

    /// Converts a text with a byte order mark of UTF-16 to UTF-8.
    private static func inUTF8(_ bytes: [UInt8]) -> [UInt8] {
        let isLittle = bytes.starts(with: [0xff, 0xfe])
        guard isLittle || bytes.starts(with: [0xfe, 0xff]) else { return bytes }
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isLittle ? second << 8 | first : first << 8 | second
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// The root dictionary of a file.
    static func readProperties(
        _ bytes: [UInt8], file: String, allowsNothing: Bool = false
    ) throws(ReadingFailure) -> AppProperties {
        let root = try read(bytes, file: file, allowsNothing: allowsNothing)
        guard case .dictionary(let members) = root.value else {
            throw ReadingFailure(
                place: root.place, message: "the property list holds no dictionary")
        }
        return AppProperties(members, at: root.place)
    }
}
