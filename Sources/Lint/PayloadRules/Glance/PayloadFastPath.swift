// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import WakeModel

/// A fast check that detects most payloads without findings about their content.
///
/// Nearly all payloads of a gateway have none. The fast path reads a payload once, builds no tape
/// and allocates nothing. It stops at anything unusual (an escape, a character outside ASCII,
/// `null`, a fraction, a name that a rule depends on), and then the rules check the payload. So it
/// never reports a fault; a test verifies that payloads that it accepts have no findings.
struct PayloadFastPath {
    /// The maximum depth; rule G008 applies to greater ones.
    private static let maximumDepth = 16
    /// The maximum number of stored keys of all open objects, as hashes.
    private static let maximumOpenKeys = 96

    // SAFETY: `text` points to `count` bytes, and `scratch` to `maximumDepth + 1 + maximumOpenKeys`
    // integers. Both outlive this value, which exists only inside `read`; each read of `text`
    // follows a comparison with `count`, and each index of `scratch` one with the limits.
    private let text: UnsafePointer<UInt8>
    private let count: Int
    private let scratch: UnsafeMutablePointer<UInt64>
    private let settings: WakeValidator.Settings
    /// Whether the push is for a call, not a background push.
    private let isCall: Bool
    private var position = 0
    /// The number of open containers.
    private var depth = 0
    /// One bit per open container, the innermost lowest: 1 for an object.
    private var objects: UInt32 = 0
    /// The number of stored keys of open objects.
    private var keyCount = 0
    private var hasAPS = false
    /// The roles of all keys outside `aps`.
    private var customRoles: NameRole = []
    /// The value of the preferred key of the root object that identifies the call, and the rank of
    /// that key.
    private var call: (value: Range<Int>, rank: Int)?

    /// The result for a payload without findings, or with the most frequent one only.
    struct Reading {
        /// VoIP: the id of the call.
        let callID: String?
        /// Background: whether rule BG023 has a finding: no key says which update the push is
        /// about.
        let lacksVersion: Bool
    }

    /// Reads a payload. Returns `nil` if another rule about the content of this kind of push than
    /// BG023 may have a finding. Rules about size and headers are not considered.
    static func read(
        _ payload: [UInt8], as kind: WakeKind, settings: WakeValidator.Settings
    ) -> Reading? {
        guard payload.count <= WakeValidator.maximumReadBytes else { return nil }
        let isCall: Bool
        switch kind {
        case .background: isCall = false
        case .voip: isCall = true
        default: return nil
        }
        // SAFETY: both pointers are used inside these closures only; see the properties.
        return payload.withUnsafeBufferPointer { bytes in
            guard let text = bytes.baseAddress else { return nil }
            return withUnsafeTemporaryAllocation(
                of: UInt64.self, capacity: maximumDepth + 1 + maximumOpenKeys
            ) { scratch in
                guard let start = scratch.baseAddress else { return nil }
                var glance = PayloadFastPath(
                    text: text, count: bytes.count, scratch: start, settings: settings,
                    isCall: isCall)
                guard glance.reads() else { return nil }
                return Reading(
                    callID: glance.call.map {
                        ValidationContext.callID(UnsafeBufferPointer(rebasing: bytes[$0.value]))
                    }, lacksVersion: !isCall && !glance.customRoles.contains(.version))
            }
        }
    }

    private init(
        text: UnsafePointer<UInt8>, count: Int, scratch: UnsafeMutablePointer<UInt64>,
        settings: WakeValidator.Settings, isCall: Bool
    ) {
        self.text = text
        self.count = count
        self.scratch = scratch
        self.settings = settings
        self.isCall = isCall
    }

    /// The byte at the position; 0 at the end, which no grammar rule accepts.
    private var current: UInt8 {
        @inline(__always) get { position < count ? text[position] : 0 }
    }

    /// Reads the whole text. Returns whether no rule can have a finding.
    private mutating func reads() -> Bool {
        // Blanks in front of the object would move the place of what is found.
        guard current == UInt8(ascii: "{") else { return false }
        open(isObject: true)
        while depth > 0 {
            let isRead = objects & 1 == 1 ? readsMember() : readsElement()
            guard isRead else { return false }
        }
        skipBlanks()
        guard position == count else { return false }
        return isCall
            ? call != nil && customRoles.isSuperset(of: [.caller, .creationTime])
            : hasAPS
    }

    @inline(__always)
    private mutating func skipBlanks() {
        while position < count, text[position] <= 0x20 {
            let byte = text[position]
            guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { return }
            position += 1
        }
    }

    private mutating func open(isObject: Bool) {
        objects = objects << 1 | (isObject ? 1 : 0)
        depth += 1
        scratch[depth] = UInt64(truncatingIfNeeded: keyCount)
        position += 1
        isFirst = true
    }

    /// Whether no member of the innermost container has been read.
    private var isFirst = true

    private mutating func close() {
        keyCount = Int(truncatingIfNeeded: scratch[depth])
        depth -= 1
        objects >>= 1
        position += 1
        isFirst = false
    }

    /// Reads the comma before a member or element, if one is required.
    @inline(__always)
    private mutating func readsSeparator() -> Bool {
        guard !isFirst else {
            isFirst = false
            return true
        }
        guard current == UInt8(ascii: ",") else { return false }
        position += 1
        skipBlanks()
        return true
    }

    private mutating func readsElement() -> Bool {
        skipBlanks()
        if current == UInt8(ascii: "]") {
            close()
            return true
        }
        return readsSeparator() && readsValue(without: [])
    }

    private mutating func readsMember() -> Bool {
        skipBlanks()
        if current == UInt8(ascii: "}") {
            close()
            return true
        }
        guard readsSeparator(), current == UInt8(ascii: "\""), let key = readKey() else {
            return false
        }
        skipBlanks()
        guard current == UInt8(ascii: ":") else { return false }
        position += 1
        skipBlanks()
        if depth == 1, key.count == 3, text[key.start] == UInt8(ascii: "a"),
            text[key.start + 1] == UInt8(ascii: "p"), text[key.start + 2] == UInt8(ascii: "s")
        {
            hasAPS = true
            return isCall ? takes("{") && takes("}") : readsCleanAPS()
        }
        customRoles.formUnion(key.roles)
        return isCall ? readsCallMember(key) : readsBackgroundMember(key)
    }

    /// Reads the value of a member of a background push.
    private mutating func readsBackgroundMember(_ key: Key) -> Bool {
        if depth == 1, mayBeMisplaced(key) { return false }
        guard key.roles.isDisjoint(with: [.change, .oneTimeCode, .prose]) else { return false }
        return readsValue(without: key.roles.contains(.discriminator) ? .urgent : [])
    }

    /// Reads the value of a member of a VoIP push. Fails for words in texts that a person would
    /// read, and for keys about something other than a call, because rules depend on them.
    private mutating func readsCallMember(_ key: Key) -> Bool {
        guard !key.roles.contains(.notCall), depth > 1 || !isShown(key) else { return false }
        let saysMore = !key.roles.isDisjoint(with: [.discriminator, .callEventKey])
        let start = position
        let first = current
        guard readsValue(without: saysMore ? Self.otherThanCalls : []) else { return false }
        switch first {
        case UInt8(ascii: "t"):
            return isHarmless(key.start..<key.start + key.count, without: .laterCallEvent)
        case UInt8(ascii: "\""):
            if position - start > 2 { noteIdentifier(key, start + 1..<position - 1) }
            // It may be `"true"`.
            if position - start == 6, text[start + 1] == UInt8(ascii: "t") {
                return isHarmless(key.start..<key.start + key.count, without: .laterCallEvent)
            }
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "f"): break
        default: noteIdentifier(key, start..<position)
        }
        return true
    }

    private static let otherThanCalls: NameRole = [
        .laterCallEvent, .maybeLaterCallEvent, .notCall,
    ]

    /// Whether a key of the root object has the name of a visible text.
    private func isShown(_ key: Key) -> Bool {
        key.roles.contains(.prose) || key.head == Self.alert || key.head == Self.title
            || key.head == Self.messageContent
    }

    /// Stores the value of a key of the root object if the key identifies the call, unless a
    /// preferred one was stored.
    private mutating func noteIdentifier(_ key: Key, _ value: Range<Int>) {
        guard depth == 1, settings.mayBeCallIdentifier(startingWith: text[key.start]) else {
            return
        }
        let names = settings.callIdentifierKeys
        for rank in 0..<(call?.rank ?? names.count) where isNamed(key, names[rank]) {
            call = (value, rank)
            return
        }
    }

    /// Whether a key has this name, regardless of case and separators.
    private func isNamed(_ key: Key, _ letters: [UInt8]) -> Bool {
        guard key.count >= letters.count else { return false }
        var matched = 0
        for index in key.start..<key.start + key.count {
            guard let letter = NearMiss.letter(text[index]) else { continue }
            guard matched < letters.count, letters[matched] == letter else { return false }
            matched += 1
        }
        return matched == letters.count
    }

    /// The properties of a key.
    private struct Key {
        let start: Int
        let count: Int
        let roles: NameRole
        /// The first eight bytes, the first one in the lowest bits.
        let head: UInt64
    }

    /// Reads a key with its quotes. Returns `nil` for a key that a rule depends on, or that may be
    /// a duplicate.
    @inline(__always)
    private mutating func readKey() -> Key? {
        readShortKey() ?? readLongKey()
    }

    /// Reads a key of up to seven lower-case letters and digits with one load.
    @inline(__always)
    private mutating func readShortKey() -> Key? {
        let start = position + 1
        guard start + 8 <= count else { return nil }
        // SAFETY: at least eight bytes are left; unaligned loads are allowed.
        let word = UnsafeRawPointer(text).loadUnaligned(fromByteOffset: start, as: UInt64.self)
        let difference = word ^ (Self.ones &* 0x22)
        // The lowest marked byte is the first quote (Warren, Hacker's Delight, 6-1).
        let quotes = (difference &- Self.ones) & ~difference & Self.highs
        let length = quotes.trailingZeroBitCount / 8
        guard length > 0, length < 8 else { return nil }
        let head = word & (1 &<< UInt64(8 * length) &- 1)
        let isSmall = Self.atLeast(0x61, head) & ~Self.atLeast(0x7b, head)
        let isDigit = Self.atLeast(0x30, head) & ~Self.atLeast(0x3a, head)
        let all = Self.highs & (1 &<< UInt64(8 * length) &- 1)
        guard head & Self.highs == 0, (isSmall | isDigit) & all == all else { return nil }
        guard notesKey(head) else { return nil }
        position = start + length + 1
        let bits = UInt128(head.byteSwapped >> UInt64(64 - 8 * length))
        let roles = Lexicon.keys.roles(of: PackedName(lastBytes: bits, count: length))
        return Key(start: start, count: length, roles: roles, head: head)
    }

    /// Sets the high bit of each byte that is at least `least`, for ASCII bytes.
    @inline(__always)
    private static func atLeast(_ least: UInt64, _ word: UInt64) -> UInt64 {
        ((word | highs) &- (ones &* least)) & highs
    }

    private mutating func readLongKey() -> Key? {
        let start = position + 1
        var index = start
        var reader = NameReader()
        var head: UInt64 = 0
        var hash = FNV1a()
        while index < count, text[index] != UInt8(ascii: "\"") {
            let byte = text[index]
            guard byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\\") else { return nil }
            reader.read(byte)
            if index - start < 8 { head |= UInt64(byte) << UInt64(8 * (index - start)) }
            hash.add(byte)
            index += 1
        }
        guard index < count, notesKey(index - start < 8 ? head : hash.value) else { return nil }
        position = index + 1
        var roles = Lexicon.keys.roles(of: reader.whole)
        if reader.hasSeveralWords { roles.formUnion(Lexicon.keyEndings.roles(of: reader.word)) }
        return Key(start: start, count: index - start, roles: roles, head: head)
    }

    /// Stores the hash of a key, or the key itself if it is short. Returns whether it is unique in
    /// its object.
    @inline(__always)
    private mutating func notesKey(_ hash: UInt64) -> Bool {
        guard keyCount < Self.maximumOpenKeys else { return false }
        let keys = scratch + Self.maximumDepth + 1
        for other in Int(truncatingIfNeeded: scratch[depth])..<keyCount where keys[other] == hash {
            return false
        }
        keys[keyCount] = hash
        keyCount += 1
        return true
    }

    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    private static var highs: UInt64 { 0x8080_8080_8080_8080 }

    /// Whether a key of the root object may be one of Apple's or of another push service (rules
    /// G013 and G016).
    private func mayBeMisplaced(_ key: Key) -> Bool {
        if key.count == 5 {
            let isApples =
                key.head == Self.alert || key.head == Self.badge || key.head == Self.sound
            if isApples { return true }
        } else if key.count >= 14 {
            // `content-available` and `mutable-content` in any spelling.
            let first = text[key.start] | 0x20
            let isLetter = first &- UInt8(ascii: "a") < 26
            if !isLetter || first == UInt8(ascii: "c") || first == UInt8(ascii: "m") {
                return true
            }
        }
        return settings.reservedHeads.contains { key.head & $0.mask == $0.head }
    }

    private static let alert = WakeValidator.ReservedHead("alert").head
    private static let badge = WakeValidator.ReservedHead("badge").head
    private static let sound = WakeValidator.ReservedHead("sound").head
    private static let title = WakeValidator.ReservedHead("title").head
    private static let messageContent = WakeValidator.ReservedHead("msg_content").head

    /// Reads `{"content-available":1}`, with optional blanks.
    private mutating func readsCleanAPS() -> Bool {
        guard takes("{"), takes("\"content-available\""), takes(":"), takes("1"), takes("}") else {
            return false
        }
        return true
    }

    /// Reads these bytes and the blanks after them.
    @inline(__always)
    private mutating func takes(_ word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        guard position + length <= count else { return false }
        let start = word.utf8Start
        for index in 0..<length where text[position + index] != start[index] { return false }
        position += length
        skipBlanks()
        return true
    }
}

extension PayloadFastPath {
    /// Reads a value; a container is left open. Fails for a string with a word of these roles.
    private mutating func readsValue(without roles: NameRole) -> Bool {
        switch current {
        case UInt8(ascii: "\""): return readsText(without: roles)
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): return readsInteger()
        case UInt8(ascii: "t"): return takes("true")
        case UInt8(ascii: "f"): return takes("false")
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < Self.maximumDepth else { return false }
            open(isObject: current == UInt8(ascii: "{"))
            return true
        default: return false
        }
    }

    /// Reads an integer that all parsers represent exactly, and that is not a card number.
    private mutating func readsInteger() -> Bool {
        if current == UInt8(ascii: "-") { position += 1 }
        let first = current
        let start = position
        while current &- UInt8(ascii: "0") < 10 { position += 1 }
        let length = position - start
        guard length > 0, length < 16, length == 1 || first != UInt8(ascii: "0") else {
            return false
        }
        let mayBeCard = length >= 13 && (UInt8(ascii: "2")...UInt8(ascii: "6")).contains(first)
        let next = current
        return !mayBeCard && next != UInt8(ascii: ".") && next | 0x20 != UInt8(ascii: "e")
    }

    /// Reads a string that does not resemble a secret (rule G017), and has no word of these roles.
    private mutating func readsText(without roles: NameRole) -> Bool {
        let start = position + 1
        guard let end = endOfPlainText(from: start) else { return false }
        position = end + 1
        guard end > start else { return true }
        switch text[start] {
        case UInt8(ascii: "-"): return false
        case UInt8(ascii: "b"), UInt8(ascii: "B"):
            if end - start >= 23, text[start + 6] == 0x20 { return false }
        case UInt8(ascii: "e"):
            if end - start >= 20, text[start + 1] == UInt8(ascii: "y") { return false }
        case UInt8(ascii: "0")...UInt8(ascii: "9"), 0x20:
            if end - start >= 13, isOfDigits(start..<end) { return false }
        default: break
        }
        return roles.isEmpty || isHarmless(start..<end, without: roles)
    }

    /// The position of the closing quote of a plain ASCII string without `@`, found eight bytes at
    /// a time.
    @inline(__always)
    private func endOfPlainText(from start: Int) -> Int? {
        var index = start
        // SAFETY: eight bytes are read only if eight are left; unaligned loads are allowed.
        let bytes = UnsafeRawPointer(text)
        while index + 8 <= count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            guard Self.isPlain(word) else { break }
            index += 8
        }
        while index < count {
            let byte = text[index]
            if byte == UInt8(ascii: "\"") { return index }
            guard byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\\"), byte != UInt8(ascii: "@")
            else { return nil }
            index += 1
        }
        return nil
    }

    /// Whether none of eight bytes is a quote, a backslash, an `@`, a control character or outside
    /// ASCII. The result may be falsely false, but never falsely true.
    @inline(__always)
    private static func isPlain(_ word: UInt64) -> Bool {
        // A byte below n borrows into its high bit (Warren, Hacker's Delight, 6-1).
        let quotes = (word ^ (Self.ones &* 0x22)) &- Self.ones
        let backslashes = (word ^ (Self.ones &* 0x5c)) &- Self.ones
        let ats = (word ^ (Self.ones &* 0x40)) &- Self.ones
        let controls = word &- (Self.ones &* 0x20)
        return (word | quotes | backslashes | ats | controls) & Self.highs == 0
    }

    private func isOfDigits(_ range: Range<Int>) -> Bool {
        for index in range {
            let byte = text[index]
            guard byte &- UInt8(ascii: "0") < 10 || byte == 0x20 || byte == UInt8(ascii: "-") else {
                return false
            }
        }
        return true
    }

    /// Whether no word of a text, nor the whole text, has one of these roles; see
    /// `JSONDocument.wordRoles`.
    private func isHarmless(_ range: Range<Int>, without roles: NameRole) -> Bool {
        var reader = NameReader()
        for index in range where reader.read(text[index]) {
            guard Lexicon.values.roles(of: reader.finishedWord).isDisjoint(with: roles) else {
                return false
            }
        }
        return Lexicon.values.roles(of: reader.word).isDisjoint(with: roles)
            && Lexicon.values.roles(of: reader.whole).isDisjoint(with: roles)
    }
}
