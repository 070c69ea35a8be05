// SPDX-License-Identifier: Apache-2.0

/// The numbers of the connection, as they were seen at Apple's servers (facts §1.3).
enum SessionLimits {
    /// SETTINGS_HEADER_TABLE_SIZE, in bytes.
    static let headerTable = 4096
    /// SETTINGS_INITIAL_WINDOW_SIZE, and the connection's window, in bytes.
    static let initialWindow = 65_535
    /// SETTINGS_MAX_FRAME_SIZE, in bytes.
    static let frame = 16_384
    /// SETTINGS_MAX_HEADER_LIST_SIZE, in bytes by RFC 9113's count.
    static let headerList = 8000
    /// The largest header list that is decoded, in the same bytes; beyond it the connection ends.
    static let decodedHeaderList = 1_048_576
    /// The most HEADERS and CONTINUATION frames for one header block.
    static let framesPerHeaderBlock = 8
    /// The largest window (RFC 9113 §6.9.1), in bytes.
    static let maximumWindow = 0x7fff_ffff
    /// What a client sends first.
    static let clientPreface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// What a client may announce as its SETTINGS_MAX_FRAME_SIZE, in bytes (RFC 9113 §6.5.2).
    static let peerFrames = frame...0xff_ffff

    /// Identifiers of settings (RFC 9113 §6.5.2).
    enum Setting {
        static let headerTableSize: UInt16 = 1
        static let enablePush: UInt16 = 2
        static let maxConcurrentStreams: UInt16 = 3
        static let initialWindowSize: UInt16 = 4
        static let maxFrameSize: UInt16 = 5
        static let maxHeaderListSize: UInt16 = 6
    }
}
