// SPDX-License-Identifier: Apache-2.0

import Glibc

extension [UInt8] {
    /// The offset of the first place of some text at or behind an offset. The C library looks for
    /// one letter of it, which should be rare, many times as fast as a loop: trees of projects have
    /// hundreds of megabytes.
    ///
    /// - Parameters:
    ///   - part: Text in ASCII, not empty.
    ///   - rare: The offset of the letter in `part`, less than its length.
    ///   - start: At least 0.
    func offset(of part: StaticString, by rare: Int = 0, from start: Int = 0) -> Int? {
        let length = part.utf8CodeUnitCount
        guard start <= count - length else { return nil }
        // SAFETY: the array's memory stays in place until the closure returns, no place is looked
        // at that has less than `length` bytes behind it, and what is written in quotes has a
        // pointer, which is never freed.
        return withUnsafeBytes { bytes -> Int? in
            guard let first = bytes.baseAddress else { return nil }
            var place = first + start
            let end = first + (bytes.count - length + 1)
            let letter = Int32(part.utf8Start[rare])
            while let found = memchr(place + rare, letter, end - place) {
                let match = UnsafeRawPointer(found) - rare
                if memcmp(match, part.utf8Start, length) == 0 { return match - first }
                place = match + 1
            }
            return nil
        }
    }
}
