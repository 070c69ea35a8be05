// SPDX-License-Identifier: Apache-2.0

import NIOHTTP2

extension HTTP2Guard {
    /// The settings that a caller is told.
    static func settings(_ limits: AdminConfiguration) -> HTTP2Settings {
        [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.streamCount),
            // Each field counts 32 bytes more than it has (RFC 9113 §6.5.2). With twice the limit,
            // most heads that are too large get an answer.
            HTTP2Setting(
                parameter: .maxHeaderListSize,
                value: 2 * (limits.headerListByteCount + 32 * limits.headerFieldCount)),
        ]
    }
}
