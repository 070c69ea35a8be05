// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

extension DocumentReader {
    /// Reads a request document or a bare payload in YAML.
    func readYAML(_ bytes: [UInt8]) -> PushDocument {
        let kind: InputKind = forcedKind ?? .payload
        // YAML may start with a byte order mark, which libyaml does not expect in a string.
        guard let text = String(validating: bytes.afterByteOrderMark, as: UTF8.self) else {
            // The rules report where it is not UTF-8.
            return PushDocument(
                kind: kind,
                items: [PushItem(draft: assumptions.draft(payload: bytes), places: PlaceMap())])
        }
        let root: YAMLNode
        do throws(YAMLFault) {
            root = try YAMLText.parse(text)
        } catch {
            // A template begins with what puts values in.
            if forcedKind == nil, ["{{", "{%"].contains(where: { text.hasPrefix($0) }) {
                return PushDocument(kind: kind, isForeign: true)
            }
            return PushDocument(
                kind: kind, faults: [error.fault],
                isForeign: forcedKind == nil && !Self.mentionsPushInYAML(bytes))
        }
        do throws(YAMLFault) {
            var document = try read(root)
            if document.isForeign, forcedKind == nil,
                bytes.contains(text: "apns") || isForService(root)
            {
                document = service(root) ?? document
            }
            document.hasComments = true
            return document
        } catch {
            return PushDocument(kind: .request, faults: [error.fault], hasComments: true)
        }
    }

    /// Reads the payloads and requests in JSON that YAML has as literal texts, as the settings of a
    /// cluster do. Returns `nil` if there are none.
    func readLiterals(_ bytes: [UInt8]) -> PushDocument? {
        guard forcedKind == nil, Self.mentionsPush(bytes) else { return nil }
        var result = PushDocument(kind: .request, hasComments: true)
        for literal in Self.literals(in: bytes) {
            let text = Array(bytes[literal])
            guard text.first(where: { $0 > 0x20 }) == UInt8(ascii: "{"), Self.mentionsPush(text),
                let document = try? JSONScanner.scan(text)
            else { continue }
            var inner = read(document)
            guard !inner.isForeign else { continue }
            for index in inner.items.indices {
                inner.items[index].places.shift(by: literal.lowerBound)
            }
            for index in inner.faults.indices {
                inner.faults[index].place = inner.faults[index].place.shifted(
                    by: literal.lowerBound)
            }
            result.items += inner.items
            result.faults += inner.faults
        }
        return result.items.isEmpty && result.faults.isEmpty ? nil : result
    }

    /// The lines of each literal text: those behind a line that ends with a vertical bar, with more
    /// blanks before them.
    private static func literals(in bytes: [UInt8]) -> [Range<Int>] {
        var literals: [Range<Int>] = []
        var open: (indent: Int, lines: Range<Int>)?
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 0x0a).map { $0 + 1 } ?? bytes.count
            defer { start = end }
            let line = bytes[start..<end]
            guard let first = line.firstIndex(where: { $0 > 0x20 }) else { continue }
            if let literal = open, first - start > literal.indent {
                open?.lines = literal.lines.lowerBound..<end
                continue
            }
            if let literal = open { literals.append(literal.lines) }
            let last = line.reversed().drop { $0 <= 0x20 || "+-".utf8.contains($0) }
            open =
                last.first == UInt8(ascii: "|") && last.dropFirst().first == 0x20
                ? (first - start, end..<end) : nil
        }
        if let literal = open { literals.append(literal.lines) }
        return literals
    }

    private func read(_ root: YAMLNode) throws(YAMLFault) -> PushDocument {
        guard let mapping = root.mapping else {
            return foreign("the document is not a mapping", root)
        }
        if forcedKind != .payload, let payload = mapping["payload"] ?? mapping["body"],
            forcedKind == .request || mapping["headers"] != nil
                || payload.mapping?["aps"] != nil
        {
            let pointer = mapping["payload"] == nil ? "/body" : "/payload"
            return try request(mapping["headers"], payload, pointer, root)
        }
        guard forcedKind == .payload || (forcedKind == nil && mapping["aps"] != nil) else {
            return foreign("the document has no `headers` and `payload`", root)
        }
        if let arrow = mapping["aps"]?.mapping?.first(where: { member in
            member.key.scalar?.string.contains("=>") == true
        }) {
            throw YAMLFault("`=>` is no YAML", "Write a colon behind the key.", arrow.key.place)
        }
        let body = try YAMLText.json(root)
        var places = PlaceMap()
        places.payload = .marks(body.marks)
        return PushDocument(
            kind: .payload,
            items: [PushItem(draft: assumptions.draft(payload: body.bytes), places: places)])
    }

    /// Whether a mapping has the keys of an unmistakable request to a service.
    private func isForService(_ root: YAMLNode) -> Bool {
        guard let mapping = root.mapping else { return false }
        let names = Set(mapping.compactMap { $0.key.scalar?.string })
        return Wrapper.all.contains { $0.isUnmistakable && $0.fits(names) }
            || names.contains("payload") && !names.isDisjoint(with: Wrapper.deviceTokens)
    }

    /// Reads a request to a service that forwards to APNs, as the JSON that it stands for.
    private func service(_ root: YAMLNode) -> PushDocument? {
        guard let json = try? YAMLText.json(root),
            let document = try? JSONScanner.scan(json.bytes),
            var result = wrapped(document, EmbeddedText(file: json.bytes))
        else { return nil }
        for index in result.items.indices { result.items[index].places.convert(by: json.marks) }
        for index in result.faults.indices {
            result.faults[index].place = PlaceMap.place(of: result.faults[index].place, json.marks)
        }
        return result
    }

    private func request(
        _ headers: YAMLNode?, _ payload: YAMLNode, _ pointer: String, _ root: YAMLNode
    ) throws(YAMLFault) -> PushDocument {
        var result = PushDocument(kind: .request)
        var places = PlaceMap()
        places.pointer = pointer
        places.missingHeaders = ((headers ?? root).place, headers == nil ? "" : "/headers")
        var list: [PushDraft.Header] = []
        var opaque: Set<String> = []
        let isForAzure = Wrapper.isForAzure(
            headers?.mapping?.map { $0.key.scalar?.string ?? "" } ?? [])
        if let headers {
            guard let mapping = headers.mapping else {
                throw YAMLFault(
                    "`headers` is not a mapping", "Write the headers as names and values.",
                    headers.place, pointer: "/headers")
            }
            for (key, value) in mapping {
                let written = key.scalar?.string ?? ""
                let name = isForAzure ? Wrapper.appleName(ofAzureHeader: written) : written
                if isForAzure, !name.hasPrefix("apns-") { continue }
                let pointer = "/headers/" + JSONPointerText.escaped(written)
                // `{{ topic }}` of a template is a mapping in a mapping.
                if let first = value.mapping?.first(where: { _ in true }),
                    first.key.mapping != nil
                {
                    opaque.insert(name.lowercased())
                    continue
                }
                guard let text = value.scalar?.string else {
                    result.faults.append(
                        PushDocument.Fault(
                            message: "a header's value is neither text nor number",
                            fix: "Write the value as it is sent.", place: value.place,
                            pointer: pointer))
                    continue
                }
                if let known = Placeholder.known(text, of: name) {
                    list.append(PushDraft.Header(name, known))
                } else {
                    opaque.insert(name.lowercased())
                }
                places.headers.append(
                    PlaceMap.Header(name: name.lowercased(), place: value.place, pointer: pointer))
            }
        }
        let body = try YAMLText.body(payload)
        places.payload = .marks(body.marks)
        var draft =
            isForAzure
            ? assumptions.draft(payload: body.bytes, knownHeaders: list)
            : assumptions.draft(payload: body.bytes, headers: list)
        draft.opaqueHeaders = opaque.union(["authorization"])
        // Without headers it may be a part of what is sent.
        result.items = [
            PushItem(draft: draft, places: places, isPart: headers == nil && forcedKind == nil)
        ]
        result.markForeign(unless: forcedKind != nil || draft.showsPush)
        return result
    }

    /// YAML without a push. It has a fault where it is said to be one; much else is written so.
    private func foreign(_ message: String, _ root: YAMLNode) -> PushDocument {
        guard let forcedKind else { return PushDocument(kind: .request, isForeign: true) }
        let fault = PushDocument.Fault(
            message: message,
            fix: "Put headers and payload side by side, as `headers` and `payload`.",
            place: root.place, pointer: "")
        return PushDocument(kind: forcedKind, faults: [fault])
    }
}

extension YAMLNode {
    /// The place where the node starts.
    var place: FilePlace { .position(line: mark?.line ?? 1, column: mark?.column ?? 1) }
}
