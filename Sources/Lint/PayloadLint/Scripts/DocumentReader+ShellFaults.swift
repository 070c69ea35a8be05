// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// What a shell, or `curl`, makes of a command other than was meant.
extension DocumentReader {
    /// How much it weighs that the word at an offset is split at blanks: `zsh`, the shell of a Mac,
    /// splits none. Returns `nil` where the text does not show that it is for a shell that does.
    static func severity(
        ofSplitWordsIn text: [UInt8], name: String
    ) -> (_ offset: Int) -> Severity? {
        guard PageBlock.isPage(name) else {
            let lower = name.lowercased()
            let isNamed = lower.hasSuffix(".sh") || lower.hasSuffix(".bash")
            let severity: Severity? =
                !isMakefile(name) && splitsWords(text, isNamed: isNamed) ? .error : nil
            return { _ in severity }
        }
        let blocks = PageBlock.all(in: text, name: name)
        return { offset in
            guard let block = blocks.first(where: { $0.content.contains(offset) }) else {
                return nil
            }
            let isNamed = ["sh", "bash"].contains(block.language)
            return splitsWords(block.text(in: text), isNamed: isNamed) ? .warning : nil
        }
    }

    /// Whether a text is for `sh` or `bash`, by its name or its first line.
    private static func splitsWords(_ text: [UInt8], isNamed: Bool) -> Bool {
        let interpreter = String(decoding: text.prefix { $0 != 0x0a }, as: UTF8.self)
        let isShell = interpreter.hasPrefix("#!") && interpreter.contains("sh")
        return (isNamed || isShell) && !interpreter.contains("zsh")
            // A script that changes where words are split knows what it does.
            && text.firstRange(of: "IFS=".utf8) == nil
    }

    /// Whether a file is named as one for a shell.
    static func isNamedShell(_ name: String) -> Bool {
        [".sh", ".bash", ".zsh", ".command"].contains { name.lowercased().hasSuffix($0) }
    }

    /// What a shell makes of a command other than was meant.
    func faults(
        ofQuotesIn curl: CurlCommand, splitting: (Int) -> Severity?, isPage: Bool
    ) -> [PushDocument.Fault] {
        guard curl.isForAPNs || curl.isForAzure || curl.isForService else { return [] }
        var faults = curl.headers.filter { $0.name == "apns-topic" && $0.runsBundleID }.map {
            PushDocument.Fault(
                rule: "H006", message: "a shell runs the topic as a command, and sends none",
                fix: "Leave out the backquotes, or `$(…)`.", place: .offset($0.offset), pointer: "")
        }
        faults += curl.headersWithoutColon.map { header in
            PushDocument.Fault(
                rule: "H017", severity: header.name == "apns-topic" ? .error : .warning,
                message: "`\(header.name)` has no colon, and curl does not send it",
                fix: "Write a colon behind the name.", place: .offset(header.offset), pointer: "")
        }
        if let word = curl.typographicQuotes, let body = curl.body,
            (try? JSONScanner.scan(body.bytes)) != nil
        {
            faults.append(
                PushDocument.Fault(
                    message: "typographic quotation marks are text in a shell, and quote nothing",
                    fix: "Write straight ones.", place: .offset(word), pointer: ""))
        }
        if let remark = curl.remark {
            faults.append(
                PushDocument.Fault(
                    severity: .warning,
                    message: "a shell ends the command in this line: what follows is not sent",
                    fix: "Write it above the command: nothing may stand behind a backslash.",
                    place: .offset(remark), pointer: ""))
        }
        // Pages lose backslashes.
        if let gap = curl.gap, !isPage {
            faults.append(
                PushDocument.Fault(
                    severity: .warning,
                    message: "a shell ends the command in this line: what follows is not sent",
                    fix: "Write a backslash at the end of the line.", place: .offset(gap),
                    pointer: ""))
        }
        if let word = curl.methodAsURL {
            faults.append(
                PushDocument.Fault(
                    rule: "H001", severity: .warning,
                    message: "curl takes `\(word.text)` without -X for a second address",
                    fix: word.text == "POST" ? "Remove it, or write -X before it." : "Remove it.",
                    place: .offset(word.offset), pointer: ""))
        }
        if let word = curl.split, let severity = splitting(word) {
            faults.append(
                PushDocument.Fault(
                    severity: severity,
                    message: "a shell splits the body at its blanks, and sends only a part",
                    fix: "Write the variable in double quotes.", place: .offset(word),
                    pointer: ""))
        }
        return faults
    }
}
