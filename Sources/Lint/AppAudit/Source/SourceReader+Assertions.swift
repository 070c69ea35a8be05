// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Tells calls for time in the background from those of functions with the same name.
extension SourceReader {
    /// The names of UIKit's functions that begin time in the background.
    static let begins = [
        "beginBackgroundTask", "beginBackgroundTaskWithName",
        "beginBackgroundTaskWithExpirationHandler",
    ]

    /// Whether a token is a call of UIKit's `beginBackgroundTask(withName:expirationHandler:)`: app
    /// extensions, wrappers and the app itself have functions of that name too.
    func isAssertion(_ index: Int) -> Bool {
        guard isCall(index), text[index - 1]?.isName("func") == false, hasLabelsOfUIKit(index)
        else { return false }
        guard let receiver = receiver(ofCall: index),
            receiver.count > 1 || !text.sees("self", at: receiver.lowerBound)
        else {
            // In an extension of the application its functions need no receiver, or `self`.
            let type = text.type(around: index)
            return type?.name == "UIApplication"
                || type?.inherited.contains("UIApplication") == true
        }
        // `Manager.shared.beginBackgroundTask { … }`
        let isOfOther =
            text.sees(".", "shared", at: index - 3)
            && text[index - 4]?.text.hasSuffix("Application") != true
        guard !isOfOther, let last = text[receiver.upperBound - 1] else { return false }
        let words: Set = ["UIApplication", "application", "sharedApplication", "shared", "app"]
        return receiver.contains { words.contains(text.tokens[$0].text) }
            || last.isName && isApplication(named: last.text)
    }

    /// Whether the arguments of a call in Swift may be those of UIKit's function: a name and a
    /// closure with their labels, or a closure.
    private func hasLabelsOfUIKit(_ index: Int) -> Bool {
        guard !text.isObjectiveC, text.sees("(", at: index + 1), !text.sees(")", at: index + 2)
        else { return true }
        if text.isLabel(index + 2) {
            return ["withName", "expirationHandler"].contains(text[index + 2]?.text)
        }
        // Older versions of Swift have other names, and an argument without a label.
        return text.tokens[index].text != "beginBackgroundTask" || text.sees("{", at: index + 2)
    }

    /// The tokens of the receiver of a call, without its last mark; `nil` if there is none.
    private func receiver(ofCall index: Int) -> Range<Int>? {
        if text.isObjectiveC {
            return message(around: index).flatMap { $0 + 1 < index ? $0 + 1..<index : nil }
        }
        guard text.sees(".", at: index - 1) else { return nil }
        var end = index - 1
        while text.sees("?", at: end - 1) || text.sees("!", at: end - 1) { end -= 1 }
        var first = index
        while text.sees(".", at: first - 1), first > 2 {
            first -= 2
            while text.sees("?", at: first) || text.sees("!", at: first) { first -= 1 }
            if text.sees(")", at: first) || text.sees("]", at: first), text.partners[first] > 0 {
                first = text.partners[first] - 1
            }
        }
        return first < end ? first..<end : nil
    }

    /// Whether a token is in the expiration handler of a call whose identifier nothing keeps, so
    /// that it can have no other than the invalid one.
    func isInThrownAwayTime(_ index: Int) -> Bool {
        let begin = Self.begins.compactMap { text.places(of: $0).last { $0 < index } }.max()
        guard let begin, assertionExpiration(begin)?.contains(index) == true else { return false }
        return isAssertion(begin) && isThrownAway(begin)
    }

    /// Whether a mention of `endBackgroundTask` may be the application's function, which gets an
    /// identifier without a label, and not one of the app with that name.
    func mayEndTimeOfApplication(_ index: Int) -> Bool {
        if text.isObjectiveC {
            guard text.sees(":", at: index + 1) else { return false }
            // A declaration: `- (void)endBackgroundTask:(UIBackgroundTaskIdentifier)task {`.
            return !text.sees(")", at: index - 1)
                || !["-", "+"].contains(text[text.partners[index - 1] - 1]?.text)
        }
        guard !text.sees("func", at: index - 1) else { return false }
        guard text.sees("(", at: index + 1) else { return true }
        guard let argument = text.content(ofBracket: index + 1).first, !text.isLabel(argument)
        else { return false }
        return calledFunction(index) == nil || text.type(around: index)?.name == "UIApplication"
    }
}
