// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import WakeModel

/// The input of the rules: one push, and the scanned payload.
///
/// Values that several rules need are computed once here: the member `aps`, the set of Apple's keys
/// in it, and the roles of custom keys' names. With them most rules detect quickly that they have
/// no finding.
struct ValidationContext {
    /// The type of the push, as given or inferred.
    private(set) var type: PushTypeSet
    /// The given push type, if topic or payload are clearly for another one, by which the push is
    /// checked instead: one wrong header is one finding.
    private(set) var mistakenType: String?
    let payload: [UInt8]
    /// `nil` if a payload is checked without headers.
    let headers: Headers?
    /// The other properties of a draft; `nil` for a wake.
    let draft: DraftHeaders?
    let settings: WakeValidator.Settings
    /// `nil` if the payload is empty, too large, compressed or not JSON.
    let document: JSONDocument?
    /// The summary of the document; that of an empty text if there is none.
    let summary: JSONDocument.Summary
    let syntaxError: JSONSyntaxError?
    /// The member `aps` of the root object; the last one, as for most parsers.
    private(set) var aps: (key: Int, value: Int)?
    /// Whether the root is an object.
    private(set) var hasRootObject = false
    /// The value of `aps`, if it is an object.
    private(set) var apsObject: Int?
    /// Apple's keys in `aps`.
    private(set) var apsKeys: APSKeySet = []
    /// The member `content-available` of `aps`; the last one, as for most parsers.
    private(set) var contentAvailable: (key: Int, value: Int)?
    /// Whether `aps` has keys that are not Apple's.
    private(set) var hasForeignAPSKeys = false
    /// A summary of the keys of the root object.
    private(set) var rootKeys = KeyGlance()
    /// The roles of all keys outside `aps`.
    private(set) var customRoles: NameRole = []

    /// Creates the input for a push of this type.
    init(
        type: PushTypeSet, payload: [UInt8], headers: Headers?, settings: WakeValidator.Settings
    ) {
        self.init(
            type: type, payload: payload, headers: headers, draft: nil, settings: settings)
    }

    /// Creates the input for a push whose content has no findings, without its document: for the
    /// rules about size and headers.
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

    /// Creates the input for a draft. Its type is inferred from its content if it has none.
    init(_ push: PushDraft, settings: WakeValidator.Settings) {
        let draft = DraftHeaders(push)
        self.init(
            type: draft.pushType.map { PushTypeSet(PushType(rawValue: $0)) } ?? .unlisted,
            payload: push.payload, headers: Headers(draft), draft: draft, settings: settings)
        if draft.pushType == nil {
            type = PushTypeSet(judgedType)
        } else if let meant = meantType {
            mistakenType = draft.pushType
            type = PushTypeSet(meant)
        }
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

    /// The maximum size of the body for this push, in bytes: 5120 for VoIP and for a broadcast,
    /// otherwise 4096 (facts §5.1).
    var maximumPayloadBytes: Int {
        type == .voip || draft?.isBroadcast == true
            ? Self.maximumCallBytes : Self.maximumBytes
    }

    /// The maximum size for most types, in bytes.
    static let maximumBytes = PushType.background.maximumPayloadBytes
    private static let maximumCallBytes = PushType.voip.maximumPayloadBytes

    /// The member of `aps` with this key; the last one, as for most parsers.
    func member(_ key: APSKey) -> (key: Int, value: Int)? {
        guard apsKeys.contains(key), let document, let apsObject else { return nil }
        var found: (key: Int, value: Int)?
        for member in document.members(of: apsObject) where document.hasText(member.key, key.name) {
            found = member
        }
        return found
    }

    /// Calls `body` with the key and the value of each member outside `aps`, at any depth.
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
    /// The roles of a key's name, as a whole and by its last word.
    func keyRoles(_ key: Int) -> NameRole {
        var reader = NameReader()
        forEachByte(of: key) { reader.read($0) }
        var roles = Lexicon.keys.roles(of: reader.whole)
        if reader.hasSeveralWords {
            roles.formUnion(Lexicon.keyEndings.roles(of: reader.word))
        }
        return roles
    }

    /// The number of words in a string, separated by blanks.
    func wordCount(_ string: Int) -> Int {
        text(string).split { $0 == 0x20 || $0 == 0x0a || $0 == 0x09 }.count
    }

    /// Whether a string has several words.
    func hasSeveralWords(_ string: Int) -> Bool {
        var reader = NameReader()
        forEachByte(of: string) { reader.read($0) }
        return reader.hasSeveralWords
    }

    /// The roles of a string's words, and of the whole string.
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
