// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import Testing

@testable import PayloadLint

@Suite("Lines and columns")
struct LineIndexTests {
    private static let texts = [
        "", "a", "é\n\r\nb\rc€😀d\n", String(repeating: "é😀x", count: 900) + "\r\nab",
        String(repeating: "0123456789abcde\n", count: 200),
    ]

    @Test("are those that are counted from the start", arguments: texts)
    func positions(text: String) {
        let bytes = Array(text.utf8)
        let index = LineIndex(bytes)
        for offset in 0...bytes.count {
            let place = index.position(of: offset, in: bytes)
            let counted = TextPosition(offset: offset, in: bytes)
            #expect(place.line == counted.line && place.column == counted.column)
            if offset == bytes.count || bytes[offset] & 0xc0 != 0x80 {
                #expect(
                    index.offset(ofLine: place.line, column: place.column, in: bytes) == offset)
            }
        }
    }

    @Test("an excerpt of a long line is that of the whole line")
    func excerpts() {
        for text in Self.texts {
            let bytes = Array(text.utf8)
            let source = SourceText(bytes)
            for offset in stride(from: 0, to: bytes.count, by: 37)
            where bytes[offset] & 0xc0 != 0x80 {
                let place = source.position(of: .offset(offset))
                let isEnd = { (byte: UInt8) in byte == 0x0a || byte == 0x0d }
                let start = bytes[..<offset].lastIndex(where: isEnd).map { $0 + 1 } ?? 0
                let whole = Array(bytes[start...].prefix { !isEnd($0) })
                let line = source.line(at: .offset(offset))
                #expect(
                    Excerpt(line.bytes, column: line.column)
                        == Excerpt(whole, column: place.column))
                let same = source.line(at: .position(line: place.line, column: place.column))
                #expect(same == line)
            }
        }
    }

    @Test("many findings in one line take no longer each than few", .timeLimit(.minutes(10)))
    func oneLine() async throws {
        let push = #"{"aps":{"alert":"x","badge":"1","sonud":"é"}}"#
        let folder = try TestFolder()
        let list = "[" + Array(repeating: push, count: 4000).joined(separator: ",") + "]"
        let path = try folder.write(list, to: "a.json")
        let run = try await FinishedRun([path]) { $0.showsSource = true }
        #expect(run.result.summary.errors == 4000)
    }
}
