// SPDX-License-Identifier: Apache-2.0

/// The frames of what a client writes from its preface on, in whatever pieces it comes.
package struct ClientFrames {
    package struct Frame {
        package let type: UInt8
        package let flags: UInt8
        package let stream: Int
        package let payload: [UInt8]

        /// Whether a request ends with it: DATA or HEADERS with END_STREAM.
        package var endsRequest: Bool { type < 2 && flags & 1 != 0 }
        package var isReset: Bool { type == 3 }
        /// What it adds to the connection's window.
        package var credit: Int? { type == 8 && stream == 0 ? Self.number(payload[...]) : nil }

        fileprivate static func number(_ bytes: ArraySlice<UInt8>) -> Int {
            bytes.reduce(0) { $0 << 8 | Int($1) } & 0x7fff_ffff
        }
    }

    private var unread: [UInt8] = []
    private var prefaceLeft = 24

    package init() {}

    /// The frames that are whole now.
    package mutating func hear(_ bytes: [UInt8]) -> [Frame] {
        let skipped = min(prefaceLeft, bytes.count)
        prefaceLeft -= skipped
        unread += bytes.dropFirst(skipped)
        var frames: [Frame] = []
        var start = 0
        while unread.count - start >= 9 {
            let head = unread[start..<start + 9]
            let end = start + 9 + Frame.number(head.prefix(3))
            guard end <= unread.count else { break }
            frames.append(
                Frame(
                    type: unread[start + 3], flags: unread[start + 4],
                    stream: Frame.number(head.suffix(4)), payload: Array(unread[start + 9..<end])))
            start = end
        }
        unread.removeFirst(start)
        return frames
    }
}

extension HostileServer.Peer {
    /// Reads until the connection's first request has come with its whole body, so that from then
    /// on it must not be reported as not sent.
    package func awaitWholeRequest() -> Bool {
        var frames = ClientFrames()
        while let bytes = receive() {
            if frames.hear(bytes).contains(where: \.endsRequest) { return true }
        }
        return false
    }

    /// Says SETTINGS, and to each frame what `reply` gives, until the client is gone.
    package func converse(
        settings: [(UInt8, Int)] = [], _ reply: (ClientFrames.Frame) -> [UInt8]
    ) {
        guard send(ServerFrame.settings(settings)) else { return }
        var frames = ClientFrames()
        while let bytes = receive() {
            let words = frames.hear(bytes).flatMap(reply)
            guard words.isEmpty || send(words) else { return }
        }
    }

    /// Accepts every push.
    package func acceptAll() {
        converse { $0.endsRequest ? ServerFrame.accepted(stream: $0.stream) : [] }
    }
}
