// SPDX-License-Identifier: Apache-2.0

/// 64-bit FNV-1a (RFC 9923): a hash that is the same in every run and on every machine. Not for
/// secrets: it can be inverted.
package enum FNV1a {
    /// The hash of the bytes.
    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return hash
    }
}
