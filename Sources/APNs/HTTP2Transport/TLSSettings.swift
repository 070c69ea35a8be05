// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import Glibc
internal import PushTransport
internal import WakeModel

/// A TLS context that connections share. Confined to the loop's thread.
final class TLSContext {
    let pointer: OpaquePointer

    /// Reads what the configuration names. Throws the failure that a submission gets.
    init(_ configuration: TransportConfiguration) throws(TransportFailure) {
        let settings = TLSSettings(configuration)
        var words = [CChar](repeating: 0, count: Int(CHTTP2_ERROR_MAX))
        guard let made = CHTTP2TLSContext_create(settings.pointer, &words) else {
            let bytes = words.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw TransportFailure(
                .tls, certainty: .notSent, detail: String(decoding: bytes, as: UTF8.self))
        }
        pointer = made
    }

    deinit { CHTTP2TLSContext_destroy(pointer) }
}

/// A configuration in the form that the shims read. Secrets are wiped before their memory is freed.
private final class TLSSettings {
    let pointer: UnsafeMutablePointer<CHTTP2TLSSettings>
    private var memory: [UnsafeMutableRawBufferPointer] = []

    init(_ configuration: TransportConfiguration) {
        // SAFETY: initialized immediately, freed by `deinit`; CHTTP2TLSSettings is a plain C
        // struct.
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: CHTTP2TLSSettings())
        switch configuration.trust {
        case .system: break
        case .file(let path): pointer.pointee.authorityFile = string(path)
        case .pem(let text):
            (pointer.pointee.authorityPEM, pointer.pointee.authorityPEMLength) =
                blob(Array(text.utf8))
        }
        if let certificate = configuration.clientCertificate { set(certificate) }
    }

    deinit {
        for block in memory {
            if let start = block.baseAddress { explicit_bzero(start, block.count) }
            block.deallocate()
        }
        pointer.deallocate()
    }

    private func set(_ certificate: TransportConfiguration.ClientCertificate) {
        switch certificate.form {
        case .pem(let chain, let key):
            (pointer.pointee.certificate, pointer.pointee.certificateLength) = blob(chain)
            (pointer.pointee.key, pointer.pointee.keyLength) = blob(key)
        case .pkcs12(let archive):
            pointer.pointee.certificateIsPKCS12 = true
            (pointer.pointee.certificate, pointer.pointee.certificateLength) = blob(archive)
        }
        if let password = certificate.password { pointer.pointee.password = string(password) }
    }

    /// A null-terminated copy that is freed with this object.
    private func string(_ text: String) -> UnsafePointer<CChar> {
        // SAFETY: see `keep`.
        UnsafePointer(keep(Array(text.utf8) + [0]).assumingMemoryBound(to: CChar.self))
    }

    private func blob(_ bytes: [UInt8]) -> (UnsafePointer<UInt8>, Int) {
        // SAFETY: see `keep`. One byte more, so that an empty blob has an address too.
        (UnsafePointer(keep(bytes + [0]).assumingMemoryBound(to: UInt8.self)), bytes.count)
    }

    /// SAFETY: the memory is as long as `bytes`, which is never empty, and is freed by `deinit`
    /// alone. It is read as bytes or as characters, both trivial types of size and alignment 1.
    private func keep(_ bytes: [UInt8]) -> UnsafeMutableRawPointer {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        block.copyBytes(from: bytes)
        memory.append(block)
        guard let start = block.baseAddress else {
            preconditionFailure("An allocation of at least one byte has an address.")
        }
        return start
    }
}
