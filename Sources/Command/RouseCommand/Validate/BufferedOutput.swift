// SPDX-License-Identifier: Apache-2.0

/// Collects a long report and writes it to standard output in large pieces. Used by one task.
final class BufferedOutput {
    /// How much is collected before it is written, in bytes.
    private static let size = 65_536

    private let beforeWriting: () -> Void
    private var bytes: [UInt8] = []

    /// An empty one; `beforeWriting` is called before anything appears.
    init(beforeWriting: @escaping () -> Void) { self.beforeWriting = beforeWriting }

    /// Adds a piece.
    func write(_ text: String) {
        bytes += text.utf8
        if bytes.count >= Self.size { flush() }
    }

    /// Writes what is there.
    func flush() {
        beforeWriting()
        StandardOutput.write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}
