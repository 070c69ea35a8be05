// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The headers of a draft with lower-case names, and values that several rules need.
struct DraftHeaders: Sendable {
    /// The fields as written.
    let fields: [PushDraft.Header]
    /// Their names in lower case, in the same order.
    let names: [String]
    let isComplete: Bool
    /// The names of headers that are sent with unknown values.
    let opaque: Set<String>
    let target: PushDraft.Target
    let isForFirebase: Bool
    let lacksCertificate: Bool
    let now: WallInstant?
    /// The value of `apns-push-type`; `nil` if absent or empty.
    let pushType: String?
    /// The value of `apns-topic`; `nil` if absent.
    let topic: String?
    /// The request path; `nil` if the draft has none.
    let path: String?

    init(_ draft: PushDraft) {
        fields = draft.headers
        names = draft.headers.map { $0.name.lowercased() }
        isComplete = draft.headersAreComplete
        opaque = draft.opaqueHeaders
        target = draft.target
        isForFirebase = draft.isForFirebase
        lacksCertificate = draft.lacksCertificate
        now = draft.now
        let find = { [names, fields] (name: String) in
            names.firstIndex(of: name).map { Self.trimmed(fields[$0].value) }
        }
        topic = find("apns-topic")
        path = find(":path")
        // Apple's page about broadcasts writes it so (facts §10).
        let isAsInPage = path?.hasPrefix("/4/broadcasts/") == true
        let type = find("apns-push-type").map {
            isAsInPage && $0 == "Liveactivity" ? PushType.liveactivity.rawValue : $0
        }
        pushType = type?.isEmpty == true ? nil : type
    }

    /// The value of the first field with this name (in lower case), without surrounding blanks.
    subscript(_ name: String) -> String? {
        names.firstIndex(of: name).map { Self.trimmed(fields[$0].value) }
    }

    /// Whether the draft certainly does not send a header.
    func lacks(_ name: String) -> Bool {
        isComplete && !names.contains(name) && !opaque.contains(name)
    }

    /// Whether this is a broadcast to a channel, not a push to a device: by its path, or because it
    /// has a channel and neither a path nor a topic (facts §2.2).
    var isBroadcast: Bool {
        if let path { return path.hasPrefix("/4/broadcasts/") }
        return topic == nil && !opaque.contains("apns-topic") && names.contains("apns-channel-id")
    }

    /// Parses a decimal integer; `nil` for other text, and beyond 64 bits.
    static func integer(_ text: String) -> Int64? {
        guard let first = text.utf8.first, first != UInt8(ascii: "+") else { return nil }
        return Int64(text)
    }

    private static func trimmed(_ value: String) -> String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        guard let start = value.utf8.firstIndex(where: { !isBlank($0) }),
            let last = value.utf8.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(value[start...last])
    }
}
