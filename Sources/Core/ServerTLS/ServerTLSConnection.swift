// SPDX-License-Identifier: Apache-2.0

internal import CServerTLS
internal import NIOCore

/// OpenSSL's state of one connection: encrypted bytes in and out, in memory.
///
/// Not `Sendable`: it stays on the event loop of its channel.
final class ServerTLSConnection {
    /// How a step over received bytes ended.
    enum End {
        /// Everything is read; more has to be received.
        case needsInput
        /// The client sent close_notify.
        case closed
        /// The connection is unusable.
        case failed(ServerTLSError)
    }

    /// What received bytes brought.
    struct Received {
        /// Whether the handshake was completed by them.
        var completesHandshake = false
        /// The decrypted bytes.
        var plain = ByteBuffer()
        var end = End.needsInput
    }

    /// The least room that a call which decrypts is given, in bytes.
    private static let leastRoom = 1024
    /// The most that is encrypted before it is handed on, in bytes.
    private static let sliceLength = 65_536

    private let tls: OpaquePointer
    /// Kept, because the C part points at it.
    private let context: ServerTLSContext
    private(set) var isOpen = false

    /// `nil` if memory is exhausted.
    init?(_ context: ServerTLSContext) {
        guard let tls = CServerTLS_create(context.pointer) else { return nil }
        self.tls = tls
        self.context = context
    }

    deinit { CServerTLS_destroy(tls) }

    /// The protocol that was negotiated by ALPN.
    var applicationProtocol: String? {
        var length = 0
        // SAFETY: the shim's `length` bytes stay valid as long as the connection.
        return CServerTLS_protocol(tls, &length).map { start in
            String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
        }
    }

    /// Until when the client's certificate is valid, in seconds since the epoch.
    var clientValidUntil: Int64? {
        var seconds: Int64 = 0
        return CServerTLS_client_valid_until(tls, &seconds) ? seconds : nil
    }

    /// Takes encrypted bytes in.
    func receive(_ encrypted: ByteBuffer, _ allocator: ByteBufferAllocator) -> Received {
        var received = Received()
        // SAFETY: the C part reads the bytes only in the steps below, and forgets them at the end
        // of this closure.
        encrypted.withUnsafeReadableBytes { bytes in
            CServerTLS_set_input(
                tls, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
            defer { CServerTLS_clear_input(tls) }
            if !isOpen {
                switch CServerTLS_handshake(tls) {
                case CServerTLSStepDone:
                    isOpen = true
                    received.completesHandshake = true
                case CServerTLSStepNeedsInput: return
                default:
                    received.end = .failed(failure)
                    return
                }
            }
            received.plain = allocator.buffer(capacity: bytes.count)
            read(into: &received)
        }
        return received
    }

    private func read(into received: inout Received) {
        while true {
            var step = CServerTLSStepNeedsInput
            received.plain.writeWithUnsafeMutableBytes(
                minimumWritableBytes: Self.leastRoom
            ) { room in
                // SAFETY: the shim writes at most `room.count` bytes, and says how many.
                var count = 0
                guard let start = room.bindMemory(to: UInt8.self).baseAddress else { return 0 }
                step = CServerTLS_read(tls, start, room.count, &count)
                return count
            }
            switch step {
            case CServerTLSStepDone: continue
            case CServerTLSStepNeedsInput: return
            case CServerTLSStepClosed: received.end = .closed
            default: received.end = .failed(failure)
            }
            return
        }
    }

    private var failure: ServerTLSError {
        switch CServerTLS_failure(tls) {
        case CServerTLSFailureNoSharedProtocol: .noSharedProtocol
        case CServerTLSFailureNoProtocol: .noProtocol
        default: .failed(String(cString: CServerTLS_failure_words(tls)))
        }
    }

    /// The bytes encrypted, in slices that are to be sent; `nil` if the connection is unusable.
    func encrypt(_ plain: ByteBuffer, _ allocator: ByteBufferAllocator) -> [ByteBuffer]? {
        var rest = plain
        var encrypted: [ByteBuffer] = []
        while let slice = rest.readSlice(length: min(Self.sliceLength, rest.readableBytes)),
            slice.readableBytes > 0
        {
            // SAFETY: the shim reads `bytes.count` bytes before it returns.
            let isWritten = slice.withUnsafeReadableBytes { bytes in
                guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return true }
                return CServerTLS_write(tls, start, bytes.count)
            }
            guard isWritten else { return nil }
            if let output = takeOutput(allocator) { encrypted.append(output) }
        }
        return encrypted
    }

    /// Adds close_notify to the output, once.
    func close() { CServerTLS_close(tls) }

    /// The encrypted bytes that are to be sent, if there are any.
    func takeOutput(_ allocator: ByteBufferAllocator) -> ByteBuffer? {
        var length = 0
        guard let bytes = CServerTLS_output(tls, &length), length > 0 else { return nil }
        var output = allocator.buffer(capacity: length)
        // SAFETY: the shim's `length` bytes stay valid until the call that clears them.
        output.writeBytes(UnsafeRawBufferPointer(start: bytes, count: length))
        CServerTLS_clear_output(tls)
        return output
    }
}
