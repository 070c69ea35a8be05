// SPDX-License-Identifier: Apache-2.0

/// Which implementation of ``PushTransport`` carries the requests.
public enum TransportKind: String, Hashable, Sendable, CaseIterable, Codable {
    /// nghttp2 under OpenSSL's libssl. It reports the outcome of every stream, so that fewer
    /// failures are `unknown`, and costs a small part of libcurl's processor time.
    case native
    /// libcurl. It goes through every kind of proxy that libcurl supports, and takes what the
    /// distribution's security updates fix in it.
    case curl
}
