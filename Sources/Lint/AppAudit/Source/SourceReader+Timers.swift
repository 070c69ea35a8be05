// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads timers that start when the app leaves the foreground.
extension SourceReader {
    private static let leavingFunctions: Set = [
        "applicationDidEnterBackground", "sceneDidEnterBackground", "applicationWillResignActive",
        "sceneWillResignActive",
    ]

    /// Reads a timer that starts when the app is about to be suspended.
    mutating func readTimer(_ index: Int) {
        guard startsTimer(index),
            let body = bodyThatLeaves(around: index) ?? helperThatLeaves(around: index),
            !asksForTime(body)
        else { return }
        see(.fault(.timerInBackground), at: index)
    }

    private func asksForTime(_ body: Range<Int>) -> Bool {
        body.contains { text.tokens[$0].text.hasPrefix("beginBackgroundTask") }
    }

    /// Whether a name starts a timer: `Timer.scheduledTimer`, `Timer.publish(…).autoconnect()`,
    /// `DispatchSource.makeTimerSource` whose timer is resumed.
    private func startsTimer(_ index: Int) -> Bool {
        switch text.tokens[index].text {
        case "publish":
            guard text.sees("Timer", ".", at: index - 2), text.sees("(", "every", at: index + 1)
            else { return false }
            return text.sees(".", "autoconnect", at: text.partners[index + 1] + 1)
        case "makeTimerSource":
            guard text.sees("DispatchSource", ".", at: index - 2), text.sees("=", at: index - 3),
                let timer = variable(before: index - 3), let (_, body) = function(around: index)
            else { return false }
            return (index..<body.upperBound).contains { word in
                guard text.tokens[word].isName(timer) else { return false }
                let dot = text.sees("?", at: word + 1) ? word + 2 : word + 1
                return text.sees(".", "resume", at: dot) || text.sees(".", "activate", at: dot)
            }
        case "dispatch_source_create":
            guard text.sees("(", "DISPATCH_SOURCE_TYPE_TIMER", at: index + 1),
                let (_, body) = function(around: index)
            else { return false }
            return (index..<body.upperBound).contains {
                text.tokens[$0].isName("dispatch_resume")
                    || text.tokens[$0].isName("dispatch_activate")
            }
        default:
            return text[index - 1]?.isMark(".") == true
                || text[index - 1]?.isName("NSTimer") == true
        }
    }

    /// The tokens of the function around a token, if a function of its type that runs when the app
    /// leaves the foreground calls it.
    private func helperThatLeaves(around index: Int) -> Range<Int>? {
        guard let scope = functionInCourse(of: index), case .function(let head) = scope.kind,
            !overloaded.contains(head.name)
        else { return nil }
        let body = text.content(ofBracket: scope.open)
        // It may do so only while the app is active.
        let looksAtState = body.contains {
            let name = text.tokens[$0].text.lowercased()
            return ["foreground", "applicationstate", "isactive"].contains(where: name.contains)
        }
        guard !looksAtState else { return nil }
        let type = text.type(around: index)?.name
        let isCalled = text.tokens.indices.contains { word in
            guard text.tokens[word].isName(head.name), isCall(word), !body.contains(word),
                text[word - 1]?.isName("func") != true, text.type(around: word)?.name == type,
                text[word - 1]?.isMark(".") != true || text.sees("self", ".", at: word - 2),
                !text.isObjectiveC || text.sees("[", "self", at: word - 2),
                let caller = functionInCourse(of: word), case .function(let own) = caller.kind
            else { return false }
            return Self.leavingFunctions.contains(own.name)
                && !asksForTime(text.content(ofBracket: caller.open))
        }
        return isCalled ? body : nil
    }

    /// The function in whose own course a token runs, and not in a closure that is kept.
    private func functionInCourse(of index: Int) -> SourceScope? {
        for scope in text.scopes(around: index) {
            switch scope.kind {
            case .function: return scope
            case .control, .closure("async"): continue
            case .closure, .type: return nil
            }
        }
        return nil
    }

    /// The tokens of the function or closure around a token, if it runs when the app leaves the
    /// foreground.
    private func bodyThatLeaves(around index: Int) -> Range<Int>? {
        for scope in text.scopes(around: index) {
            let body = text.content(ofBracket: scope.open)
            switch scope.kind {
            case .function(let head): return Self.leavingFunctions.contains(head.name) ? body : nil
            // `addObserver(forName: UIApplication.didEnterBackgroundNotification, …) { _ in`
            case .closure("addObserver"), .closure("onReceive"), .closure("sink"):
                let before = (0..<scope.open).suffix(40)
                let start = before.last {
                    text.tokens[$0].isMark("{") || text.tokens[$0].isMark("}")
                }
                let head = (start ?? before.lowerBound)..<scope.open
                if head.contains(where: {
                    text.tokens[$0].isName("didEnterBackgroundNotification")
                }) {
                    return body
                }
            case .control:
                if scenePhase(in: scope, around: index) == "background" { return body }
            default: continue
            }
        }
        return nil
    }

    /// The phase of a SwiftUI scene in a condition around a token: `if phase == .background {`, or
    /// the case of `switch newValue {`, in `.onChange(of: scenePhase)`.
    func scenePhase(in scope: SourceScope, around index: Int) -> String? {
        let condition = (scope.head..<scope.open).prefix(AuditLimits.headWords)
        guard namesPhase(condition) || isInPhaseChange(scope) else { return nil }
        switch scope.kind {
        case .control("if"):
            let equals = condition.first { text.sees("==", ".", at: $0) }
            return equals.flatMap { text[$0 + 2]?.text }
        case .control("switch"):
            let inside = text.scopeIndices[scope.open + 1]
            let label = (scope.open..<index).last {
                (text.tokens[$0].isName("case") || text.tokens[$0].isName("default"))
                    && text.scopeIndices[$0] == inside
            }
            return label.flatMap { text.sees(".", at: $0 + 1) ? text[$0 + 2]?.text : nil }
        default: return nil
        }
    }

    private func namesPhase(_ words: Range<Int>) -> Bool {
        words.contains { text.tokens[$0].text.lowercased().hasSuffix("phase") }
    }

    private func isInPhaseChange(_ scope: SourceScope) -> Bool {
        for around in text.scopes(around: scope.head) {
            guard case .closure("onChange") = around.kind else { continue }
            let close = around.open - 1
            guard text.sees(")", at: close), text.partners[close] >= 0 else { return false }
            return namesPhase(text.partners[close]..<close)
        }
        return false
    }
}
