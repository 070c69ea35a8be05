// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// What the text of a page says about the blocks in it.
struct PageSections {
    let bytes: [UInt8]
    /// The offsets of headings, and of lines between sections.
    private let headings: [Int]

    /// Reads a page with these blocks, which have no headings in them.
    init(_ bytes: [UInt8], blocks: [PageBlock]) {
        self.bytes = bytes
        var headings: [Int] = []
        var start = 0
        var previous: Int?
        var rest = blocks[...]
        while start < bytes.count {
            rest = rest.drop { $0.whole.upperBound <= start }
            if let block = rest.first, block.whole.contains(start) {
                start = block.whole.upperBound
                previous = nil
                continue
            }
            let end = bytes[start...].firstIndex(of: 0x0a) ?? bytes.count
            let line = bytes[start..<end].filter { $0 > 0x20 }
            if Self.isHeading(line) {
                headings.append(start)
            } else if line.count > 2, let mark = line.first, "-~^*_".utf8.contains(mark),
                line.allSatisfy({ $0 == mark })
            {
                // It underlines a title, or is a line between sections.
                headings.append(previous ?? start)
            }
            previous = line.isEmpty ? nil : start
            start = end + 1
        }
        self.headings = headings
    }

    /// Whether a line without its blanks is a title by itself: of Markdown, AsciiDoc or HTML, or
    /// all in bold letters.
    private static func isHeading(_ line: [UInt8]) -> Bool {
        guard let mark = line.first else { return false }
        let isBold =
            line.starts(with: "**".utf8) && line.suffix(2).elementsEqual("**".utf8)
            && line.contains { $0 != mark }
        return "#=".utf8.contains(mark) || isBold
            || line.starts(with: "<h".utf8) && line.count > 3
                && UInt8(ascii: "1")...UInt8(ascii: "6") ~= line[2]
    }

    /// The place in ``headings`` of the first one at an offset or behind it.
    private func place(ofHeadingFrom offset: Int) -> Int {
        var range = headings.indices
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range =
                headings[middle] < offset
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    /// Whether no section begins between two offsets.
    func areTogether(_ first: Int, _ second: Int) -> Bool {
        let place = place(ofHeadingFrom: first)
        return place == headings.count || headings[place] >= second
    }

    /// Whether the sections of two offsets, one behind the other, are called after the headers and
    /// the payload of one push.
    func areHeadersAndPayload(_ first: Int, _ second: Int) -> Bool {
        let own = place(ofHeadingFrom: first)
        guard own > 0, own < headings.count, headings[own] < second,
            place(ofHeadingFrom: second) == own + 1
        else { return false }
        let kinds = [own - 1, own].map { Self.kind(ofTitle: title($0)) }
        return kinds.contains("headers") && kinds.contains("payload")
    }

    /// Whether nothing but a label in bold letters is between two offsets of a section, one behind
    /// the other, and says that the headers or the payload follow.
    func areTogether(_ first: Int, _ second: Int, butFor label: PartOfPush) -> Bool {
        let own = place(ofHeadingFrom: first)
        guard own > 0, own < headings.count, headings[own] < second,
            place(ofHeadingFrom: second) == own + 1
        else { return false }
        // A label below another one may begin a section of its own.
        return title(own - 1).first == UInt8(ascii: "#") && title(own).starts(with: "**".utf8)
            && Self.kind(ofTitle: title(own)) == label.rawValue
    }

    /// A part of a push that a title or a label can name.
    enum PartOfPush: String { case headers, payload }

    /// The line of a heading.
    private func title(_ place: Int) -> ArraySlice<UInt8> {
        bytes[headings[place]...].prefix { $0 != 0x0a }.drop { $0 == 0x20 }
    }

    /// Words by which a title tells of another push than the one before it.
    private static let ofOthers: Set<Substring> = [
        "alert", "background", "silent", "voip", "call", "live", "liveactivity", "activity",
        "location", "complication", "widgets", "mdm", "no", "not", "another", "other", "wrong",
        "invalid", "bad", "old", "android", "web", "fcm", "firebase",
    ]

    /// Whether a title that names no type of push says that headers or a payload follow.
    private static func kind(ofTitle title: ArraySlice<UInt8>) -> String? {
        // What a dash sets off says more of it: "Body — as the app decodes it".
        let text = String(decoding: title, as: UTF8.self).lowercased()
            .replacing(" — ", with: " - ").replacing(" – ", with: " - ")
        let dash = text.firstRange(of: " - ")
        let label = dash.map { text[..<$0.lowerBound] } ?? text[...]
        let more = dash.map { text[$0.upperBound...].split { !$0.isLetter } } ?? []
        guard !more.contains(where: Self.ofOthers.contains) else { return nil }
        var words = label.split { !$0.isLetter }[...]
        if ["format", "structure", "example"].contains(words.last) { words.removeLast() }
        let others = ["request", "http", "apns", "apn", "json", "push", "the"]
        guard let last = words.last, words.count <= 3,
            words.dropLast().allSatisfy({ others.contains(String($0)) })
        else { return nil }
        if ["header", "headers"].contains(last) { return "headers" }
        return ["payload", "body"].contains(last) ? "payload" : nil
    }

    /// The section of a block, from its title on.
    func section(of block: Range<Int>) -> Range<Int> {
        let own = place(ofHeadingFrom: block.lowerBound)
        let following = place(ofHeadingFrom: block.upperBound)
        let next = following < headings.count ? headings[following] : bytes.count
        return (own > 0 ? headings[own - 1] : 0)..<max(block.upperBound, next)
    }

    /// Whether the text around a block, in its section, speaks of a push that is not visible.
    func namesOtherType(around block: Range<Int>) -> Bool {
        let section = section(of: block)
        let before = max(section.lowerBound, block.lowerBound - Self.reach)..<block.lowerBound
        let after =
            block.upperBound..<min(section.upperBound, block.upperBound + Self.reach / 2)
        return namesOtherType(in: before) || namesOtherType(in: after)
    }

    /// Whether a part of the text speaks of a push that is not visible.
    private func namesOtherType(in part: Range<Int>) -> Bool {
        let words = String(decoding: bytes[part], as: UTF8.self).lowercased()
            .split { !$0.isLetter }
        let text = words.joined()
        return words.contains { Self.words.contains(String($0)) }
            || Self.phrases.contains { text.contains($0) }
    }

    /// Whether a payload has a word for a call.
    static func speaksOfCall(_ payload: [UInt8]) -> Bool {
        let text = String(decoding: payload, as: UTF8.self).lowercased()
        return ["call", "uuid", "handle", "session", "room"].contains { text.contains($0) }
    }

    /// Whether the title of a block's section says that the payload there is one for PushKit, and
    /// names no other push, and the payload speaks of a call.
    func isForCalls(_ block: Range<Int>, _ payload: [UInt8]) -> Bool {
        guard Self.speaksOfCall(payload) else { return false }
        let own = place(ofHeadingFrom: block.lowerBound)
        guard own > 0 else { return false }
        let title = bytes[headings[own - 1]...].prefix { $0 != 0x0a }
        // The title of the page is about all of it.
        guard own > 1 || title.starts(with: "##".utf8) else { return false }
        // Another block of the section may be about another push.
        let between = bytes[title.endIndex..<max(title.endIndex, block.lowerBound)]
        guard between.count <= Self.reach, !between.contains(UInt8(ascii: "{")) else {
            return false
        }
        guard !namesVisiblePush(in: title.endIndex..<between.endIndex) else { return false }
        let text = String(decoding: title, as: UTF8.self).lowercased()
        let words = text.split { !$0.isLetter }.map(String.init)
        // What a dash sets off says more of what is before it.
        let dash = [" — ", " – "].compactMap { text.firstRange(of: $0)?.lowerBound }.min()
        let label = text[..<(dash ?? text.endIndex)]
        let named = label.split { !$0.isLetter }
        // The service for all pushes beside others in a list is one kind of them.
        let isList =
            named.contains { ["apns", "apn"].contains($0) }
            && label.contains { "/,&+|;>".contains($0) || !$0.isASCII }
        return named.contains { ["voip", "pushkit"].contains($0) } && !isList
            && !words.contains { Self.otherPushes.contains($0) }
    }

    /// Whether a part of the text has a word for a push that is not for PushKit.
    func namesVisiblePush(in part: Range<Int>) -> Bool {
        let words = String(decoding: bytes[part], as: UTF8.self).lowercased()
            .split { !$0.isLetter }.map(String.init)
        return words.indices.contains { index in
            // The capability Background Modes is no push.
            if words[index] == "background", words[(index + 1)...].first == "modes" { return false }
            return Self.visiblePushes.contains(words[index]) && !Self.isContrast(words[..<index])
        }
    }

    /// Whether words end with what a push is told apart from: "separate from", "unlike the".
    private static func isContrast(_ words: ArraySlice<String>) -> Bool {
        var words = words
        let fillers = ["the", "a", "an", "apns", "all", "other", "your"]
        while let last = words.last, fillers.contains(last) || visiblePushes.contains(last) {
            words.removeLast()
        }
        guard let last = words.popLast() else { return false }
        return last == "unlike"
            || ["separate", "separated", "different", "distinct"].contains(words.last ?? "")
                && last == "from"
    }

    /// Words before a block for a push that is not for PushKit.
    private static let visiblePushes: Set<String> = [
        "normal", "regular", "standard", "visible", "remote", "fcm", "firebase",
        "android", "ordinary", "usual", "alert", "alerts", "missed", "ended", "cancelled", "chat",
        "message", "messages", "text", "background", "silent", "refresh",
    ]

    /// Words for pushes that are not for PushKit, and for several kinds.
    private static let otherPushes: Set<String> = [
        "alert", "alerts", "and", "or", "vs", "versus", "without", "not", "no",
        "regular", "standard", "normal", "remote", "visible", "fcm",
        "firebase", "android", "instead", "non", "both", "cancel", "cancelled", "missed", "end",
        "fallback", "chat", "messages",
    ]

    /// How far the words that explain a block are from it, in bytes.
    static let reach = 600

    /// The words for pushes that are not visible.
    private static let words: Set<String> = [
        "voip", "background", "silent", "silently", "widget", "widgets", "mdm", "ptt", "wallet",
        "passkit", "pushtotalk",
    ]
    /// Those of several words, or with endings, without what is between them.
    private static let phrases = [
        "pushkit", "callkit", "liveactivit", "locationpush", "locationquery", "complication",
        "fileprovider", "pushtotalk",
    ]
}
