// SPDX-License-Identifier: Apache-2.0

/// Recognises compressed bodies by their first bytes.
enum Compression {
    /// The format's name, or `nil` if no compression format is recognised.
    static func format(of bytes: [UInt8]) -> StaticString? {
        guard bytes.count >= 4 else { return nil }
        switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        // RFC 1952 §2.3.1.
        case (0x1f, 0x8b, _, _): return "gzip"
        // RFC 1950 §2.2: deflate with a window of 32 KiB, at each of the four levels.
        case (0x78, 0x01, _, _), (0x78, 0x5e, _, _), (0x78, 0x9c, _, _), (0x78, 0xda, _, _):
            return "zlib"
        // RFC 8878 §3.1.1.
        case (0x28, 0xb5, 0x2f, 0xfd): return "zstd"
        default: return nil
        }
    }
}
