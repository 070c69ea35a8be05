// SPDX-License-Identifier: Apache-2.0

import CurlTransport
import HTTP2Transport
import PushTransport

/// Looks at the libraries that this process has loaded.
enum LibraryCheck {
    /// What was found of the libraries that `kind` needs, and why one might choose the other.
    static func findings(for kind: TransportKind) -> [DoctorChecks.Finding] {
        let libraries = HTTP2Libraries()
        let native = "OpenSSL \(libraries.opensslVersion) and nghttp2 \(libraries.nghttp2Version)"
        switch kind {
        case .native:
            return [
                .fine(
                    "transport",
                    "native, on \(native). It knows the fate of each push and takes a small part "
                        + "of libcurl's processor time. 'curl' goes through every kind of proxy "
                        + "that libcurl knows, and gets the distribution's security updates for "
                        + "all of HTTP.")
            ]
        case .curl:
            return [
                .fine(
                    "transport",
                    "curl. It goes through every kind of proxy that libcurl knows, and gets the "
                        + "distribution's security updates. 'native', on \(native), is faster and "
                        + "knows more often whether a push was sent.")
            ] + curlFindings()
        }
    }

    private static func curlFindings() -> [DoctorChecks.Finding] {
        let library: CurlLibrary
        do throws(CurlLibrary.Unsuitable) {
            library = try CurlLibrary.loaded()
        } catch {
            return [.wrong("libcurl", error.description)]
        }
        return [
            .fine(
                "libcurl",
                "\(library.version) with \(library.tlsLibrary) and nghttp2 "
                    + "\(library.nghttp2Version)."),
            resetGuard(library),
        ]
    }

    /// The fault of libcurl 7.88.0 and 7.88.1, and the protection against it.
    private static func resetGuard(_ library: CurlLibrary) -> DoctorChecks.Finding {
        switch (library.resetsFinishedStreams, library.hasResetGuard) {
        case (true, true):
            .fine(
                "reset-guard",
                "This libcurl resets every stream that ended well; the guard is active and drops "
                    + "those resets.")
        case (true, false):
            .warning(
                "reset-guard",
                "This libcurl resets every stream that ended well, and the guard against it is "
                    + "not active: pushes are rationed, so that servers do not close connections.",
                "Install libcurl 8, or a rouse that links libcurl and libnghttp2 dynamically.")
        case (false, true): .fine("reset-guard", "Active; this libcurl does not need it.")
        case (false, false): .fine("reset-guard", "Not active; this libcurl does not need it.")
        }
    }
}
