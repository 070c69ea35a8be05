// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// The members of requests that wake the app, or let an extension run.
extension WrapperRequest {
    /// The names of such members in services' requests, and in `aps`.
    private static let flags = [
        ("content_available", "content-available"), ("mutable_content", "mutable-content"),
    ]

    /// Adds what the service makes of these members, and reports those in another spelling, which
    /// it ignores. One that asks to wake the app is judged as it was meant.
    func addFlags(to push: inout WrappedPush) {
        for (name, key) in Self.flags {
            let right = member(name)
            let others = misspeltFlags(name)
            for other in others {
                push.faults.append(
                    fault(
                        other, pointer: pointer,
                        fix: right == nil ? "Write `\(name)`." : "Remove it.",
                        "is not a member of this request, which has `\(name)` instead"))
            }
            let meant = name == "content_available" ? others.last : nil
            if let given = right ?? meant, let flag = flag(given, key) { push.aps.append(flag) }
            if let right, isText(flag: right.value) {
                push.faults.append(
                    PushDocument.Fault(
                        rule: "G014", severity: .warning,
                        message: "`\(name)` is text, and this request has a Boolean there",
                        fix: "Write true or false, without quotes.",
                        place: .offset(offset(right.value)), pointer: pointer + "/" + name))
            }
        }
    }

    /// Whether a flag is a Boolean or a number in quotes.
    private func isText(flag value: Int) -> Bool {
        guard document.kind(value) == .string, let text = document.scalarText(value) else {
            return false
        }
        return ["true", "false", "1", "0"].contains(text.lowercased())
    }

    /// The members that stand for this one in another spelling. Services that are not known have
    /// names in camel case, so only what is in Apple's spelling is certain by itself.
    func misspeltFlags(_ name: String) -> [(key: Int, value: Int)] {
        let isCertain =
            ["notification", "app_id", "tokens", "registration_ids"]
            .contains { member($0) != nil } || Self.flags.contains { member($0.0) != nil }
        return flagSpellings(of: name, in: node).filter { other in
            !document.text(other.key).elementsEqual(name.utf8)
                && (isCertain || document.text(other.key).contains(UInt8(ascii: "-")))
        }
    }

    /// Reports such members inside of another one, where they have no effect.
    func misplacedFlags(in object: Int, pointer: String) -> [PushDocument.Fault] {
        Self.flags.flatMap { name, _ in
            flagSpellings(of: name, in: object).map { given in
                fault(
                    given, pointer: pointer,
                    fix: member(name) == nil
                        ? "Write `\(name)` at the top level of the request."
                        : "Remove it: `\(name)` is at the top level.",
                    "has no effect inside `notification`")
            }
        }
    }

    /// The members of an object with a name in any spelling, and the flags whose name has up to two
    /// typing errors.
    func flagSpellings(of name: String, in object: Int) -> [(key: Int, value: Int)] {
        guard document.kind(object) == .object else { return [] }
        return document.members(of: object).filter { member in
            let text = String(decoding: document.text(member.key), as: UTF8.self)
            guard text.first?.isLetter == true else { return false }
            let isFlag =
                [.trueLiteral, .falseLiteral, .number].contains(document.kind(member.value))
                || isText(flag: member.value)
            return Nearest.isNear(text, name, upTo: isFlag ? Self.mostTypingErrors : 0)
        }
    }

    /// The number of typing errors in a long name.
    private static let mostTypingErrors = 2

    /// Reports a token of Firebase that begins with its name: a token has no equals sign.
    func faults(ofToken name: String) -> [PushDocument.Fault] {
        guard let token = member(name), let text = document.scalarText(token.value),
            let equals = text.firstIndex(of: "="), equals > text.startIndex,
            text[..<equals].allSatisfy({ $0.isLetter || $0 == "_" }), !Placeholder.isIn(text)
        else { return [] }
        return [
            PushDocument.Fault(
                rule: "H002", message: "the token begins with `\(text[...equals])`",
                fix: "Remove it.", place: .offset(offset(token.value)),
                pointer: pointer + "/" + name)
        ]
    }

    func fault(
        _ member: (key: Int, value: Int), pointer: String, fix: String, _ clause: String
    ) -> PushDocument.Fault {
        let name = String(decoding: document.text(member.key), as: UTF8.self)
        return PushDocument.Fault(
            rule: "G012", severity: .warning, message: "`\(name)` \(clause)", fix: fix,
            place: .offset(offset(member.key)),
            pointer: pointer + "/" + JSONPointerText.escaped(name))
    }

    /// A Boolean of the service that is 1 in `aps`.
    func flag(_ member: (key: Int, value: Int), _ key: String) -> WrappedPush.Member? {
        let isOn =
            isText(flag: member.value)
            && ["true", "1"].contains { text in
                document.scalarText(member.value)?.lowercased() == text
            }
        guard
            isOn || document.kind(member.value) == .trueLiteral
                || document.isNumber(member.value, "1")
        else { return nil }
        var one = EmbeddedText()
        one.append("1", standingAt: offset(member.value))
        let name = String(decoding: document.text(member.key), as: UTF8.self)
        return WrappedPush.Member(name: key, value: one, pointer: pointer + "/" + name)
    }
}
