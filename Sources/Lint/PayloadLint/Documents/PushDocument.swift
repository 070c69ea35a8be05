// SPDX-License-Identifier: Apache-2.0

import PayloadRules
public import WakeModel

/// A push of a file, with the places of its parts.
struct PushItem: Sendable {
    /// The push.
    var draft: PushDraft
    /// The places of its parts.
    var places: PlaceMap
    /// Whether it is a part of something that another program sends, and may add to before.
    var isPart = false
    /// Whether the service that sends it adds an id to each push.
    var hasServiceID = false
    /// Whether comments explain it to people: they may say what else is sent, or instead.
    var isIllustration = false
    /// Whether some of its members were left out, so that only those that are here are judged.
    var isCut = false
    /// Whether a page shows it, so that a time in it is that of a sample.
    var isInPage = false
    /// Whether other keys than those that are here may be sent.
    var isPartial: Bool { isPart || isIllustration || isCut }
    /// Whether it is in a script, which may compute parts of it.
    var isInScript = false
    /// Whether it is a request in the form of HTTP, which may be a sketch without headers.
    var isInHTTPText = false
    /// Whether headers and payload are in two blocks of a page.
    var isJoined = false
    /// Whether the page speaks of another type of push than a visible one near it.
    var isOfOtherType = false
    /// Whether its type is that of which the title above it speaks.
    var hasTypeOfTitle = false
    /// Whether the command that sends it has a word for VoIP pushes.
    var isBesideVoIP = false
    /// Whether the command that sends it to Apple has neither a provider token nor a certificate.
    var lacksSignIn = false
    /// Whether a shell takes the quotation marks of the payload for its own.
    var losesQuotes = false
    /// Whether it is the text of the pushes that follow, whose syntax is judged.
    var isTextOnly = false
    /// Whether it has a recipient and no key of Apple's: then it is probably a request to an
    /// unsupported service, unless it looks like a push without `aps`.
    var isAddressed = false
    /// How much it weighs that `aps` is missing, where it is doubtful that this is a push at all.
    var weightWithoutAPS: Severity?

    /// Whether a string of the payload stands for something that is put in later.
    func hasPlaceholder(at offset: Int) -> Bool {
        let quote = UInt8(ascii: "\"")
        let rest = draft.payload.dropFirst(offset)
        guard rest.first == quote else { return false }
        // A quotation mark behind a backslash does not end the string.
        var isEscaped = false
        let text = rest.dropFirst().prefix { byte in
            defer { isEscaped = byte == UInt8(ascii: "\\") && !isEscaped }
            return byte != quote || isEscaped
        }
        // An object in quotes is JSON that was encoded twice.
        let inner = text.dropFirst().first { !" nrt\\".utf8.contains($0) }
        return !(text.first == UInt8(ascii: "{") && inner == quote)
            && Placeholder.isTemplate(String(decoding: text, as: UTF8.self))
    }
}

/// The content of a text: pushes, or the faults that prevent reading them.
struct PushDocument: Sendable {
    /// A fault of the document that contains the push.
    struct Fault: Sendable {
        /// The rule that it violates.
        var rule: RuleID = "G001"
        var severity = Severity.error
        /// The fault, as a clause.
        let message: String
        /// The fix, as a sentence.
        let fix: String
        var place: FilePlace
        let pointer: String
    }

    /// The kind of the text.
    var kind: InputKind
    /// The pushes; empty if the faults prevent reading them, several if one request makes several.
    var items: [PushItem] = []
    /// The first push.
    var item: PushItem? { items.first }
    /// The faults of the document.
    var faults: [Fault] = []
    /// Whether nothing in the text is about pushes. JSON and YAML have many other uses, so that
    /// such a file is checked only if it was given by name.
    var isForeign = false
    /// Whether the format of the text has comments.
    var hasComments = false
    /// Whether the text is in a format that is not read, such as source code.
    var isOfUnknownFormat = false
    /// The blocks of a page, each from the line that opens it.
    var blocks: [Range<Int>] = []
    /// The blocks and commands that are about pushes and cannot be read, or only in part.
    var unread: [Unread] = []
    /// Whether the text is a page or a script, in which pushes may be in forms that are not read.
    var isText = false

    /// A block or a command that is about pushes and cannot be read, or only in part.
    struct Unread: Sendable {
        /// Why it cannot be read, or not to its end.
        enum Reason: Int, CaseIterable {
            /// It is abridged, or no JSON.
            case incomplete
            /// It is the payload of a whole file, and a template, or abridged.
            case template
            /// It is the headers of a request whose payload is not beside them.
            case headers
            /// It is source code, a log, or a part of an object without its braces.
            case source
            /// It is abridged, and the keys that are there are judged.
            case part
        }

        let start: Int
        let reason: Reason

        init(start: Int, _ reason: Reason) {
            self.start = start
            self.reason = reason
        }
    }
}

extension PushItem {
    /// The push with these headers and a payload that is in another place of the file.
    func joined(with payload: PushItem) -> PushItem {
        var item = payload
        item.draft = draft
        item.draft.payload = payload.draft.payload
        item.places.headers = places.headers
        item.places.missingHeaders = places.missingHeaders
        item.isInScript = isInScript
        item.isInHTTPText = isInHTTPText
        item.weightWithoutAPS = nil
        return item
    }
}

extension PushDocument {
    /// The payload, if there is nothing else, and nothing around it says anything of its headers:
    /// it has those alone that the command line assumes.
    func barePayload(assuming assumptions: PushAssumptions) -> PushItem? {
        guard kind == .payload, faults.isEmpty, items.count == 1, let item,
            item.draft.headers == assumptions.draft(payload: []).headers,
            !item.draft.headersAreComplete,
            item.draft.payload.contains(text: "\"aps\"")
        else { return nil }
        return item
    }
}

/// The command line's options for bare payloads, of which topic and type are for requests that name
/// none, too.
public struct PushAssumptions: Hashable, Sendable {
    /// The value of `apns-push-type`.
    public var pushType: String?
    /// The value of `apns-topic`.
    public var topic: String?
    /// The value of `apns-priority`.
    public var priority: String?
    /// The value of `apns-expiration`.
    public var expiration: String?
    /// Whether watchOS is a target; applies to request documents too.
    public var isForWatch = false
    /// The current time for rules about time; `nil` to skip them.
    public var now: WallInstant?

    /// Creates options without assumptions.
    public init() {}

    /// A bare payload with the assumed headers.
    func draft(payload: [UInt8]) -> PushDraft {
        let headers = [
            ("apns-push-type", pushType), ("apns-topic", topic), ("apns-priority", priority),
            ("apns-expiration", expiration),
        ].compactMap { name, value in value.map { PushDraft.Header(name, $0) } }
        return PushDraft(
            payload: payload, headers: headers, target: isForWatch ? .watchOS : .phone, now: now)
    }

    /// A push with some known headers; its sender adds others.
    func draft(payload: [UInt8], knownHeaders: [PushDraft.Header]) -> PushDraft {
        var draft = self.draft(payload: payload)
        let known = Set(knownHeaders.map { $0.name.lowercased() })
        draft.headers.removeAll { known.contains($0.name) }
        draft.headers += knownHeaders
        return draft
    }

    /// A push with its own headers.
    func draft(payload: [UInt8], headers: [PushDraft.Header]) -> PushDraft {
        PushDraft(
            payload: payload, headers: headers, target: isForWatch ? .watchOS : .phone, now: now,
            headersAreComplete: true)
    }

    /// Adds topic and push type where a request has none. A document may leave them to the command
    /// line: the topic depends on the app, and without a type only the payload says what is meant.
    func fill(_ document: inout PushDocument) {
        for (name, value) in [("apns-topic", topic), ("apns-push-type", pushType)] {
            guard let value else { continue }
            for index in document.items.indices {
                let headers = document.items[index].draft.headers
                let isThere = headers.contains { $0.name.lowercased() == name }
                // A broadcast has a channel for a topic.
                let isBroadcast = headers.contains {
                    $0.name == ":path" && $0.value.hasPrefix("/4/")
                }
                guard !isThere, name != "apns-topic" || !isBroadcast else { continue }
                document.items[index].draft.headers.append(PushDraft.Header(name, value))
            }
        }
    }
}
