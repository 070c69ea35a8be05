// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A text that was extracted from a file in pieces, with the place of each piece.
struct EmbeddedText: Sendable {
    /// The text.
    private(set) var bytes: [UInt8] = []
    /// The places of its pieces in the file.
    private(set) var segments: [PlaceMap.Segment] = []
    /// Whether escapes were resolved.
    private(set) var isDecoded = false

    /// Creates an empty text.
    init() {}

    /// Creates the text of a whole file.
    init(file: [UInt8]) {
        bytes = file
        segments = [PlaceMap.Segment(payloadStart: 0, fileStart: 0)]
    }

    /// The places of the text, for findings.
    var places: PlaceMap.Payload { isDecoded ? .quoted(segments) : .segments(segments) }

    /// The offset of a byte in the file.
    func fileOffset(of offset: Int) -> Int {
        guard let index = segments.lastIndex(where: { $0.payloadStart <= offset }) else {
            return offset
        }
        let segment = segments[index]
        return segment.fileStart + (segment.isCopied ? offset - segment.payloadStart : 0)
    }

    /// Appends another text.
    mutating func append(_ other: EmbeddedText) {
        for segment in other.segments {
            let offset = bytes.count + segment.payloadStart
            // A segment that continues the last one extends it.
            if segment.isCopied, let last = segments.last, last.isCopied,
                last.fileStart + offset - last.payloadStart == segment.fileStart
            {
                continue
            }
            segments.append(
                PlaceMap.Segment(
                    payloadStart: offset, fileStart: segment.fileStart,
                    isCopied: segment.isCopied))
        }
        bytes += other.bytes
        isDecoded = isDecoded || other.isDecoded
    }

    /// Appends text that is not in the file, in place of the text at this offset.
    mutating func append(_ text: String, standingAt offset: Int) {
        segments.append(
            PlaceMap.Segment(payloadStart: bytes.count, fileStart: offset, isCopied: false))
        bytes += text.utf8
    }

    /// Returns a part of the text.
    func slice(_ range: Range<Int>) -> EmbeddedText {
        var part = EmbeddedText()
        part.isDecoded = isDecoded
        part.bytes = Array(bytes[range])
        for (index, segment) in segments.enumerated() {
            let end = index + 1 < segments.count ? segments[index + 1].payloadStart : bytes.count
            let start = max(segment.payloadStart, range.lowerBound)
            guard start < min(end, range.upperBound) else { continue }
            part.segments.append(
                PlaceMap.Segment(
                    payloadStart: start - range.lowerBound,
                    fileStart: segment.fileStart
                        + (segment.isCopied ? start - segment.payloadStart : 0),
                    isCopied: segment.isCopied))
        }
        return part
    }

    /// Returns the value of a JSON string in this text, given the range between its quotes.
    func unquoted(_ content: Range<Int>) -> EmbeddedText {
        let text = QuotedText(content, of: bytes)
        var part = EmbeddedText()
        part.isDecoded = true
        part.bytes = text.bytes
        for (index, segment) in text.segments.enumerated() {
            let isLast = index + 1 == text.segments.count
            let end = isLast ? text.bytes.count : text.segments[index + 1].payloadStart
            let length = end - segment.payloadStart
            guard length > 0 else { continue }
            let source = segment.fileStart..<min(segment.fileStart + length, bytes.count)
            for piece in slice(source).segments {
                part.segments.append(
                    PlaceMap.Segment(
                        payloadStart: segment.payloadStart + piece.payloadStart,
                        fileStart: piece.fileStart, isCopied: piece.isCopied))
            }
        }
        return part
    }

    /// Returns the text with single bytes replaced.
    func replacingBytes(_ change: (Int, UInt8) -> UInt8) -> EmbeddedText {
        var changed = self
        for index in bytes.indices { changed.bytes[index] = change(index, bytes[index]) }
        return changed
    }

    /// The text without leading and trailing blanks.
    var trimmed: EmbeddedText {
        let isBlank = { (byte: UInt8) in byte <= 0x20 && byte != ShellText.unknown }
        guard let first = bytes.firstIndex(where: { !isBlank($0) }),
            let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return EmbeddedText() }
        return slice(first..<last + 1)
    }
}
