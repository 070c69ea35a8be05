// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import LoopKit
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
    private let memory = SecretMemory()

    init(_ configuration: TransportConfiguration) {
        // SAFETY: initialized immediately, freed by `deinit`; CHTTP2TLSSettings is a plain C
        // struct.
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: CHTTP2TLSSettings())
        switch configuration.trust {
        case .system: break
        case .file(let path): pointer.pointee.authorityFile = memory.string(path)
        case .pem(let text):
            (pointer.pointee.authorityPEM, pointer.pointee.authorityPEMLength) =
                memory.blob(Array(text.utf8))
        }
        if let certificate = configuration.clientCertificate { set(certificate) }
    }

    deinit { pointer.deallocate() }

    private func set(_ certificate: TransportConfiguration.ClientCertificate) {
        switch certificate.form {
        case .pem(let chain, let key):
            (pointer.pointee.certificate, pointer.pointee.certificateLength) = memory.blob(chain)
            (pointer.pointee.key, pointer.pointee.keyLength) = memory.blob(key)
        case .pkcs12(let archive):
            pointer.pointee.certificateIsPKCS12 = true
            (pointer.pointee.certificate, pointer.pointee.certificateLength) = memory.blob(archive)
        }
        if let password = certificate.password {
            pointer.pointee.password = memory.string(password)
        }
    }
}
