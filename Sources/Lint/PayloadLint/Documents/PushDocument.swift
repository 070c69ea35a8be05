// SPDX-License-Identifier: Apache-2.0

import PayloadRules
public import WakeModel

/// A push in a file, and the places of its parts.
struct PushItem: Sendable {
    /// The push.
    var draft: PushDraft
    /// The places of its parts.
    var places: PlaceMap
    /// Whether it is a part of something that another program sends, and may add to before.
    var isPart = false
    /// Whether it is in a script, which may compute parts of it.
    var isInScript = false
    /// Whether it has a recipient and no key of Apple's: then it is probably a request of an
    /// unsupported service, unless it looks like a push without `aps`.
    var isAddressed = false
    /// How much it weighs that `aps` is missing, where it is doubtful that this is a push at all.
    var weightWithoutAPS: Severity?

    /// Whether a string of the payload stands for something that is put in later.
    func hasPlaceholder(at offset: Int) -> Bool {
        let quote = UInt8(ascii: "\"")
        let rest = draft.payload.dropFirst(offset)
        guard rest.first == quote else { return false }
        return Placeholder.isTemplate(
            String(decoding: rest.dropFirst().prefix { $0 != quote }, as: UTF8.self))
    }
}

/// What one text was read as: a push, or the reason why it is none.
struct PushDocument: Sendable {
    /// A fault of the document around the push.
    struct Fault: Sendable {
        /// What is wrong, as a clause.
        let message: String
        /// What to do, as a sentence.
        let fix: String
        let place: FilePlace
        let pointer: String
    }

    /// What the text holds.
    var kind: InputKind
    /// The pushes; none where the faults leave none, several where one request makes several.
    var items: [PushItem] = []
    /// The only push, or the first one.
    var item: PushItem? { items.first }
    /// What is wrong around it.
    var faults: [Fault] = []
    /// Whether nothing in the text says that it is about a push: JSON and YAML are used for much
    /// else, so that only a file that was named is judged then.
    var isForeign = false
    /// Whether the text could not be read at all, so that its kind is unknown.
    var isBroken = false
    /// Whether the text's format has comments.
    var hasComments = false
}

/// What the command line says about bare payloads.
public struct PushAssumptions: Hashable, Sendable {
    /// The value of `apns-push-type`.
    public var pushType: String?
    /// The value of `apns-topic`.
    public var topic: String?
    /// The value of `apns-priority`.
    public var priority: String?
    /// The value of `apns-expiration`.
    public var expiration: String?
    /// Whether watchOS is a target, of request documents too.
    public var isForWatch = false
    /// The time that rules about time compare with; `nil` leaves them out.
    public var now: WallInstant?

    /// No assumptions.
    public init() {}

    /// A bare payload, as it will be sent.
    func draft(payload: [UInt8]) -> PushDraft {
        let headers = [
            ("apns-push-type", pushType), ("apns-topic", topic), ("apns-priority", priority),
            ("apns-expiration", expiration),
        ].compactMap { name, value in value.map { PushDraft.Header(name, $0) } }
        return PushDraft(
            payload: payload, headers: headers, target: isForWatch ? .watchOS : .phone, now: now)
    }

    /// A push of which some headers are known; its sender adds the others.
    func draft(payload: [UInt8], knownHeaders: [PushDraft.Header]) -> PushDraft {
        var draft = self.draft(payload: payload)
        let known = Set(knownHeaders.map { $0.name.lowercased() })
        draft.headers.removeAll { known.contains($0.name) }
        draft.headers += knownHeaders
        return draft
    }

    /// A push with headers of its own. The topic depends on the app and not on the push, so that a
    /// document may leave it to the command line.
    func draft(payload: [UInt8], headers: [PushDraft.Header]) -> PushDraft {
        var headers = headers
        if let topic, !headers.contains(where: { $0.name.lowercased() == "apns-topic" }) {
            headers.append(PushDraft.Header("apns-topic", topic))
        }
        return PushDraft(
            payload: payload, headers: headers, target: isForWatch ? .watchOS : .phone, now: now,
            headersAreComplete: true)
    }
}
