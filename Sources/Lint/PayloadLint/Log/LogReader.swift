// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON
import WakeModel

/// Reads the lines of a log of sent pushes. A line is an object with `time` (RFC 3339, or a number
/// since 1970), `token`, `headers`, and `payload` or `body`. The rules about APNs' answers also use
/// `status`, `reason`, the `timestamp` of a 410, the time when the token was `registered`, and
/// whether it was `deleted`.
struct LogReader: Sendable {
    let reader: DocumentReader

    /// A line of a log.
    struct Line {
        /// The document in the line.
        var document: PushDocument
        /// The push; `nil` if the document has faults.
        var push: SentPush?
    }

    /// Reads one line.
    func read(_ bytes: [UInt8]) -> Line {
        let document: JSONDocument
        do throws(JSONSyntaxError) {
            document = try JSONScanner.scan(bytes)
        } catch {
            return Line(
                document: fault("the line is not JSON", "Write one JSON object a line.", 0))
        }
        guard document.kind(0) == .object else {
            return Line(
                document: fault("the line is not a JSON object", "Write one a line.", 0))
        }
        var members = RequestMembers()
        var fields = Fields()
        for member in document.members(of: 0) {
            members.look(at: member, in: document)
            fields.look(at: member, in: document)
        }
        guard let time = fields.time else {
            return Line(
                document: fault(
                    fields.hasTime
                        ? "`time` is no time" : "the line has no `time`",
                    "Write when the push was sent, as RFC 3339 or in seconds since 1970.",
                    fields.timeOffset, pointer: fields.hasTime ? "/time" : ""))
        }
        guard let token = fields.token else {
            return Line(
                document: fault(
                    "the line has no `token`",
                    "Write the device token, or any other text in its place.", 0))
        }
        let request = reader.request(members, in: document, isPush: true)
        guard let item = request.items.first else { return Line(document: request) }
        let answer = fields.status.map {
            SentPush.Answer(status: $0, reason: fields.reason, inactiveAt: fields.timestamp)
        }
        let care = SentPush.TokenCare(
            registeredAt: fields.registered, isDeleted: fields.isDeleted)
        // A digest, so that no token is stored.
        let push = SentPush(
            at: time, device: Fingerprints.hash(token), draft: item.draft, answer: answer,
            token: care)
        return Line(document: request, push: push)
    }

    private func fault(
        _ message: String, _ fix: String, _ offset: Int, pointer: String = ""
    ) -> PushDocument {
        PushDocument(
            kind: .log,
            faults: [
                PushDocument.Fault(
                    message: message, fix: fix, place: .offset(offset), pointer: pointer)
            ])
    }

    /// The members that only a log has.
    private struct Fields {
        var time: WallInstant?
        var hasTime = false
        var timeOffset = 0
        var token: String?
        var status: Int?
        var reason: String?
        var timestamp: WallInstant?
        var registered: WallInstant?
        var isDeleted = false

        mutating func look(at member: (key: Int, value: Int), in document: JSONDocument) {
            if document.hasText(member.key, "time") {
                hasTime = true
                timeOffset = Int(document.nodes[member.value].start)
                time = instant(member.value, in: document)
            } else if document.hasText(member.key, "timestamp") {
                timestamp = instant(member.value, in: document)
            } else if document.hasText(member.key, "registered") {
                registered = instant(member.value, in: document)
            } else if document.hasText(member.key, "deleted") {
                isDeleted = document.kind(member.value) == .trueLiteral
            } else if document.hasText(member.key, "token") {
                token = document.scalarText(member.value)
            } else if document.hasText(member.key, "status") {
                status = document.scalarText(member.value).flatMap { Int($0) }
            } else if document.hasText(member.key, "reason") {
                reason = document.scalarText(member.value)
            }
        }

        private func instant(_ node: Int, in document: JSONDocument) -> WallInstant? {
            document.scalarText(node).flatMap { WallInstant(timeText: $0) }
        }
    }
}

extension JSONDocument {
    /// The value of a string, or the literal of a number; `nil` for other values.
    func scalarText(_ node: Int) -> String? {
        switch kind(node) {
        case .string: String(decoding: text(node), as: UTF8.self)
        case .number: String(decoding: literal(node), as: UTF8.self)
        case .object, .array, .key, .trueLiteral, .falseLiteral, .null: nil
        }
    }
}
