// SPDX-License-Identifier: Apache-2.0

internal import CCryptoShims

extension [UInt8] {
    /// Overwrites all bytes, so that a secret does not stay in freed memory. The array should be
    /// the only one with these bytes: of a shared one, a copy is overwritten.
    public mutating func cleanse() {
        // SAFETY: the shim writes as many bytes as the block has, which is alive.
        withUnsafeMutableBytes { block in
            if let first = block.baseAddress { CCrypto_cleanse(first, block.count) }
        }
    }

    /// Whether two arrays are equal, in a time that depends on their length alone. For secrets and
    /// their digests: `==` ends at the first difference, and so reveals where that is.
    public func isEqualInConstantTime(to other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        return read(self) { left, count in
            read(other) { right, _ in CCrypto_is_equal(left, right, count) }
        }
    }
}
