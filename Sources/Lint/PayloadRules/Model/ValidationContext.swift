// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import WakeModel

/// One push as the rules see it: what was asked for, and what the scanner made of the payload.
///
/// What several rules need is worked out once, here: where `aps` is, which of Apple's keys it has,
/// and which roles the names of the custom keys play. Most rules then see at a glance that they
/// have nothing to say.
struct ValidationContext {
    /// The one type that the push has, or is judged to have.
    private(set) var type: PushTypeSet
    let payload: [UInt8]
    /// `nil` where a payload is checked by itself.
    let headers: Headers?
    /// Everything that a draft says beside its payload; `nil` for a wake.
    let draft: DraftHeaders?
    let settings: WakeValidator.Settings
    /// `nil` where the payload is empty, too large to be read, compressed or not JSON.
    let document: JSONDocument?
    /// The document's; as of an empty text without one.
    let summary: JSONDocument.Summary
    let syntaxError: JSONSyntaxError?
    /// The member `aps` of the root object; the last one, as most parsers see it.
    private(set) var aps: (key: Int, value: Int)?
    /// Whether the root is an object.
    private(set) var hasRootObject = false
    /// The value of `aps`, if that is an object.
    private(set) var apsObject: Int?
    /// Apple's keys inside `aps`.
    private(set) var apsKeys: APSKeySet = []
    /// The member `content-available` of `aps`; the last one, as most parsers see it.
    private(set) var contentAvailable: (key: Int, value: Int)?
    /// Whether `aps` has keys that are none of Apple's.
    private(set) var hasForeignAPSKeys = false
    /// What the keys of the root object look like together.
    private(set) var rootKeys = KeyGlance()
    /// The roles of all keys outside `aps` together.
    private(set) var customRoles: NameRole = []

    /// A push of this type.
    init(
        type: PushTypeSet, payload: [UInt8], headers: Headers?, settings: WakeValidator.Settings
    ) {
        self.init(
            type: type, payload: payload, headers: headers, draft: nil, settings: settings)
    }

    /// A push whose content has been found clean, without its document: for the rules about size
    /// and headers.
    init(
        clean type: PushTypeSet, payload: [UInt8], headers: Headers,
        settings: WakeValidator.Settings
    ) {
        self.type = type
        self.payload = payload
        self.headers = headers
        draft = nil
        self.settings = settings
        document = nil
        summary = JSONDocument.Summary()
        syntaxError = nil
    }

    /// A draft, whose type is judged by what it holds if it does not say.
    init(_ push: PushDraft, settings: WakeValidator.Settings) {
        let draft = DraftHeaders(push)
        self.init(
            type: draft.pushType.map { PushTypeSet(PushType(rawValue: $0)) } ?? .unlisted,
            payload: push.payload, headers: Headers(draft), draft: draft, settings: settings)
        if draft.pushType == nil { type = PushTypeSet(judgedType) }
    }

    private init(
        type: PushTypeSet, payload: [UInt8], headers: Headers?, draft: DraftHeaders?,
        settings: WakeValidator.Settings
    ) {
        self.type = type
        self.payload = payload
        self.headers = headers
        self.draft = draft
        self.settings = settings
        let isReadable =
            !payload.isEmpty && payload.count <= WakeValidator.maximumReadBytes
            && Compression.format(of: payload) == nil
        guard isReadable else {
            document = nil
            summary = JSONDocument.Summary()
            syntaxError = nil
            return
        }
        do throws(JSONSyntaxError) {
            let document = try JSONScanner.scan(payload)
            self.document = document
            summary = document.summary
            syntaxError = nil
            survey(document)
        } catch {
            document = nil
            summary = JSONDocument.Summary()
            syntaxError = error
        }
    }

    /// The largest body that APNs takes for this push, in bytes: 5120 for VoIP and for a broadcast,
    /// otherwise 4096 (facts §5.1).
    var maximumPayloadBytes: Int {
        type == .voip || draft?.isBroadcast == true
            ? Self.maximumCallBytes : Self.maximumBytes
    }

    /// The limit of most types, in bytes.
    static let maximumBytes = PushType.background.maximumPayloadBytes
    private static let maximumCallBytes = PushType.voip.maximumPayloadBytes

    /// The member of `aps` with this key; the last one, as most parsers see it.
    func member(_ key: APSKey) -> (key: Int, value: Int)? {
        guard apsKeys.contains(key), let document, let apsObject else { return nil }
        var found: (key: Int, value: Int)?
        for member in document.members(of: apsObject) where document.hasText(member.key, key.name) {
            found = member
        }
        return found
    }

    /// Calls `body` with the key and value of each member outside `aps`, at any depth.
    func forEachCustomMember(_ body: (_ key: Int, _ value: Int) -> Void) {
        guard hasRootObject, let document else { return }
        forEachCustomMember(of: document, body)
    }

    private func forEachCustomMember(
        of document: JSONDocument, _ body: (_ key: Int, _ value: Int) -> Void
    ) {
        let apsNodes = aps.map { $0.key..<Int(document.nodes[$0.value].next) } ?? 0..<0
        var node = 1
        while node < document.nodes.count {
            if node == apsNodes.lowerBound {
                node = apsNodes.upperBound
                continue
            }
            if document.kind(node) == .key { body(node, node + 1) }
            node += 1
        }
    }

    private mutating func survey(_ document: JSONDocument) {
        hasRootObject = document.kind(0) == .object
        guard hasRootObject else { return }
        for member in document.members(of: 0) {
            rootKeys.look(at: member.key, in: document)
            if document.hasText(member.key, "aps") { aps = member }
        }
        if let aps, document.kind(aps.value) == .object {
            apsObject = aps.value
            for member in document.members(of: aps.value) {
                if let key = APSKey.named(member.key, in: document) {
                    apsKeys.insert(APSKeySet(key))
                    if key == .contentAvailable { contentAvailable = member }
                } else {
                    hasForeignAPSKeys = true
                }
            }
        }
        var roles: NameRole = []
        forEachCustomMember(of: document) { key, _ in roles.formUnion(document.keyRoles(key)) }
        customRoles = roles
    }
}

extension JSONDocument {
    /// The roles that a key's name plays, as a whole and by its last word.
    func keyRoles(_ key: Int) -> NameRole {
        var reader = NameReader()
        forEachByte(of: key) { reader.read($0) }
        var roles = Lexicon.keys.roles(of: reader.whole)
        if reader.hasSeveralWords {
            roles.formUnion(Lexicon.keyEndings.roles(of: reader.word))
        }
        return roles
    }

    /// How many words a string has, with blanks between them.
    func wordCount(_ string: Int) -> Int {
        text(string).split { $0 == 0x20 || $0 == 0x0a || $0 == 0x09 }.count
    }

    /// Whether a string has several words.
    func hasSeveralWords(_ string: Int) -> Bool {
        var reader = NameReader()
        forEachByte(of: string) { reader.read($0) }
        return reader.hasSeveralWords
    }

    /// The roles that a string's words play, and the string as a whole.
    func wordRoles(_ string: Int) -> NameRole {
        guard kind(string) == .string || kind(string) == .key else { return [] }
        var reader = NameReader()
        var roles: NameRole = []
        forEachByte(of: string) { byte in
            if reader.read(byte) {
                roles.formUnion(Lexicon.values.roles(of: reader.finishedWord))
            }
        }
        roles.formUnion(Lexicon.values.roles(of: reader.word))
        return roles.union(Lexicon.values.roles(of: reader.whole))
    }
}
