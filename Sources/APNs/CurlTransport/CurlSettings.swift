// SPDX-License-Identifier: Apache-2.0

internal import CCurlShims
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
    private let memory = SecretMemory()

    init(_ configuration: TransportConfiguration) {
        // SAFETY: initialized below before anything reads it, freed by `deinit`; CCurlSettings is
        // a plain C struct.
        pointer = .allocate(capacity: 1)
        maximumStreams =
            configuration.maximumStreamsPerConnection ?? Self.defaultStreamsPerConnection
        let isAddress = configuration.host.contains(":")
        let host = isAddress ? "[\(configuration.host)]" : configuration.host
        pointer.initialize(to: CCurlSettings())
        pointer.pointee.url = memory.string("https://\(host):\(configuration.port)/")
        pointer.pointee.userAgent = memory.string(configuration.userAgent)
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

    deinit { pointer.deallocate() }

    private func set(_ proxy: TransportConfiguration.Proxy) {
        switch proxy {
        case .environment: break
        case .none: pointer.pointee.proxy = memory.string("")
        case .http(let url, let credentials):
            pointer.pointee.proxy = memory.string(url)
            if let credentials {
                pointer.pointee.proxyCredentials = memory.string(
                    credentials.user + ":" + credentials.password)
            }
        }
    }

    private func set(_ trust: TransportConfiguration.Trust) {
        switch trust {
        case .system: break
        case .file(let path): pointer.pointee.certificateAuthorityFile = memory.string(path)
        case .pem(let text):
            (
                pointer.pointee.certificateAuthorityPEM,
                pointer.pointee.certificateAuthorityPEMLength
            ) =
                memory.blob(Array(text.utf8))
        }
    }

    private func set(_ certificate: TransportConfiguration.ClientCertificate) {
        switch certificate.form {
        case .pem(let chain, let key):
            (pointer.pointee.clientCertificate, pointer.pointee.clientCertificateLength) =
                memory.blob(chain)
            (pointer.pointee.clientKey, pointer.pointee.clientKeyLength) = memory.blob(key)
        case .pkcs12(let archive):
            pointer.pointee.clientCertificateIsPKCS12 = true
            (pointer.pointee.clientCertificate, pointer.pointee.clientCertificateLength) =
                memory.blob(archive)
        }
        if let password = certificate.password {
            pointer.pointee.clientKeyPassword = memory.string(password)
        }
    }
}
