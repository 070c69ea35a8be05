// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds notification service extensions that show nothing in place of a notification.
extension SourceReader {
    /// Reads empty content, which a notification service extension passes on to show nothing.
    mutating func readEmptyContent(_ name: String, _ index: Int) {
        guard text.sees("(", ")", at: index + 1),
            text.type(around: index)?.inherited.contains("UNNotificationServiceExtension") == true
        else { return }
        let isHandedOn = text[index - 1]?.isMark("(") == true
        if name == "UNNotificationContent" || isHandedOn || staysEmpty(index) {
            see(.hiddenNotification, at: index)
        }
    }

    /// Whether content gets at most a badge before it is passed on: `let empty =
    /// UNMutableNotificationContent()`, `empty.sound = nil`, `contentHandler(empty)`.
    private func staysEmpty(_ index: Int) -> Bool {
        guard text.sees("=", at: index - 1), text.sees("let", at: index - 3),
            let name = text[index - 2]?.text, let (head, body) = function(around: index)
        else { return false }
        let uses = text.places(of: name, in: body).filter { $0 > index }
        guard uses.count < 16 else { return false }
        // `contentHandler(empty)`, `self.contentHandler?(empty)`
        let shown = uses.filter { use in
            guard text.sees("(", at: use - 1), text.sees(")", at: use + 1) else { return false }
            let callee = text[text.sees("?", at: use - 2) ? use - 3 : use - 2]?.text ?? ""
            return callee.lowercased().hasLetters("contenthandler")
                || head.parameters.contains { $0.name == callee } || getsContent(callee)
        }
        return shown.count == 1
            && uses.allSatisfy { use in
                shown.contains(use) || text.sees(".", "sound", "=", "nil", at: use + 1)
                    || text.sees(".", "badge", "=", at: use + 1)
            }
    }

    /// Whether a property of the file has the extension's content handler: `handler =
    /// contentHandler`.
    private func getsContent(_ property: String) -> Bool {
        text.places(of: property).contains { text.sees("=", "contentHandler", at: $0 + 1) }
    }

    /// Reads that content loses its text, and gets none later: `content.title = ""`, and the same
    /// of `body`.
    mutating func readBlankContent(_ index: Int) {
        guard setsNoText(index), let receiver = receiver(of: index),
            text.type(around: index)?.inherited.contains("UNNotificationServiceExtension") == true,
            let block = text.scopes(around: index).first(where: { _ in true }),
            let (_, body) = function(around: index)
        else { return }
        let near =
            max(
                body.lowerBound, index - AuditLimits.headWords)..<min(
                body.upperBound, index + AuditLimits.headWords)
        let titles = text.places(of: "title", in: near).filter { self.receiver(of: $0) == receiver }
        guard let title = titles.first(where: { setsNoText($0) && isOnSameLevel($0, index) }) else {
            return
        }
        // What another branch of the function shows is not this content.
        let rest = max(title, index) + 1..<(leaves(block) ? block.close : body.upperBound)
        let isFilled = ["title", "body", "subtitle"].contains { name in
            text.places(of: name, in: rest).prefix(AuditLimits.headWords).contains { place in
                self.receiver(of: place) == receiver && text.sees("=", at: place + 1)
                    && !setsNoText(place)
            }
        }
        if !isFilled { see(.hiddenNotification, at: min(title, index)) }
    }

    private func isOnSameLevel(_ first: Int, _ second: Int) -> Bool {
        text.scopeIndices[first] == text.scopeIndices[second]
    }

    /// Whether a property gets an empty text: `content.body = ""`.
    private func setsNoText(_ property: Int) -> Bool {
        guard text.sees("=", at: property + 1), let value = text[property + 2] else { return false }
        return value.kind == .string(isInterpolated: false) && value.text.isEmpty
            && !text.sees("+", at: property + 3)
    }

    /// The name of the object of a property: `content.body`, `content?.body`.
    private func receiver(of property: Int) -> String? {
        guard text.sees(".", at: property - 1) else { return nil }
        let isOptional = text.sees("?", at: property - 2) || text.sees("!", at: property - 2)
        return text[property - (isOptional ? 3 : 2)].flatMap { $0.isName ? $0.text : nil }
    }
}
