// SPDX-License-Identifier: Apache-2.0

internal import CCurlShims

/// The libcurl of this process, and whether it can be used.
///
/// Headers and library may differ, and Debian alone carries three TLS flavours, so the check is
/// made at run time, once, before any other use of libcurl.
public struct CurlLibrary: Hashable, Sendable {
    /// The version, such as `7.88.1`.
    public let version: String
    /// The version as libcurl's number: 0x075801 for 7.88.1.
    public let versionNumber: UInt32
    /// The TLS library, such as `OpenSSL/3.0.15`.
    public let tlsLibrary: String
    /// The HTTP/2 library's version; empty without one.
    public let nghttp2Version: String
    /// Whether libcurl resets every stream that ended well (7.88.0 and 7.88.1). Servers that limit
    /// resets then close the connection about every thousand pushes.
    public var resetsFinishedStreams: Bool { [0x075800, 0x075801].contains(versionNumber) }
    /// Whether libcurl reports for every stream that it was refused (8.19). Earlier releases report
    /// it for a connection's first request alone, so that the outcome of others is unknown.
    public var reportsRefusedStreams: Bool { versionNumber >= 0x081300 }
    /// Whether this process carries the guard that drops those resets.
    public let hasResetGuard: Bool
    private let hasHTTP2: Bool
    private let isThreadSafe: Bool
    private let hasAsynchronousResolver: Bool

    /// The reason why a libcurl cannot be used.
    public struct Unsuitable: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is missing, and what to install.
        public let description: String
    }

    /// The oldest supported version: 7.87 has every option that is used.
    public static let minimumVersionNumber: UInt32 = 0x075700

    /// Initialises libcurl at the first call, and returns its description, which is cached. May be
    /// called from any thread.
    public static func loaded() throws(Unsuitable) -> CurlLibrary { try shared.get() }

    // libcurl's global state is set up once and never torn down: see CCurl_global_init.
    private static let shared: Result<CurlLibrary, Unsuitable> = load()

    private static func load() -> Result<CurlLibrary, Unsuitable> {
        let code = CCurl_global_init()
        guard code == 0 else {
            let name = String(cString: CCurl_error_name(code))
            return .failure(Unsuitable(description: "libcurl did not initialise: \(name)."))
        }
        let library = CurlLibrary(CCurl_version())
        if let complaint = library.complaint {
            return .failure(Unsuitable(description: complaint))
        }
        return .success(library)
    }

    private init(_ version: CCurlVersion) {
        self.version = String(cString: version.version)
        versionNumber = version.number
        tlsLibrary = version.tlsLibrary.map { String(cString: $0) } ?? ""
        nghttp2Version = version.nghttp2.map { String(cString: $0) } ?? ""
        hasHTTP2 = version.hasHTTP2
        isThreadSafe = version.isThreadSafe
        hasAsynchronousResolver = version.hasAsynchronousResolver
        hasResetGuard = CCurl_has_reset_guard()
    }

    /// For tests of ``complaint``.
    init(
        version: String, versionNumber: UInt32, tlsLibrary: String, hasHTTP2: Bool,
        isThreadSafe: Bool, hasAsynchronousResolver: Bool
    ) {
        self.version = version
        self.versionNumber = versionNumber
        self.tlsLibrary = tlsLibrary
        self.hasHTTP2 = hasHTTP2
        self.isThreadSafe = isThreadSafe
        self.hasAsynchronousResolver = hasAsynchronousResolver
        nghttp2Version = ""
        hasResetGuard = false
    }

    /// The reason why this libcurl cannot be used; `nil` when it can.
    var complaint: String? {
        let install = "Install Debian's libcurl4 (12 or later), or a build like it."
        if versionNumber < Self.minimumVersionNumber {
            return "libcurl \(version) is too old: 7.87 or later is needed. \(install)"
        }
        if !hasHTTP2 {
            return "libcurl \(version) was built without HTTP/2, which APNs requires. \(install)"
        }
        if !tlsLibrary.hasPrefix("OpenSSL/") {
            let found = tlsLibrary.isEmpty ? "no TLS library" : tlsLibrary
            return "libcurl \(version) uses \(found) instead of OpenSSL. \(install)"
        }
        if !isThreadSafe {
            return "libcurl \(version) cannot be initialised beside other threads. \(install)"
        }
        if !hasAsynchronousResolver {
            return "libcurl \(version) resolves names while everything else waits. \(install)"
        }
        return nil
    }
}
