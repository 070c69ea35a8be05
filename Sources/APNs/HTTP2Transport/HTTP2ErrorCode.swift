// SPDX-License-Identifier: Apache-2.0

/// The error codes of RFC 9113 §7, as their names.
enum HTTP2ErrorCode {
    /// The stream was certainly not processed (RFC 9113 §8.7).
    static let refusedStream: UInt32 = 0x7

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
        "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
        "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    /// `CANCEL`, or `error 99` for a code without a name.
    static func name(_ code: UInt32) -> String {
        Int(code) < names.count ? names[Int(code)] : "error \(code)"
    }
}
