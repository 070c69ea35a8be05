// SPDX-License-Identifier: Apache-2.0

/// Reads how the bytes of a device token become text.
extension SourceReader {
    /// Whether a token's bytes are decoded: `String(data: token, encoding: .utf8)`,
    /// `String(decoding: token, as: UTF8.self)`, `[[NSString alloc] initWithData:token
    /// encoding:NSUTF8StringEncoding]`.
    func isReadAsText(_ index: Int) -> Bool {
        let start = start(of: index)
        // What stands in a longer text is for people: `"token: \(String(data: …))"`.
        guard text.sees(":", at: start - 1), text[start - 5]?.isMark("\\(") != true else {
            return false
        }
        if text.isObjectiveC {
            return text.sees("NSString", "alloc", "]", "initWithData", at: start - 5)
                && text.sees("encoding", ":", at: index + 1)
        }
        return text.sees("String", "(", "data", at: start - 4)
            && text.sees(",", "encoding", at: index + 1)
            || text.sees("String", "(", "decoding", at: start - 4)
                && text.sees(",", "as", at: index + 1)
    }

    /// Formats that write a byte below 16 with one digit.
    private static let shortFormats: Set = ["%x", "%X", "%hhx", "%hhX"]

    /// The place at which bytes of a token are written without a leading zero: `token.map {
    /// String($0, radix: 16) }`, `token.reduce("") { $0 + String(format: "%x", $1) }`, or
    /// `[hex appendFormat:@"%x", bytes[i]]` in a function that asks for the token's bytes.
    func placeOfShortBytes(_ index: Int) -> Int? {
        if text.isObjectiveC {
            guard text.sees("bytes", "]", at: index + 1) || text.sees(".", "bytes", at: index + 1),
                let (_, body) = function(around: index)
            else { return nil }
            return body.first { word in
                text.tokens[word].isString && Self.shortFormats.contains(text.tokens[word].text)
                    && (text.sees("appendFormat", ":", at: word - 2)
                        || text.sees("stringWithFormat", ":", at: word - 2)
                        || text.sees("appendFormat", ":", "@", at: word - 3)
                        || text.sees("stringWithFormat", ":", "@", at: word - 3))
            }
        }
        if text.sees("in", at: start(of: index) - 1), text.sees("{", at: index + 1) {
            return shortFormat(in: text.content(ofBracket: index + 1))
        }
        let call = index + 2
        guard text.sees(".", at: index + 1),
            text.sees("map", at: call) || text.sees("reduce", at: call),
            let closure = text.call(at: call)?.arguments.last?.range,
            text.sees("{", at: closure.lowerBound)
        else { return nil }
        let words = closure.dropFirst().dropLast()
        if let first = words.first, text.sees("String", "(", "$0", ",", "radix", ":", at: first),
            text[first + 6]?.text == "16", text.partners[first + 1] == words.last
        {
            return first
        }
        return shortFormat(in: words)
    }

    private func shortFormat(in words: Range<Int>) -> Int? {
        words.first { word in
            text.sees("String", "(", "format", ":", at: word)
                && text[word + 4].map { $0.isString && Self.shortFormats.contains($0.text) } == true
        }
    }
}
