// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Copies of strings and bytes for C, at fixed addresses until this object is freed. They may be
/// secret, so they are wiped before their memory is freed. Confined to its owner.
package final class SecretMemory {
    private var blocks: [UnsafeMutableRawBufferPointer] = []

    /// Creates it without copies.
    package init() {}

    deinit {
        for block in blocks {
            if let start = block.baseAddress { explicit_bzero(start, block.count) }
            block.deallocate()
        }
    }

    /// A null-terminated copy.
    package func string(_ text: String) -> UnsafePointer<CChar> {
        // SAFETY: see `keep`.
        UnsafePointer(keep(Array(text.utf8) + [0]).assumingMemoryBound(to: CChar.self))
    }

    /// A copy of the bytes, and their number.
    package func blob(_ bytes: [UInt8]) -> (UnsafePointer<UInt8>, Int) {
        // SAFETY: see `keep`. One byte more, so that an empty blob has an address too.
        (UnsafePointer(keep(bytes + [0]).assumingMemoryBound(to: UInt8.self)), bytes.count)
    }

    /// SAFETY: the memory is as long as `bytes`, which is never empty, and is freed by `deinit`
    /// alone. It is read as bytes or as characters, both trivial types of size and alignment 1.
    private func keep(_ bytes: [UInt8]) -> UnsafeMutableRawPointer {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        block.copyBytes(from: bytes)
        blocks.append(block)
        guard let start = block.baseAddress else {
            preconditionFailure("An allocation of at least one byte has an address.")
        }
        return start
    }
}
