// SPDX-License-Identifier: Apache-2.0

internal import CCurlShims
internal import LoopKit
internal import PushTransport

/// A libcurl easy handle with the bytes that must outlive its transfer. Reused for many transfers.
///
/// Confined to the loop's thread: it holds a raw pointer and is not Sendable. Closed explicitly by
/// ``close()``; the deinitializer only checks that it was.
final class CurlExchange {
    private var pointer: OpaquePointer?
    /// Kept while libcurl reads its lines.
    private var block: HeaderBlock?

    init?(on connection: OpaquePointer) {
        pointer = CCurlExchange_create(connection)
        if pointer == nil { return nil }
        LiveObjects.count(.exchange, by: 1)
    }

    deinit { assert(pointer == nil, "A CurlExchange must be closed before it is released.") }

    private var handle: OpaquePointer {
        guard let pointer else { preconditionFailure("A closed CurlExchange was used.") }
        return pointer
    }

    /// Moves it to another connection while it has no transfer.
    func attach(to connection: OpaquePointer) { CCurlExchange_attach(handle, connection) }

    /// Passes a request to libcurl. Returns libcurl's error message, `nil` on success.
    func start(_ request: WireRequest, tag: UInt64, block: HeaderBlock) -> String? {
        self.block = block
        CCurlExchange_set_tag(handle, tag)
        // SAFETY: the shim copies `body.count` bytes before it returns; an empty array's missing
        // address is replaced by one that is not read.
        let isPrepared = request.body.withUnsafeBufferPointer { body in
            withUnsafePointer(to: 0 as UInt8) { nothing in
                CCurlExchange_prepare(
                    handle, request.path, block.pointer, body.baseAddress ?? nothing, body.count)
            }
        }
        guard isPrepared, direct(request.sharedHeaders.target), appendFields(of: request) else {
            return "memory ran out, or a request has over \(CCURL_OWN_HEADERS_MAX) own headers"
        }
        let code = CCurlExchange_start(handle)
        return code == 0 ? nil : "libcurl refused the transfer (CURLMcode \(code))"
    }

    /// Sets the target of a request that is not a push to a device.
    private func direct(_ target: RequestTarget?) -> Bool {
        guard let target else { return true }
        return CCurlExchange_make_other(
            handle, target.method.rawValue, target.maximumAnswerBytes)
    }

    private func appendFields(of request: WireRequest) -> Bool {
        var isAppended = true
        request.forEachField { name, value in
            guard let nameStart = name.baseAddress, let valueStart = value.baseAddress else {
                isAppended = false  // no field is empty
                return
            }
            // SAFETY: the shim copies as many bytes as the argument says.
            isAppended =
                isAppended
                && CCurlExchange_append_header(
                    handle, nameStart, name.count, valueStart, value.count)
        }
        return isAppended
    }

    /// Removes it from libcurl; an unfinished stream is reset.
    func remove() { CCurlExchange_remove(handle) }

    /// Drops the last request, so that its header block can be freed.
    func recycle() { block = nil }

    /// Whether libcurl has begun to write the request, so that it has a stream.
    var requestBegan: Bool { CCurlExchange_request_began(handle) }

    /// The report of the last transfer. Its pointers are valid until the next start, or the close.
    var report: CCurlReport { CCurlExchange_report(handle) }

    /// Frees the handle, which must have been removed.
    func close() {
        CCurlExchange_destroy(handle)
        LiveObjects.count(.exchange, by: -1)
        pointer = nil
        block = nil
    }
}

/// Exchanges without a transfer, for any connection of the loop. Confined to its thread.
final class IdleExchanges {
    /// The most that are kept: as many as APNs has streams on one connection (facts §1.3).
    private static let maximum = 1000

    private var exchanges: [CurlExchange] = []

    /// An exchange for that connection. `nil` when memory ran out.
    func take(for connection: OpaquePointer) -> CurlExchange? {
        guard let exchange = exchanges.popLast() else { return CurlExchange(on: connection) }
        exchange.attach(to: connection)
        return exchange
    }

    /// Keeps one for the next transfer, unless there are enough.
    func put(_ exchange: CurlExchange) {
        guard exchanges.count < Self.maximum else { return exchange.close() }
        exchange.recycle()
        exchanges.append(exchange)
    }

    /// Frees all.
    func close() {
        for exchange in exchanges { exchange.close() }
        exchanges = []
    }
}

/// Shared header fields as the list that libcurl reads. Confined to the loop's thread.
final class HeaderBlock {
    let pointer: OpaquePointer

    init?(_ shared: SharedHeaders) {
        guard let pointer = CCurlHeaderBlock_create() else { return nil }
        self.pointer = pointer
        for field in shared.fields {
            var line = field.name + ": " + field.value
            let isAppended = line.withUTF8 { bytes in
                bytes.baseAddress.map { CCurlHeaderBlock_append(pointer, $0, bytes.count) } ?? false
            }
            guard isAppended else { return nil }
        }
    }

    deinit { CCurlHeaderBlock_destroy(pointer) }
}

/// Finds the header block of a `SharedHeaders` again by its identity.
struct HeaderBlockCache {
    /// A gateway uses two for each app and provider token; when there are more, all are dropped.
    static let capacity = 512

    private var blocks: [ObjectIdentifier: (key: SharedHeaders, block: HeaderBlock)] = [:]

    /// The block, made at the first call. `nil` when memory ran out.
    mutating func block(for shared: SharedHeaders) -> HeaderBlock? {
        // The key is retained with the block, so that no other object gets its identity.
        if let known = blocks[ObjectIdentifier(shared)] { return known.block }
        guard let block = HeaderBlock(shared) else { return nil }
        if blocks.count >= Self.capacity { blocks.removeAll(keepingCapacity: true) }
        blocks[ObjectIdentifier(shared)] = (shared, block)
        return block
    }
}
