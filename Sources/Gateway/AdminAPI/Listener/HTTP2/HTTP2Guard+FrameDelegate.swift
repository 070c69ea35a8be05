// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP2

extension HTTP2Guard: NIOHTTP2FrameDelegate {
    /// NIO calls it when a frame goes to the socket, after the windows of flow control.
    func wroteFrame(_ frame: HTTP2Frame) {
        switch frame.payload {
        case .goAway(_, let code, _): if code != .noError { isBroken = true }
        case .data(let content):
            untakenByteCount -= content.data.readableBytes
            streams[frame.streamID]?.took(
                content.data.readableBytes, isLast: content.endStream, at: .now())
        case .headers(let head):
            if head.endStream { streams[frame.streamID]?.took(0, isLast: true, at: .now()) }
        default: break
        }
    }
}
