// SPDX-License-Identifier: Apache-2.0

import Gateway
import Glibc

/// Whether a write-ahead log can belong to the database beside it.
///
/// SQLite uses any log with the database's name: neither file identifies the other. If a backup is
/// restored next to the log of the former store, SQLite copies that log's pages over it and
/// destroys it without a notice.
///
/// They are matched by the change counter in the first page (sqlite.org/fileformat2.html §1.3.7). A
/// writer of that page increments the counter that it found. So the first copy of the page in a log
/// is at most one ahead of the database that the log was begun on, and stays so while the log is
/// copied into it. A copy by SQLite's backup begins at 1.
enum LogPairing {
    private static let headerByteCount = 32
    private static let frameHeaderByteCount = 24
    /// Where the first page has the change counter, most significant byte first.
    private static let counterPlace = 24
    /// The first word of a log whose checksums use words with the least significant byte first;
    /// this plus one is the other order.
    private static let magic: UInt32 = 0x377f_0682

    /// The reason why the log at `path`-wal cannot be that of the database, which is read through
    /// `descriptor`; `nil` when it can, or when the log does not show it.
    static func failure(besides path: String, _ descriptor: CInt) -> StoreFailure? {
        // The log first: the counter of a database in use only comes closer to that of its log.
        guard let first = firstCounter(inLog: path + "-wal"),
            let counter = bytes(descriptor, 4, at: counterPlace).map({ word($0, 0) }),
            first > counter, first - counter > 1
        else { return nil }
        return StoreFailure(
            kind: .corrupt,
            message: "The log \(path)-wal was written for another database than \(path), as when "
                + "a backup was restored beside the log of the store before it. Neither was "
                + "changed. To use this database, move the log away; to use the log, bring its "
                + "own database back.")
    }

    /// The same of a store by its name. Closing the file drops this process' locks on it.
    static func failure(at path: String) -> StoreFailure? {
        let path = StorePath.resolve(path)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return failure(besides: path, descriptor)
    }

    /// The change counter in the first copy of the first page in a log; `nil` when the log has
    /// none. Frames count as far as SQLite itself would read them: until one with a wrong checksum
    /// (§4.2 of the same page).
    static func firstCounter(inLog path: String) -> UInt32? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        // The log is never locked, so that closing it drops no lock.
        defer { close(descriptor) }
        guard let header = bytes(descriptor, headerByteCount, at: 0),
            word(header, 0) & ~1 == magic
        else { return nil }
        var sum = Checksum(isBigEndian: word(header, 0) & 1 == 1)
        sum.add(header[..<24])
        let pageSize = Int(word(header, 8))
        guard sum.matches(header, 24), (512...65_536).contains(pageSize) else { return nil }
        var place = headerByteCount
        while let frame = bytes(descriptor, frameHeaderByteCount + pageSize, at: place) {
            sum.add(frame[..<8])
            sum.add(frame[frameHeaderByteCount...])
            guard frame[8..<16] == header[16..<24], sum.matches(frame, 16) else { return nil }
            if word(frame, 0) == 1 { return word(frame, frameHeaderByteCount + counterPlace) }
            place += frame.count
        }
        return nil
    }

    private struct Checksum {
        let isBigEndian: Bool
        private var first: UInt32 = 0
        private var second: UInt32 = 0

        init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

        /// Adds bytes, whose number is a multiple of eight.
        mutating func add(_ bytes: ArraySlice<UInt8>) {
            for place in stride(from: bytes.startIndex, to: bytes.endIndex, by: 8) {
                first &+= word(bytes, place) &+ second
                second &+= word(bytes, place + 4) &+ first
            }
        }

        private func word(_ bytes: ArraySlice<UInt8>, _ place: Int) -> UInt32 {
            let word = LogPairing.word(bytes, place)
            return isBigEndian ? word : word.byteSwapped
        }

        /// Whether the file has this page at the position.
        func matches(_ bytes: [UInt8], _ place: Int) -> Bool {
            LogPairing.word(bytes, place) == first && LogPairing.word(bytes, place + 4) == second
        }
    }

    /// Four bytes, most significant first.
    private static func word<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, _ place: Int
    ) -> UInt32 where Bytes.Index == Int {
        bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// This number of bytes of a file; `nil` when it has fewer there.
    private static func bytes(_ descriptor: CInt, _ count: Int, at place: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        // SAFETY: pread writes at most as many bytes as the buffer has, within the call.
        let read = bytes.withUnsafeMutableBytes {
            pread(descriptor, $0.baseAddress, $0.count, off_t(place))
        }
        return read == count ? bytes : nil
    }
}
