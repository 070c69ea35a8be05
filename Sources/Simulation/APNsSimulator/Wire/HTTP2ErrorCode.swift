// SPDX-License-Identifier: Apache-2.0

/// An HTTP/2 error code, as RST_STREAM and GOAWAY carry it (RFC 9113 §7).
public struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: UInt32

    /// Any number; peers must take unknown ones for `INTERNAL_ERROR`.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// NO_ERROR (0).
    public static let noError = Self(rawValue: 0)
    /// PROTOCOL_ERROR (1).
    public static let protocolError = Self(rawValue: 1)
    /// INTERNAL_ERROR (2).
    public static let internalError = Self(rawValue: 2)
    /// FLOW_CONTROL_ERROR (3).
    public static let flowControlError = Self(rawValue: 3)
    /// SETTINGS_TIMEOUT (4).
    public static let settingsTimeout = Self(rawValue: 4)
    /// STREAM_CLOSED (5).
    public static let streamClosed = Self(rawValue: 5)
    /// FRAME_SIZE_ERROR (6).
    public static let frameSizeError = Self(rawValue: 6)
    /// REFUSED_STREAM (7): the request was not processed.
    public static let refusedStream = Self(rawValue: 7)
    /// CANCEL (8).
    public static let cancel = Self(rawValue: 8)
    /// COMPRESSION_ERROR (9).
    public static let compressionError = Self(rawValue: 9)
    /// CONNECT_ERROR (10).
    public static let connectError = Self(rawValue: 10)
    /// ENHANCE_YOUR_CALM (11).
    public static let enhanceYourCalm = Self(rawValue: 11)
    /// INADEQUATE_SECURITY (12).
    public static let inadequateSecurity = Self(rawValue: 12)
    /// HTTP_1_1_REQUIRED (13).
    public static let http11Required = Self(rawValue: 13)

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
        "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
        "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    /// The code by its name in RFC 9113, such as `REFUSED_STREAM`; `nil` for another text.
    public init?(name: String) {
        guard let index = Self.names.firstIndex(of: name) else { return nil }
        rawValue = UInt32(index)
    }

    /// The name in RFC 9113, or the number.
    public var description: String {
        rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "0x\(hex)"
    }

    private var hex: String { String(rawValue, radix: 16) }
}
