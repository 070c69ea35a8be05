// SPDX-License-Identifier: Apache-2.0

internal import CCurlShims
internal import Glibc
internal import LoopKit
internal import PushTransport

/// A configuration in the form that libcurl reads: C strings and blobs that stay where they are.
///
/// Confined to the loop's thread, and kept by the loop for longer than any connection. Secrets are
/// wiped before their memory is freed.
final class CurlSettings {
    /// The default limit of streams of one connection: four of 250 carried 27 000 pushes a second
    /// at 30 ms of round trip, one of 1000 carried 10 500, and 250 bodies of 130 bytes are what a
    /// default connection window accepts in half a round trip.
    static let defaultStreamsPerConnection = 250

    let pointer: UnsafeMutablePointer<CCurlSettings>
    /// The most streams in flight on one connection.
    let maximumStreams: Int
    private var memory: [UnsafeMutableRawBufferPointer] = []

    init(_ configuration: TransportConfiguration) {
        // SAFETY: initialized below before anything reads it, freed by `deinit`; CCurlSettings is
        // a plain C struct.
        pointer = .allocate(capacity: 1)
        maximumStreams =
            configuration.maximumStreamsPerConnection ?? Self.defaultStreamsPerConnection
        let isAddress = configuration.host.contains(":")
        let host = isAddress ? "[\(configuration.host)]" : configuration.host
        pointer.initialize(to: CCurlSettings())
        pointer.pointee.url = string("https://\(host):\(configuration.port)/")
        pointer.pointee.userAgent = string(configuration.userAgent)
        pointer.pointee.connectTimeoutMilliseconds = max(
            1, configuration.connectTimeout.wholeMilliseconds)
        pointer.pointee.maximumStreams = Int64(maximumStreams)
        pointer.pointee.maximumIdleSeconds = max(
            1, configuration.maximumIdleTime.wholeMilliseconds / 1000)
        if let keepAlive = configuration.keepAlive {
            pointer.pointee.keepAliveIdleSeconds = max(1, keepAlive.idle.wholeMilliseconds / 1000)
            pointer.pointee.keepAliveIntervalSeconds = max(
                1, keepAlive.interval.wholeMilliseconds / 1000)
        }
        set(configuration.proxy)
        set(configuration.trust)
        if let certificate = configuration.clientCertificate { set(certificate) }
    }

    deinit {
        for block in memory {
            if let start = block.baseAddress { explicit_bzero(start, block.count) }
            block.deallocate()
        }
        pointer.deallocate()
    }

    private func set(_ proxy: TransportConfiguration.Proxy) {
        switch proxy {
        case .environment: break
        case .none: pointer.pointee.proxy = string("")
        case .http(let url, let credentials):
            pointer.pointee.proxy = string(url)
            if let credentials {
                pointer.pointee.proxyCredentials = string(
                    credentials.user + ":" + credentials.password)
            }
        }
    }

    private func set(_ trust: TransportConfiguration.Trust) {
        switch trust {
        case .system: break
        case .file(let path): pointer.pointee.certificateAuthorityFile = string(path)
        case .pem(let text):
            (
                pointer.pointee.certificateAuthorityPEM,
                pointer.pointee.certificateAuthorityPEMLength
            ) =
                blob(Array(text.utf8))
        }
    }

    private func set(_ certificate: TransportConfiguration.ClientCertificate) {
        switch certificate.form {
        case .pem(let chain, let key):
            (pointer.pointee.clientCertificate, pointer.pointee.clientCertificateLength) =
                blob(chain)
            (pointer.pointee.clientKey, pointer.pointee.clientKeyLength) = blob(key)
        case .pkcs12(let archive):
            pointer.pointee.clientCertificateIsPKCS12 = true
            (pointer.pointee.clientCertificate, pointer.pointee.clientCertificateLength) =
                blob(archive)
        }
        if let password = certificate.password {
            pointer.pointee.clientKeyPassword = string(password)
        }
    }

    /// A null-terminated copy that is freed with this object.
    private func string(_ text: String) -> UnsafePointer<CChar> {
        // SAFETY: see `keep`.
        let bytes = keep(Array(text.utf8) + [0])
        return UnsafePointer(bytes.assumingMemoryBound(to: CChar.self))
    }

    private func blob(_ bytes: [UInt8]) -> (UnsafePointer<UInt8>, Int) {
        // SAFETY: see `keep`. One byte more, so that an empty blob has an address too.
        let kept = keep(bytes + [0])
        return (UnsafePointer(kept.assumingMemoryBound(to: UInt8.self)), bytes.count)
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
