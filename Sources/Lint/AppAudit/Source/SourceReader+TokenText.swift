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
        if !text.sees(",", "as", at: index + 1),
            !(index + 1..<index + 6).contains(where: {
                Self.encodings.contains(text[$0]?.text ?? "")
            })
        {
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

    /// Encodings of which some bytes are no text. Others have a character for each byte.
    private static let encodings: Set = [
        "utf8", "ascii", "NSUTF8StringEncoding", "NSASCIIStringEncoding",
    ]

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
            // All mentions in a function are looked at with the first.
            let first = text.places(of: text.tokens[index].text, in: body).first {
                text.sees("bytes", "]", at: $0 + 1) || text.sees(".", "bytes", at: $0 + 1)
            }
            guard first == index else { return nil }
            let bytes = Set(
                body.filter { isOfBytes($0, of: index) }.compactMap { text[$0 - 1]?.text })
            let isFilled = body.contains {
                ["if", "?", ">>", "&"].contains(text.tokens[$0].text) || comparesLength($0)
            }
            return isFilled
                ? nil
                : body.first { word in
                    text.sees(",", at: word + 1) && bytes.contains(text[word + 2]?.text ?? "")
                        && text.tokens[word].isString
                        && Self.shortFormats.contains(text.tokens[word].text)
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
            text[first + 6]?.text == "16", text.partners[first + 1] == words.last,
            isJoined(closure)
        {
            return first
        }
        return text.sees("reduce", at: call) || isJoined(closure) ? shortFormat(in: words) : nil
    }

    /// Whether the length of a text is compared: `s.length == 1`, `[s length] < 2`.
    private func comparesLength(_ index: Int) -> Bool {
        let next = text.sees("]", at: index + 1) ? index + 2 : index + 1
        return text.tokens[index].isName("length")
            && ["==", "!=", "<", ">"].contains { text.sees($0, at: next) }
    }

    /// Whether an equals sign gives a variable the bytes of a token: `bytes = [token bytes]`,
    /// `bytes = (const unsigned char *)token.bytes`.
    private func isOfBytes(_ equals: Int, of token: Int) -> Bool {
        guard text.tokens[equals].isMark("="), equals < token else { return false }
        return text.statementEnd(equals, equals..<text.tokens.count) > token
    }

    /// Whether the texts that a closure makes are joined as they are.
    private func isJoined(_ closure: Range<Int>) -> Bool {
        let next =
            text.sees(")", at: closure.upperBound) ? closure.upperBound + 1 : closure.upperBound
        return text.sees(".", "joined", "(", ")", at: next)
    }

    private func shortFormat(in words: Range<Int>) -> Int? {
        // What looks at a text's length fills it up.
        guard
            !words.contains(where: {
                ["if", "guard", "switch", "?", "count", ">>", "&"].contains(text.tokens[$0].text)
            })
        else { return nil }
        return words.first { word in
            text.sees("String", "(", "format", ":", at: word)
                && text[word + 4].map { $0.isString && Self.shortFormats.contains($0.text) } == true
        }
    }
}
