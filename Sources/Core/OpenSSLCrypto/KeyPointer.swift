// SPDX-License-Identifier: Apache-2.0

internal import CCryptoShims

/// The owner of an OpenSSL key.
///
/// `@unchecked Sendable`: the one stored property points at an OpenSSL EVP_PKEY that is never
/// changed after reading. OpenSSL 3 counts its references atomically and lets any number of threads
/// use it concurrently, each with a context of its own, which is how the shims use it. It is freed
/// by the deinitializer, after the last reference is gone; OpenSSL overwrites a private key's
/// number as it frees it.
final class KeyPointer: @unchecked Sendable {
    let pointer: OpaquePointer

    init(taking pointer: OpaquePointer) { self.pointer = pointer }

    deinit { CCryptoKey_destroy(pointer) }

    /// Reads PEM text with one of the shims.
    static func read(
        pem: some Collection<UInt8>,
        _ reader: (UnsafePointer<UInt8>, Int, UnsafeMutablePointer<CCryptoFault>) -> OpaquePointer?
    ) throws(P256KeyError) -> KeyPointer {
        var fault = CCryptoFaultNone
        let pointer = OpenSSLCrypto.read(pem) { reader($0, $1, &fault) }
        guard let pointer else { throw P256KeyError(fault) }
        return KeyPointer(taking: pointer)
    }

    /// The key as PEM text, written by one of the shims.
    func pem(_ write: (OpaquePointer, UnsafeMutablePointer<UInt8>, Int) -> Int) -> String {
        // SAFETY: the shim writes at most `buffer.count` bytes and returns how many; a P-256 key
        // takes about 250.
        String(unsafeUninitializedCapacity: 1024) { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return write(pointer, start, buffer.count)
        }
    }
}
