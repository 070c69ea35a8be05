// SPDX-License-Identifier: Apache-2.0

/// A fast check whether a text contains one of some words, so that other texts need not be parsed.
/// Comments and literals are not recognised: words in them count.
struct WordFilter: Sendable {
    /// The words of the rules, and names of device tokens.
    static let rules = WordFilter(SourceReader.words, findsTokens: true)

    private let words: Set<[UInt8]>
    private let sketch: WordSketch
    private let findsTokens: Bool

    /// Creates a filter for these words.
    init(_ words: Set<String>, findsTokens: Bool = false) {
        self.words = Set(words.map { Array($0.utf8) }.filter { $0.count < Self.wordLimit })
        sketch = WordSketch(self.words)
        self.findsTokens = findsTokens
    }

    /// The length from which on words are not looked for.
    private static let wordLimit = 64

    /// Whether a word can be found: it is short, and no letter is outside ASCII.
    static func canFind(_ word: String) -> Bool {
        word.utf8.count < wordLimit && word.utf8.allSatisfy(isNameByte)
    }

    /// The words that a text declares as functions: `func name`, `- (void) name:`.
    func functions(in bytes: [UInt8]) -> Set<String> {
        words(in: bytes) { start, _ in
            let before = bytes[..<start].suffix(5)
            return before.elementsEqual("func ".utf8) || before.last == 0x29
                || before.last == 0x20 && before.dropLast().last == 0x29
        }
    }

    /// The words that a text may declare as constants: `let name =`, `let a = b, name: Type`,
    /// `NSString *const name =`, `const double name =`.
    func constants(in bytes: [UInt8]) -> Set<String> {
        words(in: bytes) { start, end in
            // A slash may be one of a comment.
            guard let next = bytes[end...].first(where: { $0 > 0x20 }), "=:/`".utf8.contains(next),
                let last = bytes[..<start].lastIndex(where: { $0 > 0x20 })
            else { return false }
            return ",*/`".utf8.contains(bytes[last])
                || ["let", "var", "case", "const"].contains {
                    bytes[...last].suffix($0.utf8.count).elementsEqual($0.utf8)
                }
                || next == UInt8(ascii: "=")
                    && bytes[..<start].suffix(Self.declarationLength)
                        .firstRange(of: "const ".utf8) != nil
        }
    }

    /// The longest start of a constant's declaration in Objective-C.
    private static let declarationLength = 64

    /// The words that a text contains, at places that are meant.
    func words(
        in bytes: [UInt8], where isMeant: (_ start: Int, _ end: Int) -> Bool = { _, _ in true }
    ) -> Set<String> {
        var found: Set<String> = []
        _ = Self.scan(bytes) { word in
            if holds(word, bytes), isMeant(word.start, word.end) {
                found.insert(String(decoding: bytes[word.start..<word.end], as: UTF8.self))
            }
            return false
        }
        return found
    }

    /// The classes of other files that a text makes, inherits or refers to: `Name()`, `class Other:
    /// Name`, `Name.self`.
    func madeTypes(in bytes: [UInt8]) -> Set<String> {
        let found = words(in: bytes) { start, end in
            let after = bytes[end...]
            let line = bytes[..<start].suffix(100).split(separator: UInt8(ascii: "\n")).last ?? []
            let isBase =
                line.last { $0 != UInt8(ascii: " ") } == UInt8(ascii: ":")
                && line.firstRange(of: "class ".utf8) != nil
            return isBase || after.first == UInt8(ascii: "(") || after.starts(with: ".self".utf8)
        }
        let declared = declaredTypes(in: bytes)
        guard !declared.isEmpty else { return found }
        // The entry of the app may be here.
        let entries = Self.entries.words(in: bytes) { start, _ in
            start > 0 && bytes[start - 1] == UInt8(ascii: "@")
        }
        return !entries.isEmpty ? found.union(declared) : found.subtracting(declared)
    }

    /// The attributes of an app's entry, `@main` and the older one, without their sign.
    private static let entries = WordFilter(["main", "UIApplicationMain"])

    /// The types that a text declares.
    func declaredTypes(in bytes: [UInt8]) -> Set<String> {
        words(in: bytes) { start, _ in Self.declaresType(bytes[..<start]) }
    }

    /// Whether a text ends with the start of a type's declaration: `final class `.
    private static func declaresType(_ bytes: ArraySlice<UInt8>) -> Bool {
        ["class ", "struct ", "enum ", "actor ", "protocol ", "typealias "].contains { keyword in
            bytes.suffix(keyword.utf8.count).elementsEqual(keyword.utf8)
        }
    }

    /// The words that a text mentions other than in a declaration: types in `extension Name`,
    /// functions of delegates in `object.name`, other functions anywhere else than in `func name`,
    /// `- (void)name` and lines that are comments.
    func mentions(in bytes: [UInt8]) -> Set<String> {
        words(in: bytes) { start, end in
            let word = bytes[start..<end]
            let before = bytes[..<start].suffix(10)
            // `"com.example.name"`
            if before.last == UInt8(ascii: "."), bytes[end...].first == UInt8(ascii: "\"") {
                return false
            }
            if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[start]) {
                return before.elementsEqual("extension ".utf8)
            }
            if ["application", "pushRegistry"].contains(where: { word.elementsEqual($0.utf8) }) {
                return before.last == UInt8(ascii: ".")
                    && bytes[end...].first == UInt8(ascii: "(")
            }
            return !before.suffix(5).elementsEqual("func ".utf8)
                && !Self.startsMethod(bytes[..<start]) && !Self.isComment(bytes[..<start])
        }
    }

    /// Whether a text ends in a line that is a comment.
    private static func isComment(_ bytes: ArraySlice<UInt8>) -> Bool {
        let end = bytes.suffix(100)
        guard let line = end.split(separator: 0x0a, omittingEmptySubsequences: false).last,
            line.startIndex > end.startIndex || end.startIndex == bytes.startIndex
        else { return false }
        return line.drop { $0 == 0x20 || $0 == 0x09 }.starts(with: "//".utf8)
    }

    /// Whether a text ends with the start of a method in Objective-C: `- (void)`.
    private static func startsMethod(_ bytes: ArraySlice<UInt8>) -> Bool {
        let line = bytes.suffix(100).split(separator: UInt8(ascii: "\n")).last ?? []
        let first = line.first { $0 != UInt8(ascii: " ") }
        return (first == UInt8(ascii: "-") || first == UInt8(ascii: "+"))
            && line.last { $0 != UInt8(ascii: " ") } == UInt8(ascii: ")")
    }

    /// Whether a text contains one of the words.
    func finds(in bytes: [UInt8]) -> Bool { Self.scan(bytes) { meets($0, in: bytes) } }

    /// Whether a text contains one of the words, and a sketch of all words in it.
    func look(at bytes: [UInt8]) -> (finds: Bool, sketch: WordSketch) {
        var sketch = WordSketch(forTextOf: bytes.count)
        var finds = false
        _ = Self.scan(bytes) { word in
            sketch.insert(word.hash)
            finds = finds || meets(word, in: bytes)
            return false
        }
        return (finds, sketch)
    }

    /// A word of a text.
    private struct Word {
        let start: Int
        let end: Int
        let hash: UInt64
        /// Whether it may contain "token".
        let mayNameToken: Bool
    }

    /// Looks at the words of a text until one is accepted. Returns whether one was.
    @inline(__always)
    private static func scan(_ bytes: [UInt8], _ accepts: (Word) -> Bool) -> Bool {
        var index = 0
        while index < bytes.count {
            guard isNameByte(bytes[index]) else {
                index += 1
                continue
            }
            let start = index
            var hash = WordSketch.start
            var mayNameToken = false
            while index < bytes.count, isNameByte(bytes[index]) {
                hash = WordSketch.hash(hash, bytes[index])
                // The `k` of "token", in the only two spellings.
                if bytes[index] == 0x6b, index > start, bytes[index - 1] == 0x6f {
                    mayNameToken = true
                }
                index += 1
            }
            if accepts(Word(start: start, end: index, hash: hash, mayNameToken: mayNameToken)) {
                return true
            }
        }
        return false
    }

    /// Whether a word is one of the words.
    private func holds(_ word: Word, _ bytes: [UInt8]) -> Bool {
        sketch.mayContain(word.hash) && words.contains(Array(bytes[word.start..<word.end]))
    }

    /// Whether a word is one of the words, or the name of a device token.
    private func meets(_ word: Word, in bytes: [UInt8]) -> Bool {
        if holds(word, bytes) { return true }
        guard findsTokens else { return false }
        // `.background(withIdentifier:)`, whose type may be omitted. Too many files contain the
        // label alone.
        return word.hash == Self.label
            && bytes[..<word.start].suffix("background(".utf8.count).elementsEqual(
                "background(".utf8)
            || word.mayNameToken && Self.namesToken(bytes[word.start..<word.end])
    }

    private static let label = "withIdentifier".utf8.reduce(WordSketch.start, WordSketch.hash)

    private static func namesToken(_ name: ArraySlice<UInt8>) -> Bool {
        let name = String(decoding: name, as: UTF8.self).lowercased()
        return name.hasLetters("token")
            && ["device", "push", "apns", "voip"].contains(where: name.hasLetters)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return letter < 26 || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "_")
    }
}
