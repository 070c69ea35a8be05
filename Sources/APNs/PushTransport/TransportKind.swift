// SPDX-License-Identifier: Apache-2.0

/// An implementation of ``PushTransport``.
public enum TransportKind: String, Hashable, Sendable, CaseIterable, Codable {
    /// nghttp2 under OpenSSL's libssl. It reports the outcome of every stream, so that fewer
    /// failures are `unknown`, and costs a small part of libcurl's processor time.
    case native
    /// libcurl. It supports all of libcurl's kinds of proxy, and gets the distribution's security
    /// updates of libcurl.
    case curl
}
