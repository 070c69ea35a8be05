// SPDX-License-Identifier: Apache-2.0

import Foundation

extension [UInt8] {
    /// Overwrites all bytes, so that a secret does not stay in freed memory. The array should be
    /// the only one with these bytes: of a shared one, a copy is overwritten.
    mutating func cleanse() {
        // SAFETY: `explicit_bzero` writes as many bytes as the block has, which is alive.
        withUnsafeMutableBytes { block in
            if let first = block.baseAddress { explicit_bzero(first, block.count) }
        }
    }
}
