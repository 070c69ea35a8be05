// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import LoopKit
internal import PushTransport

/// Shared header fields with their values Huffman-coded. Confined to the loop's thread.
final class HeaderBlock {
    let pointer: OpaquePointer
    /// The most bytes that they take in a request.
    let longest: Int

    init?(_ shared: SharedHeaders) {
        guard let pointer = CHTTP2HeaderBlock_create() else { return nil }
        for field in shared.fields {
            guard Self.append(field, to: pointer) else {
                CHTTP2HeaderBlock_destroy(pointer)
                return nil
            }
        }
        self.pointer = pointer
        longest = CHTTP2HeaderBlock_longest(pointer)
        LiveObjects.count(.exchange, by: 1)
    }

    deinit {
        CHTTP2HeaderBlock_destroy(pointer)
        LiveObjects.count(.exchange, by: -1)
    }

    private static func append(_ field: HeaderField, to pointer: OpaquePointer) -> Bool {
        field.withBytes { name, value in
            CHTTP2HeaderBlock_append(pointer, name.start, name.count, value.start, value.count)
        }
    }
}

/// Finds the header block of a `SharedHeaders` again by its identity.
final class HeaderBlockCache {
    /// A gateway uses two for each app and provider token; when there are more, all are dropped.
    static let capacity = 512

    private var blocks: [ObjectIdentifier: (key: SharedHeaders, block: HeaderBlock)] = [:]
    /// The last one used: consecutive pushes are often of one app.
    private var last: (key: SharedHeaders, block: HeaderBlock)?

    /// The block, made at the first call. `nil` when memory ran out.
    func block(for shared: SharedHeaders) -> HeaderBlock? {
        if let last, last.key === shared { return last.block }
        // The key is retained with the block, so that no other object gets its identity.
        if let known = blocks[ObjectIdentifier(shared)] {
            last = known
            return known.block
        }
        guard let block = HeaderBlock(shared) else { return nil }
        if blocks.count >= Self.capacity { blocks.removeAll(keepingCapacity: true) }
        blocks[ObjectIdentifier(shared)] = (shared, block)
        last = (shared, block)
        return block
    }
}

/// Bytes for C to read during one call.
struct ForeignBytes {
    let start: UnsafePointer<UInt8>
    let count: Int
}

extension String {
    /// Calls `body` with the string's bytes.
    @inline(__always)
    func withBytes<Result>(_ body: (ForeignBytes) -> Result) -> Result {
        func lend(_ bytes: UnsafeBufferPointer<UInt8>) -> Result {
            guard let start = bytes.baseAddress else {
                // SAFETY: the address of a byte that is not read, for an empty string without one.
                return withUnsafePointer(to: 0 as UInt8) {
                    body(ForeignBytes(start: $0, count: 0))
                }
            }
            return body(ForeignBytes(start: start, count: bytes.count))
        }
        // In place where possible, which is nearly always: a copy in a variable would retain it.
        if let result = utf8.withContiguousStorageIfAvailable(lend) { return result }
        var text = self
        return text.withUTF8(lend)
    }
}

extension HeaderField {
    /// Calls `body` with the field's bytes.
    @inline(__always)
    func withBytes<Result>(
        _ body: (_ name: ForeignBytes, _ value: ForeignBytes) -> Result
    )
        -> Result
    {
        name.withBytes { name in value.withBytes { body(name, $0) } }
    }
}
