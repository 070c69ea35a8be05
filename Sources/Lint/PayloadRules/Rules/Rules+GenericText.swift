// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import WakeModel

/// Rules about the body as text: size, encoding, grammar.
extension Rules {
    static let genericText: [Rule] = [
        Rule(
            "G001", .error, "the body is not a JSON object",
            why: "A payload is one JSON dictionary, and a shell may cut a command short of it.",
            from: [.generating],
            fix: "Send one JSON object.", check: notAnObject),
        Rule(
            "G002", .error, "the body is empty", why: "APNs answers PayloadEmpty.",
            from: [.responses], fix: "Send a JSON object."
        ) { push, findings in
            if push.payload.isEmpty { findings.report(.whole) }
        },
        Rule(
            "G003", .error, "the body is over the size limit",
            why: "APNs refuses it with PayloadTooLarge; it does not cut it.",
            from: [.generating, .sending],
            fix: "Send a hint, and let the app fetch the rest when it wakes.",
            for: .every.subtracting(.voip), in: .size, check: overLimit),
        Rule(
            "G004", .warning, "the body is above 90 % of the size limit",
            why: "A little more text in one of its values will make APNs refuse it.",
            from: [.proposal], fix: "Leave out what the app can fetch by itself.", in: .size
        ) { push, findings in
            let limit = push.maximumPayloadBytes
            let count = push.payload.count
            guard count * 10 > limit * 9, count <= limit else { return }
            findings.report(
                .whole, "the body has \(count) bytes, above 90 % of the limit of \(limit)")
        },
        Rule(
            "G005", .error, "the body is not plain UTF-8",
            why: "JSON between systems is UTF-8, without a byte order mark.",
            from: [.rfc8259("§8.1")], fix: "Encode the text as UTF-8 without a byte order mark."
        ) { push, findings in
            reportSyntaxError(of: .encoding, push, &findings, repair: withoutMark(push))
        },
        Rule(
            "G006", .warning, "a key appears twice in one object",
            why: "Parsers differ on which of the two values wins.", from: [.rfc8259("§4")],
            fix: "Remove one of the two."
        ) { push, findings in
            guard push.summary.hasDuplicateKeys, let document = push.document else { return }
            for key in document.duplicateKeys { findings.report(.node(key)) }
        },
        Rule(
            "G007", .warning, "a number is not exact in every parser",
            why: """
                Many parsers read numbers as doubles: integers beyond ±(2^53 − 1) lose digits, and \
                larger numbers become infinite.
                """,
            from: [.rfc8259("§6")], fix: "Write large numbers as strings.", check: inexactNumbers),
        Rule(
            "G008", .note, "containers are nested deeply",
            why: "Apple documents no limit, and parsers differ in theirs.", from: [.proposal],
            fix: "Flatten the payload.", check: deepNesting),
        Rule(
            "G009", .error, "the body is compressed", why: "APNs takes uncompressed JSON only.",
            from: [.sending], fix: "Send the JSON text as it is."
        ) { push, findings in
            if let encoding = push.draft?["content-encoding"], encoding != "identity" {
                findings.report(
                    .header("content-encoding"), "the request has a content-encoding",
                    fix: "Leave the header out, and send the JSON text as it is.")
            }
            guard let format = Compression.format(of: push.payload) else { return }
            findings.report(.whole, "the body is compressed with \(format)")
        },
    ]

    private static func notAnObject(_ push: ValidationContext, _ findings: inout Findings) {
        reportSyntaxError(of: .grammar, push, &findings, repair: withoutTrailingComma(push))
        guard push.document != nil, !push.hasRootObject else { return }
        findings.report(.whole, "the body is JSON, but not an object")
    }

    /// VoIP has another limit, which rule VO002 checks in the same way.
    static func overLimit(_ push: ValidationContext, _ findings: inout Findings) {
        let limit = push.maximumPayloadBytes
        guard push.payload.count > limit else { return }
        let count = push.payload.count
        // A file is read only up to the scanner's limit.
        let most = JSONScanner.maximumByteCount
        let size = count > most ? "more than \(most)" : "\(count)"
        let rest =
            count > WakeValidator.maximumReadBytes ? ", so that nothing else was checked" : ""
        findings.report(.whole, "the body has \(size) bytes, \(limit) are allowed\(rest)")
    }

    private static func inexactNumbers(_ push: ValidationContext, _ findings: inout Findings) {
        if push.syntaxError?.category == .notANumber {
            reportSyntaxError(of: .notANumber, push, &findings, severity: .error)
        }
        guard push.summary.traits.contains(.extremeNumber), let document = push.document else {
            return
        }
        for (index, node) in document.nodes.enumerated()
        where node.traits.contains(.extremeNumber) {
            if !node.traits.contains(.notInteger) {
                findings.report(.node(index), "an integer is outside ±(2^53 − 1)")
            } else if document.double(index)?.isInfinite == true {
                findings.report(.node(index), "a number is too large for a double")
            }
        }
    }

    private static func deepNesting(_ push: ValidationContext, _ findings: inout Findings) {
        if push.syntaxError?.category == .depth {
            reportSyntaxError(of: .depth, push, &findings, severity: .error)
        }
        let deepest = push.summary.deepest
        guard deepest > 16, let document = push.document else { return }
        if let node = document.firstContainer(deeperThan: 128) {
            findings.report(
                .node(node), "containers are nested \(deepest) deep, more than 128",
                severity: .warning)
        } else if let node = document.firstContainer(deeperThan: 16) {
            findings.report(
                .node(node), "containers are nested \(deepest) deep, more than 16")
        }
    }

    private static func reportSyntaxError(
        of category: JSONSyntaxError.Category, _ push: ValidationContext,
        _ findings: inout Findings,
        severity: Severity? = nil, repair: @autoclosure () -> Repair? = nil
    ) {
        guard let error = push.syntaxError, error.category == category else { return }
        findings.report(
            .offset(error.offset, pointer: error.pointer), error.description,
            fix: isPropertyList(push.payload, at: error.offset)
                ? "Write JSON: this looks like a property list." : error.hint,
            severity: severity, repair: repair())
    }

    /// Whether a key stands at an offset as in a property list of the older form: `aps = {`.
    private static func isPropertyList(_ text: [UInt8], at offset: Int) -> Bool {
        let rest = text.dropFirst(offset)
        let key = rest.prefix { 0x61...0x7a ~= $0 | 0x20 || "-_".utf8.contains($0) }
        let next = rest.dropFirst(key.count).first { $0 > 0x20 }
        return !key.isEmpty && next == UInt8(ascii: "=")
    }

    private static func withoutMark(_ push: ValidationContext) -> Repair? {
        guard push.payload.starts(with: [0xef, 0xbb, 0xbf]) else { return nil }
        return Repair(edits: [.init(range: 0..<3, replacement: [])], isSafe: true)
    }

    /// Removes the comma before a closing bracket at which the scanner stopped.
    private static func withoutTrailingComma(_ push: ValidationContext) -> Repair? {
        guard let error = push.syntaxError, error.offset < push.payload.count else { return nil }
        let isClosing =
            switch push.payload[error.offset] {
            case UInt8(ascii: "}"): error.expected == "a key in double quotes"
            case UInt8(ascii: "]"): error.expected == "a value"
            default: false
            }
        let blanks: [UInt8] = [0x20, 0x09, 0x0a, 0x0d]
        let last = push.payload[..<error.offset].lastIndex { !blanks.contains($0) }
        guard isClosing, let last, push.payload[last] == UInt8(ascii: ",") else { return nil }
        return Repair(edits: [.init(range: last..<(last + 1), replacement: [])], isSafe: true)
    }
}
