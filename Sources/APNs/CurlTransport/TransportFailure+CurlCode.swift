// SPDX-License-Identifier: Apache-2.0

internal import CCurlShims
internal import PushTransport
internal import WakeModel

/// What a libcurl code says about a push: what failed, and whether the connection can go on.
struct CurlVerdict: Hashable {
    let kind: TransportFailure.Kind
    /// Whether other requests may still be answered on the same connection.
    let sparesConnection: Bool
    /// Whether the code is in the table.
    let isListed: Bool

    private init(_ kind: TransportFailure.Kind, sparing: Bool = false, isListed: Bool = true) {
        self.kind = kind
        sparesConnection = sparing
        self.isListed = isListed
    }

    /// Looks a code up.
    init(code: Int32) {
        self = Self.table[code] ?? CurlVerdict(.other, isListed: false)
    }

    /// Whether the push may have reached the server.
    ///
    /// Whether libcurl began to write the request is certain. One that it did not begin was never
    /// sent. One that it began may be anywhere, whatever the code, because the code may be that of
    /// libcurl's attempt to connect anew; also if the body was never asked for, because a server
    /// may answer header fields alone. Any other code is `unknown`.
    func certainty(requestBegan: Bool) -> Certainty {
        isListed && !requestBegan ? .notSent : .unknown
    }

    static let table: [Int32: CurlVerdict] = {
        let codes = CCurl_codes()
        return [
            // Usual before a request can be written.
            codes.unsupportedProtocol: CurlVerdict(.other),
            codes.failedInit: CurlVerdict(.other),
            codes.urlMalformat: CurlVerdict(.other),
            codes.couldntResolveProxy: CurlVerdict(.proxy),
            codes.couldntResolveHost: CurlVerdict(.nameResolution),
            codes.couldntConnect: CurlVerdict(.connect),
            codes.interfaceFailed: CurlVerdict(.connect),
            codes.noConnectionAvailable: CurlVerdict(.connect),
            codes.proxy: CurlVerdict(.proxy),
            codes.sslConnectError: CurlVerdict(.tls),
            codes.sslEngineNotFound: CurlVerdict(.tls),
            codes.sslEngineSetFailed: CurlVerdict(.tls),
            codes.sslCertProblem: CurlVerdict(.tls),
            codes.sslCipher: CurlVerdict(.tls),
            codes.peerFailedVerification: CurlVerdict(.tls),
            codes.sslCACertBadFile: CurlVerdict(.tls),
            codes.sslIssuerError: CurlVerdict(.tls),
            codes.sslInvalidCertStatus: CurlVerdict(.tls),
            codes.sslClientCert: CurlVerdict(.tls),
            // Usual after it.
            codes.weirdServerReply: CurlVerdict(.notHTTP2),
            codes.http2: CurlVerdict(.connectionLost),
            codes.http2Stream: CurlVerdict(.streamReset, sparing: true),
            codes.partialFile: CurlVerdict(.connectionLost),
            codes.writeError: CurlVerdict(.responseTooLarge, sparing: true),
            codes.readError: CurlVerdict(.other),
            codes.outOfMemory: CurlVerdict(.other),
            codes.operationTimedOut: CurlVerdict(.timedOut),
            codes.abortedByCallback: CurlVerdict(.connectionLost),
            codes.gotNothing: CurlVerdict(.connectionLost),
            codes.sendError: CurlVerdict(.connectionLost),
            codes.recvError: CurlVerdict(.connectionLost),
            codes.again: CurlVerdict(.connectionLost),
            codes.sslShutdownFailed: CurlVerdict(.connectionLost),
            codes.sendFailRewind: CurlVerdict(.connectionLost),
        ]
    }()
}

extension TransportFailure {
    /// The failure that a finished transfer's code and report add up to.
    ///
    /// With `usesProxy`, a TCP connection that could not be made was one to the proxy.
    init(_ verdict: CurlVerdict, code: Int32, report: CCurlReport, usesProxy: Bool) {
        let words = String(cString: report.error)
        var detail = words.isEmpty ? String(cString: CCurl_error_name(code)) : words
        var kind = verdict.kind
        if report.proxyStatus != 0, !(200..<300).contains(report.proxyStatus) { kind = .proxy }
        if report.requestBegan, kind == .connect { kind = .connectionLost }
        if usesProxy, kind == .connect { kind = .proxy }
        if kind == .connectionLost, report.requestBegan {
            detail =
                "the connection was lost, or the stream refused, after the request was "
                + "written (\(detail))"
        }
        self.init(
            kind, certainty: verdict.certainty(requestBegan: report.requestBegan), detail: detail)
    }
}

extension TransportConfiguration.Proxy {
    /// Whether a proxy was named here rather than, perhaps, in the environment.
    var isExplicit: Bool {
        if case .http = self { true } else { false }
    }
}
