// SPDX-License-Identifier: Apache-2.0

/// A fast check whether a text contains one of some words, so that other texts need not be parsed.
/// Comments and literals are not recognised: words in them count.
struct WordFilter: Sendable {
    /// The words of the rules, and names of device tokens.
    static let rules = WordFilter(SourceReader.words, findsTokens: true)

    private let words: Set<[UInt8]>
    /// For each first letter the lengths of words, as bits.
    private let lengths: [UInt64]
    private let findsTokens: Bool

    /// Creates a filter for these words.
    init(_ words: Set<String>, findsTokens: Bool = false) {
        var lengths = [UInt64](repeating: 0, count: 256)
        for word in words.map({ Array($0.utf8) }) where !word.isEmpty && word.count < 64 {
            lengths[Int(word[0])] |= 1 << UInt64(word.count)
        }
        self.words = Set(words.map { Array($0.utf8) })
        self.lengths = lengths
        self.findsTokens = findsTokens
    }

    /// Whether a word can be found: it is short, and no letter is outside ASCII.
    static func canFind(_ word: String) -> Bool {
        word.utf8.count < 64 && word.utf8.allSatisfy { isNameByte[Int($0)] }
    }

    /// Whether a text declares a function with one of the words as its name: `func name`, `- (void)
    /// name:`.
    func findsFunction(in bytes: [UInt8]) -> Bool {
        finds(in: bytes) { start in
            let before = bytes[..<start].suffix(5)
            return before.elementsEqual("func ".utf8) || before.last == 0x29
                || before.last == 0x20 && before.dropLast().last == 0x29
        }
    }

    /// The words that a text contains.
    func words(in bytes: [UInt8]) -> Set<String> {
        var found: Set<String> = []
        _ = finds(in: bytes) { start in
            found.insert(Self.word(at: start, in: bytes))
            return false
        }
        return found
    }

    /// The classes of other files that a text makes, inherits or refers to: `Name()`, `class Other:
    /// Name`, `Name.self`.
    func madeTypes(in bytes: [UInt8]) -> Set<String> {
        var found: Set<String> = []
        var declared: Set<String> = []
        _ = finds(in: bytes) { start in
            let word = Self.word(at: start, in: bytes)
            let after = bytes[start...].dropFirst(word.utf8.count)
            let line = bytes[..<start].suffix(100).split(separator: UInt8(ascii: "\n")).last ?? []
            let isBase =
                line.last { $0 != UInt8(ascii: " ") } == UInt8(ascii: ":")
                && line.firstRange(of: "class ".utf8) != nil
            if Self.declaresType(bytes[..<start]) { declared.insert(word) }
            if isBase || after.first == UInt8(ascii: "(") || after.starts(with: ".self".utf8) {
                found.insert(word)
            }
            return false
        }
        guard !declared.isEmpty else { return found }
        // The entry of the app may be here.
        let isEntry = Self.entries.finds(in: bytes) { start in
            start > 0 && bytes[start - 1] == UInt8(ascii: "@")
        }
        return isEntry ? found.union(declared) : found.subtracting(declared)
    }

    /// The attributes of an app's entry, `@main` and the older one, without their sign.
    private static let entries = WordFilter(["main", "UIApplicationMain"])

    /// The types that a text declares.
    func declaredTypes(in bytes: [UInt8]) -> Set<String> {
        var found: Set<String> = []
        _ = finds(in: bytes) { start in
            if Self.declaresType(bytes[..<start]) { found.insert(Self.word(at: start, in: bytes)) }
            return false
        }
        return found
    }

    /// Whether a text ends with the start of a type's declaration: `final class `.
    private static func declaresType(_ bytes: ArraySlice<UInt8>) -> Bool {
        ["class ", "struct ", "enum ", "actor ", "protocol ", "typealias "].contains { keyword in
            bytes.suffix(keyword.utf8.count).elementsEqual(keyword.utf8)
        }
    }

    private static func word(at start: Int, in bytes: [UInt8]) -> String {
        let end = bytes[start...].firstIndex { !isNameByte[Int($0)] } ?? bytes.count
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// The words that a text mentions other than in a declaration: types in `extension Name`,
    /// functions of delegates in `object.name`, other functions anywhere else than in `func name`,
    /// `- (void)name` and lines that are comments.
    func mentions(in bytes: [UInt8]) -> Set<String> {
        var found: Set<String> = []
        _ = finds(in: bytes) { start in
            let word = Self.word(at: start, in: bytes)
            let before = bytes[..<start].suffix(10)
            let isMentioned =
                if word.first?.isUppercase == true {
                    before.elementsEqual("extension ".utf8)
                } else if word == "application" || word == "pushRegistry" {
                    before.last == UInt8(ascii: ".")
                        && bytes[(start + word.utf8.count)...].first == UInt8(ascii: "(")
                } else {
                    !before.suffix(5).elementsEqual("func ".utf8)
                        && !Self.startsMethod(bytes[..<start])
                        && !Self.isComment(bytes[..<start])
                }
            if isMentioned { found.insert(word) }
            return false
        }
        return found
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

    /// Whether a text contains one of the words, at a place that is accepted.
    func finds(in bytes: [UInt8], where accepts: (Int) -> Bool = { _ in true }) -> Bool {
        var index = 0
        while index < bytes.count {
            guard Self.isNameByte[Int(bytes[index])] else {
                index += 1
                continue
            }
            let start = index
            var hasToken = false
            while index < bytes.count, Self.isNameByte[Int(bytes[index])] {
                // The `k` of "token", in the only two spellings.
                if bytes[index] == 0x6b, index > start, bytes[index - 1] == 0x6f { hasToken = true }
                index += 1
            }
            let count = index - start
            if count < 64, lengths[Int(bytes[start])] & (1 << UInt64(count)) != 0,
                words.contains(Array(bytes[start..<index])), accepts(start)
            {
                return true
            }
            if count == Self.label.count, findsTokens,
                bytes[start..<index].elementsEqual(Self.label),
                bytes[..<start].suffix(Self.call.count).elementsEqual(Self.call)
            {
                return true
            }
            if hasToken, findsTokens, Self.namesToken(bytes[start..<index]) { return true }
        }
        return false
    }

    /// `.background(withIdentifier:)`, whose type may be omitted. Too many files contain the label
    /// alone.
    private static let call = Array("background(".utf8)
    private static let label = Array("withIdentifier".utf8)

    private static func namesToken(_ name: ArraySlice<UInt8>) -> Bool {
        let name = String(decoding: name, as: UTF8.self).lowercased()
        return name.contains("token")
            && ["device", "push", "apns", "voip"].contains(where: name.contains)
    }

    private static let isNameByte: [Bool] = (0..<256).map { byte in
        switch UInt8(byte) {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
