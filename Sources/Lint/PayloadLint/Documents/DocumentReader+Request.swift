// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// The members that make an object a request document.
struct RequestMembers {
    var headers: (key: Int, value: Int)?
    var payload: (key: Int, value: Int)?
    /// Whether other members are there, as in a row of a queue.
    private(set) var haveOthers = false

    /// Members that describe a request, or say what it is an example of.
    private static let usual: [StaticString] = [
        "name", "description", "comment", "title", "method", "path", "url", "host", "token",
        "device_token", "deviceToken", "Simulator Target Bundle", "$schema", "_comment",
    ]

    /// Whether both headers and payload are present.
    var areComplete: Bool { headers != nil && payload != nil }

    /// Records a member if it is one of them.
    mutating func look(at member: (key: Int, value: Int), in document: JSONDocument) {
        if document.hasText(member.key, "headers") {
            headers = member
        } else if document.hasText(member.key, "payload") {
            payload = member
        } else if payload == nil, document.hasText(member.key, "body") {
            payload = member
        } else if !document.hasText(member.key, "body"),
            !Self.usual.contains(where: { document.hasText(member.key, $0) })
        {
            haveOthers = true
        }
    }
}

extension DocumentReader {
    /// Reads a request document in JSON: every place in it is a place in the file. `isPush` says
    /// that it is one to APNs, whatever it holds.
    func request(
        _ members: RequestMembers, in document: JSONDocument, isPush: Bool
    ) -> PushDocument {
        var result = PushDocument(kind: .request)
        guard let payload = members.payload else {
            result.faults.append(
                PushDocument.Fault(
                    message: "the request document has no `payload`",
                    fix: "Put headers and payload side by side, as `headers` and `payload`.",
                    place: .offset(Int(document.nodes[0].start)), pointer: ""))
            return result
        }
        var places = PlaceMap()
        places.pointer = document.hasText(payload.key, "payload") ? "/payload" : "/body"
        places.missingHeaders = (.offset(Int(document.nodes[0].start)), "")
        let headers = readHeaders(
            members.headers?.value, in: document, isPush: isPush, &places, &result.faults)
        let body: [UInt8]
        if document.kind(payload.value) == .string {
            let text = QuotedText(document.content(payload.value), of: document.bytes)
            body = text.bytes
            places.payload = .quoted(text.segments)
        } else {
            body = Array(document.literal(payload.value))
            let start = Int(document.nodes[payload.value].start)
            places.payload = .segments([PlaceMap.Segment(payloadStart: 0, fileStart: start)])
        }
        // A list of headers is not read, so that any of them may be there.
        let isList = members.headers.map { document.kind($0.value) == .array } ?? false
        var draft =
            isList || headers.isForAzure
            ? assumptions.draft(payload: body, knownHeaders: headers.known)
            : assumptions.draft(payload: body, headers: headers.known)
        // A secret, which a document leaves out.
        draft.opaqueHeaders = headers.opaque.union(["authorization"])
        result.items = [
            PushItem(draft: draft, places: places, isPart: members.haveOthers && !isPush)
        ]
        result.markForeign(unless: isPush || draft.showsPush)
        return result
    }

    private func readHeaders(
        _ object: Int?, in document: JSONDocument, isPush: Bool, _ places: inout PlaceMap,
        _ faults: inout [PushDocument.Fault]
    ) -> (known: [PushDraft.Header], opaque: Set<String>, isForAzure: Bool) {
        guard let object else { return ([], [], false) }
        let start = Int(document.nodes[object].start)
        guard document.kind(object) == .object else {
            guard isPush || document.kind(object) != .array else { return ([], [], false) }
            faults.append(
                PushDocument.Fault(
                    message: "`headers` is not an object",
                    fix: "Write the headers as an object of names and values.",
                    place: .offset(start), pointer: "/headers"))
            return ([], [], false)
        }
        places.missingHeaders = (.offset(start), "/headers")
        var headers: (known: [PushDraft.Header], opaque: Set<String>) = ([], [])
        let isForAzure = Wrapper.isForAzure(
            document.members(of: object).map {
                String(decoding: document.text($0.key), as: UTF8.self)
            })
        for member in document.members(of: object) {
            let written = String(decoding: document.text(member.key), as: UTF8.self)
            let name = isForAzure ? Wrapper.appleName(ofAzureHeader: written) : written
            // The others are for the service.
            if isForAzure, !name.hasPrefix("apns-") { continue }
            let place = FilePlace.offset(Int(document.nodes[member.value].start))
            let pointer = "/headers/" + JSONPointerText.escaped(written)
            guard let value = document.scalarText(member.value) else {
                faults.append(
                    PushDocument.Fault(
                        message: "a header's value is neither text nor number",
                        fix: "Write the value as it is sent, in quotes.", place: place,
                        pointer: pointer))
                continue
            }
            if let known = Placeholder.known(value, of: name) {
                headers.known.append(PushDraft.Header(name, known))
            } else {
                headers.opaque.insert(name.lowercased())
            }
            places.headers.append(
                PlaceMap.Header(name: name.lowercased(), place: place, pointer: pointer))
        }
        return (headers.known, headers.opaque, isForAzure)
    }
}

/// JSON pointers (RFC 6901).
enum JSONPointerText {
    /// Escapes a key as a part of a pointer.
    static func escaped(_ key: String) -> String {
        var step = ""
        for character in key.unicodeScalars {
            switch character {
            case "~": step += "~0"
            case "/": step += "~1"
            default: step.unicodeScalars.append(character)
            }
        }
        return step
    }
}
