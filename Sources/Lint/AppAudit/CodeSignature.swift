// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds the entitlements in the code signature of a program (Mach-O; `loader.h` and `cs_blobs.h`
/// in Apple's open-source code).
enum CodeSignature {
    private static let universalMagic: UInt32 = 0xcafe_babe
    private static let magic64: UInt32 = 0xfeed_facf
    private static let codeSignatureCommand: UInt32 = 0x1d
    private static let embeddedSignatureMagic: UInt32 = 0xfade_0cc0
    private static let entitlementsMagic: UInt32 = 0xfade_7171
    /// The maximum number of architectures, load commands or blobs; no program has more.
    private static let maximumEntries = 4096

    /// The entitlements of a program; `nil` if it has none, or if the file is not a program.
    static func entitlements(ofProgram path: String, _ library: FileLibrary) -> AppProperties? {
        guard let bytes = library.bytes(path, .program, limit: AuditLimits.signedBytes),
            let range = entitlements(in: bytes)
        else { return nil }
        do throws(ReadingFailure) {
            let list = try PropertyList.readProperties(Array(bytes[range]), file: path)
            return AppProperties(list.members, at: AppPlace(file: path, offset: range.lowerBound))
        } catch {
            library.note(
                ReadingFailure(
                    place: AppPlace(file: path, offset: range.lowerBound),
                    message: "the entitlements in the code signature: \(error.message)"))
            return nil
        }
    }

    /// The range of the entitlements' property list.
    static func entitlements(in bytes: [UInt8]) -> Range<Int>? {
        guard let start = programStart(bytes), let signature = signature(bytes, at: start) else {
            return nil
        }
        guard word(bytes, signature) == embeddedSignatureMagic,
            let count = word(bytes, signature + 8), count <= maximumEntries
        else { return nil }
        for index in 0..<Int(count) {
            guard let offset = word(bytes, signature + 12 + index * 8 + 4) else { return nil }
            let blob = signature + Int(offset)
            guard word(bytes, blob) == entitlementsMagic, let length = word(bytes, blob + 4),
                length >= 8, blob + Int(length) <= bytes.count
            else { continue }
            return blob + 8..<blob + Int(length)
        }
        return nil
    }

    /// The offset of the first 64-bit program; a universal file contains several.
    private static func programStart(_ bytes: [UInt8]) -> Int? {
        guard word(bytes, 0) == universalMagic else { return 0 }
        guard let count = word(bytes, 4), count <= maximumEntries else { return nil }
        for index in 0..<Int(count) {
            guard let offset = word(bytes, 8 + index * 20 + 8) else { return nil }
            if littleWord(bytes, Int(offset)) == magic64 { return Int(offset) }
        }
        return nil
    }

    private static func signature(_ bytes: [UInt8], at start: Int) -> Int? {
        guard littleWord(bytes, start) == magic64, let count = littleWord(bytes, start + 16),
            count <= maximumEntries
        else { return nil }
        var command = start + 32
        for _ in 0..<count {
            guard let kind = littleWord(bytes, command), let size = littleWord(bytes, command + 4),
                size >= 8
            else { return nil }
            if kind == codeSignatureCommand, let offset = littleWord(bytes, command + 8) {
                return start + Int(offset)
            }
            command += Int(size)
        }
        return nil
    }

    /// Reads four bytes, big-endian.
    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32? {
        guard offset >= 0, offset <= bytes.count - 4 else { return nil }
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func littleWord(_ bytes: [UInt8], _ offset: Int) -> UInt32? {
        word(bytes, offset)?.byteSwapped
    }
}
