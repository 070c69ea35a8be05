// SPDX-License-Identifier: Apache-2.0

/// A place in a file.
enum FilePlace: Hashable, Sendable {
    /// An offset in bytes.
    case offset(Int)
    /// A line and a column, both from 1, the column in Unicode scalars.
    case position(line: Int, column: Int)

    /// The place in a file of which the text with this place is a part that starts there.
    func shifted(by start: Int) -> FilePlace {
        guard case .offset(let offset) = self else { return self }
        return .offset(offset + start)
    }
}

/// The places of a push's parts in its file.
struct PlaceMap: Sendable {
    /// Payload bytes that are verbatim in the file.
    struct Segment: Hashable, Sendable {
        /// The offset of the first byte in the payload.
        let payloadStart: Int
        /// Its offset in the file.
        let fileStart: Int
        /// Whether the bytes are in the file; if not, all of them have this offset.
        var isCopied = true
    }

    /// A value of a document that was converted to JSON.
    struct Mark: Hashable, Sendable {
        /// The offset of its first byte in the payload.
        let payloadStart: Int
        let line: Int
        let column: Int
    }

    /// The origin of the payload's bytes.
    enum Payload: Sendable {
        /// Pieces of the file, which can be edited.
        case segments([Segment])
        /// Pieces of a string in the file, whose escapes an edit would have to preserve.
        case quoted([Segment])
        /// A conversion.
        case marks([Mark])
    }

    /// A header of the push.
    struct Header: Sendable {
        /// The name in lower case.
        let name: String
        let place: FilePlace
        /// Its JSON pointer in the file.
        let pointer: String
    }

    /// The place of the payload.
    var payload: Payload = .segments([Segment(payloadStart: 0, fileStart: 0)])
    /// Whether the payload can be edited: not in a quote, whose lines begin with marks.
    var isEditable = true
    /// The JSON pointer of the payload in the file.
    var pointer = ""
    /// The headers that are in the file.
    var headers: [Header] = []
    /// The place and the JSON pointer for missing headers; `nil` for a bare payload.
    var missingHeaders: (place: FilePlace, pointer: String)?

    /// The pointers in the file of payload values that are not below ``pointer``, by their pointers
    /// in the payload.
    var origins: [String: String] = [:]

    /// The offset in the file of the payload's first byte; `nil` if it was converted.
    var payloadStart: Int? {
        switch payload {
        case .segments(let segments), .quoted(let segments): segments.first?.fileStart
        case .marks: nil
        }
    }

    /// Moves the places in a part of a file to those in the file.
    mutating func shift(by start: Int) {
        let moved = { (segments: [Segment]) in
            segments.map {
                Segment(
                    payloadStart: $0.payloadStart, fileStart: $0.fileStart + start,
                    isCopied: $0.isCopied)
            }
        }
        switch payload {
        case .segments(let segments): payload = .segments(moved(segments))
        case .quoted(let segments): payload = .quoted(moved(segments))
        case .marks: break
        }
        headers = headers.map {
            Header(name: $0.name, place: $0.place.shifted(by: start), pointer: $0.pointer)
        }
        missingHeaders = missingHeaders.map { ($0.place.shifted(by: start), $0.pointer) }
    }

    /// Replaces the offsets in JSON by the places in the text that it was converted from.
    mutating func convert(by marks: [Mark]) {
        if case .segments(let segments) = payload {
            var own: [Mark] = []
            for (index, segment) in segments.enumerated() {
                let start = Self.mark(at: segment.fileStart, marks)
                own.append(
                    Mark(
                        payloadStart: segment.payloadStart, line: start.line, column: start.column))
                guard segment.isCopied else { continue }
                let next = index + 1 < segments.count ? segments[index + 1].payloadStart : Int.max
                let shift = segment.payloadStart - segment.fileStart
                own += marks.lazy.filter { $0.payloadStart > segment.fileStart }
                    .prefix { $0.payloadStart + shift < next }
                    .map {
                        Mark(
                            payloadStart: $0.payloadStart + shift, line: $0.line, column: $0.column)
                    }
            }
            payload = .marks(own)
        } else if case .quoted(let segments) = payload {
            let start = Self.mark(at: segments.first?.fileStart ?? 0, marks)
            payload = .marks([Mark(payloadStart: 0, line: start.line, column: start.column)])
        }
        headers = headers.map {
            Header(name: $0.name, place: Self.place(of: $0.place, marks), pointer: $0.pointer)
        }
        missingHeaders = missingHeaders.map { (Self.place(of: $0.place, marks), $0.pointer) }
    }

    /// The place in a text that was converted to JSON, for an offset in the JSON.
    static func place(of place: FilePlace, _ marks: [Mark]) -> FilePlace {
        guard case .offset(let offset) = place else { return place }
        let mark = mark(at: offset, marks)
        return .position(line: mark.line, column: mark.column)
    }

    private static func mark(at offset: Int, _ marks: [Mark]) -> Mark {
        lastIndex(marks.count) { marks[$0].payloadStart <= offset }.map { marks[$0] }
            ?? Mark(payloadStart: 0, line: 1, column: 1)
    }

    /// The JSON pointer in the file for a pointer in the payload.
    func filePointer(_ pointer: String) -> String {
        guard !origins.isEmpty else { return self.pointer + pointer }
        var start = pointer[...]
        while !start.isEmpty {
            if let origin = origins[String(start)] { return origin + pointer[start.endIndex...] }
            start = start.prefix(upTo: start.lastIndex(of: "/") ?? start.startIndex)
        }
        return self.pointer + pointer
    }

    /// The place of a payload byte.
    func place(ofOffset offset: Int) -> FilePlace {
        switch payload {
        case .segments(let segments), .quoted(let segments):
            let index = Self.lastIndex(segments.count) { segments[$0].payloadStart <= offset }
            guard let index else { return .offset(offset) }
            let segment = segments[index]
            let shift = segment.isCopied ? offset - segment.payloadStart : 0
            return .offset(segment.fileStart + shift)
        case .marks(let marks):
            let index = Self.lastIndex(marks.count) { marks[$0].payloadStart <= offset }
            guard let index else { return .position(line: 1, column: 1) }
            return .position(line: marks[index].line, column: marks[index].column)
        }
    }

    /// The range in the file; `nil` if it is not in one piece there, or cannot be edited.
    func editableRange(_ range: Range<Int>) -> Range<Int>? {
        guard isEditable, case .segments(let segments) = payload else { return nil }
        let index = Self.lastIndex(segments.count) { segments[$0].payloadStart <= range.lowerBound }
        guard let index, segments[index].isCopied else { return nil }
        if index + 1 < segments.count, segments[index + 1].payloadStart < range.upperBound {
            return nil
        }
        let shift = segments[index].fileStart - segments[index].payloadStart
        return range.lowerBound + shift..<range.upperBound + shift
    }

    /// The last of `count` indices that satisfies a condition, which all indices before it satisfy.
    private static func lastIndex(_ count: Int, where holds: (Int) -> Bool) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? low - 1 : nil
    }
}
