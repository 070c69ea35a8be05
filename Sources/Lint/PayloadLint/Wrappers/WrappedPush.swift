// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// A push that a service creates from a request: what reaches APNs, composed of pieces of the
/// request.
struct WrappedPush {
    /// A member that the service adds to the payload.
    struct Member {
        let name: String
        /// The value as JSON.
        let value: EmbeddedText
        /// The JSON pointer of its value in the request.
        let pointer: String
    }

    /// The payload in the request; `nil` if there is none.
    var base: (text: EmbeddedText, document: JSONDocument, node: Int)?
    /// The JSON pointer of that payload.
    var pointer = ""
    /// The JSON pointer that `aps` would have where the request has no payload; `nil` if the
    /// service has no place for it.
    var pointerOfAPS: String?
    /// The members that the service adds to `aps` if they are absent.
    var aps: [Member] = []
    /// The members that the service adds to the root object if they are absent.
    var root: [Member] = []
    /// The headers in the request.
    var headers: [(name: String, value: String, offset: Int, pointer: String)] = []
    /// The offset of the request.
    var start = 0
    /// Whether the service is Firebase.
    var isForFirebase = false
    /// Whether the service adds an id to each push.
    var hasServiceID = false
    /// Whether anything of it is sent to APNs.
    var isSent = true
    /// Whether the service is unknown, and may add visible content.
    var isPart = false
    /// Whether what surrounds the payload shows that it is a push, also in a file of a folder.
    var isUnmistakable = false
    /// The place and the JSON pointer of the headers of a request to APNs itself, which are all
    /// there; `nil` for a request to a service, which adds others.
    var allHeaders: (offset: Int, pointer: String)?
    /// What the service does not send although the request contains it.
    var faults: [PushDocument.Fault] = []
    /// The places of the members that ``useLibraryNames()`` has renamed.
    private var libraryOrigins: [String: String] = [:]

    /// Whether the payload in the request is one for APNs.
    var hasAPS: Bool {
        guard let base else { return false }
        return base.document.last("aps", of: base.node) != nil
    }

    /// Returns the push.
    func item(_ assumptions: PushAssumptions) -> PushItem {
        var places = PlaceMap()
        places.pointer = pointer
        places.origins = libraryOrigins
        let text = payload(&places)
        places.payload = text.places
        places.missingHeaders = (.offset(allHeaders?.offset ?? start), allHeaders?.pointer ?? "")
        var fields: [PushDraft.Header] = []
        // A program that sends requests may authorize them by settings of its own.
        var opaque: Set<String> = ["authorization"]
        for header in headers {
            guard let value = Placeholder.known(header.value, of: header.name) else {
                opaque.insert(header.name.lowercased())
                continue
            }
            fields.append(PushDraft.Header(header.name, value))
            places.headers.append(
                PlaceMap.Header(
                    name: header.name.lowercased(), place: .offset(header.offset),
                    pointer: header.pointer))
        }
        var draft =
            allHeaders == nil
            ? assumptions.draft(payload: text.bytes, knownHeaders: fields)
            : assumptions.draft(payload: text.bytes, headers: fields)
        if allHeaders != nil { draft.opaqueHeaders = opaque }
        draft.isForFirebase = isForFirebase
        return PushItem(
            draft: draft, places: places, isPart: isPart, hasServiceID: hasServiceID)
    }

    /// The names of `aps` members in Firebase's libraries, and Apple's names.
    private static let libraryNames = [
        "contentAvailable": "content-available", "mutableContent": "mutable-content",
        "threadId": "thread-id",
    ]

    /// Whether `aps` has names of Firebase's libraries, or true instead of 1.
    static func hasLibraryValues(_ aps: Int, in document: JSONDocument) -> Bool {
        libraryNames.keys.contains { name in
            document.last(name, of: aps).map { document.kind($0.value) } == .trueLiteral
        } || librarySound(aps, in: document) != nil
    }

    /// The value of `critical` in the sound, if it is true.
    private static func librarySound(_ aps: Int, in document: JSONDocument) -> Int? {
        guard let sound = document.last("sound", of: aps),
            let critical = document.last("critical", of: sound.value),
            document.kind(critical.value) == .trueLiteral
        else { return nil }
        return critical.value
    }

    /// Replaces names and values of Firebase's libraries in the base by Apple's.
    mutating func useLibraryNames() {
        guard let base, let aps = base.document.last("aps", of: base.node)?.value,
            base.document.kind(aps) == .object
        else { return }
        let document = base.document
        let start = document.range(of: base.node).lowerBound
        var text = EmbeddedText()
        var rest = start
        let critical = Self.librarySound(aps, in: document)
        for member in document.members(of: aps) {
            let own = String(decoding: document.text(member.key), as: UTF8.self)
            // Beside Apple's name it is a misspelt one.
            let name = Self.libraryNames[own].flatMap {
                document.last($0, of: aps) == nil ? $0 : nil
            }
            if let name {
                let key = document.range(of: member.key)
                text.append(base.text.slice(rest..<key.lowerBound))
                text.append(
                    JSONLiteral.string(name), standingAt: base.text.fileOffset(of: key.lowerBound))
                rest = key.upperBound
                libraryOrigins["/aps/" + name] = pointer + "/aps/" + own
            }
            let isTrue = name != nil && document.kind(member.value) == .trueLiteral
            guard let flag = isTrue ? member.value : own == "sound" ? critical : nil else {
                continue
            }
            let value = document.range(of: flag)
            text.append(base.text.slice(rest..<value.lowerBound))
            text.append("1", standingAt: base.text.fileOffset(of: value.lowerBound))
            rest = value.upperBound
        }
        guard rest > start else { return }
        text.append(base.text.slice(rest..<document.range(of: base.node).upperBound))
        guard let scanned = try? JSONScanner.scan(text.bytes) else { return }
        self.base = (text, scanned, 0)
    }

    private func payload(_ places: inout PlaceMap) -> EmbeddedText {
        guard let base, base.document.kind(base.node) == .object else {
            if let base, aps.isEmpty, root.isEmpty { return Self.text(of: base.node, in: base) }
            return made(&places)
        }
        let document = base.document
        var object: Int?
        var names: Set<String> = []
        for member in document.members(of: base.node) {
            names.insert(String(decoding: document.text(member.key), as: UTF8.self))
            if document.hasText(member.key, "aps") { object = member.value }
        }
        let isObject = object.map { document.kind($0) == .object } ?? true
        var own: Set<String> = []
        if let object, isObject {
            for member in document.members(of: object) {
                own.insert(String(decoding: document.text(member.key), as: UTF8.self))
            }
        }
        let missing = isObject ? aps.filter { !own.contains($0.name) } : []
        let beside = root.filter { !names.contains($0.name) }
        for member in missing { places.origins["/aps/" + member.name] = member.pointer }
        for member in beside { places.origins["/" + member.name] = member.pointer }
        let whole = document.range(of: base.node)
        var text = EmbeddedText()
        var rest = whole.lowerBound
        var front = beside
        if object == nil, !missing.isEmpty {
            front.insert(Self.member("aps", of: missing, at: base.text.fileOffset(of: rest)), at: 0)
        }
        if !front.isEmpty {
            text.append(base.text.slice(rest..<rest + 1))
            rest += 1
            Self.append(front, to: &text, hasMore: !names.isEmpty)
        }
        if let object, !missing.isEmpty {
            let start = Int(document.nodes[object].start) + 1
            text.append(base.text.slice(rest..<start))
            rest = start
            Self.append(missing, to: &text, hasMore: !own.isEmpty)
        }
        text.append(base.text.slice(rest..<whole.upperBound))
        return text
    }

    /// A payload of which no part is verbatim in the request.
    private func made(_ places: inout PlaceMap) -> EmbeddedText {
        if let pointerOfAPS { places.origins["/aps"] = pointerOfAPS }
        for member in aps { places.origins["/aps/" + member.name] = member.pointer }
        for member in root { places.origins["/" + member.name] = member.pointer }
        var members = root.filter { $0.name != "aps" }
        members.insert(Self.member("aps", of: aps, at: start), at: 0)
        var text = EmbeddedText()
        text.append("{", standingAt: start)
        Self.append(members, to: &text, hasMore: false)
        text.append("}", standingAt: start)
        return text
    }

    private static func member(_ name: String, of members: [Member], at offset: Int) -> Member {
        var value = EmbeddedText()
        value.append("{", standingAt: offset)
        append(members, to: &value, hasMore: false)
        value.append("}", standingAt: offset)
        return Member(name: name, value: value, pointer: "")
    }

    private static func append(_ members: [Member], to text: inout EmbeddedText, hasMore: Bool) {
        for (index, member) in members.enumerated() {
            let offset = member.value.fileOffset(of: 0)
            text.append(JSONLiteral.string(member.name) + ":", standingAt: offset)
            text.append(member.value)
            if hasMore || index + 1 < members.count { text.append(",", standingAt: offset) }
        }
    }

    private static func text(
        of node: Int, in base: (text: EmbeddedText, document: JSONDocument, node: Int)
    ) -> EmbeddedText {
        base.document.kind(node) == .string
            ? base.text.unquoted(base.document.content(node))
            : base.text.slice(base.document.range(of: node))
    }
}

extension JSONDocument {
    /// The range of a value.
    func range(of node: Int) -> Range<Int> { Int(nodes[node].start)..<Int(nodes[node].end) }

    /// The member with this name of an object; the last one, as most parsers see it.
    func last(_ name: String, of object: Int?) -> (key: Int, value: Int)? {
        guard let object, kind(object) == .object else { return nil }
        var found: (key: Int, value: Int)?
        for member in members(of: object) where text(member.key).elementsEqual(name.utf8) {
            found = member
        }
        return found
    }
}
