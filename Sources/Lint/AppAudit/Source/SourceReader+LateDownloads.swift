// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds files of downloads that are used only after the delegate method which gets them.
extension SourceReader {
    /// What runs a closure later.
    private static let laterRuns: Set = [
        "async", "asyncAfter", "Task", "detached", "dispatch_async", "dispatch_after",
    ]

    /// The labels behind which a file is read or moved.
    private static let fileLabels: Set = [
        "at", "atPath", "contentsOf", "contentsOfFile", "withItemAt", "forReadingFrom",
        "moveItemAtURL", "copyItemAtURL", "moveItemAtPath", "copyItemAtPath",
        "dataWithContentsOfURL", "initWithContentsOfURL", "withItemAtURL",
        "fileHandleForReadingFromURL", "contentsAtPath",
    ]

    /// The functions of Swift that read or move a file.
    private static let fileCalls: Set = [
        "moveItem", "copyItem", "linkItem", "replaceItemAt", "replaceItem", "contents", "Data",
        "String", "FileHandle", "UIImage", "InputStream",
    ]

    /// Reads the delegate method that gets the file of a download, which iOS removes behind it.
    mutating func readEndOfDownload(
        _ head: SourceScope.FunctionHead, _ scope: SourceScope
    ) {
        let isEnd =
            text.isObjectiveC
            ? head.name == "URLSession" && head.has("downloadTask")
            : head.name == "urlSession" && head.has("downloadTask")
        guard isEnd,
            let file = head.parameters.first(where: { parameter in
                ["didFinishDownloadingTo", "didFinishDownloadingToURL"].contains(parameter.label)
            })
        else { return }
        let body = text.content(ofBracket: scope.open)
        let uses = text.places(of: file.name, in: body).filter {
            !text.isLabel($0) && !isLogged($0, in: body)
        }
        // What waits for the closure keeps the file.
        let waits = body.contains { index in
            let word = text.tokens[index].text
            return text.tokens[index].isName
                && (word.lowercased().hasPrefix("wait")
                    || ["while", "RunLoop", "NSRunLoop", "lock"].contains(word)
                    || word.hasSuffix("sync")
                        && !["async", "dispatch_async"].contains(word)
                    || word.hasSuffix("_wait"))
        }
        guard !waits, uses.count <= AuditLimits.headWords,
            uses.allSatisfy({ runsLater($0, in: scope) && !hides($0) }),
            let use = uses.first(where: usesFile) ?? uses.first(where: isHandedOn)
        else { return }
        see(.fault(.downloadUsedLate), at: use)
    }

    /// Whether a token is only written to a log: `print(location)`, `NSLog(@"%@", location)`.
    private func isLogged(_ index: Int, in body: Range<Int>) -> Bool {
        (max(body.lowerBound, index - AuditLimits.headWords)..<index).contains { open in
            text.tokens[open].isMark("(") && text.partners[open] > index
                && ["print", "debugPrint", "NSLog"].contains { text.sees($0, at: open - 1) }
                && !(open..<index).contains { text.tokens[$0].isMark("{") }
        }
    }

    /// Whether a token of a function is in a closure that runs later.
    private func runsLater(_ index: Int, in function: SourceScope) -> Bool {
        for scope in text.scopes(around: index) {
            if scope.open == function.open { return false }
            switch scope.kind {
            case .control: continue
            case .function, .type: return false
            case .closure: if isRunLater(scope.open) { return true }
            }
        }
        return false
    }

    /// Whether a brace opens a closure that runs later: `queue.async {`, `Task { @MainActor in`,
    /// `dispatch_async(queue, ^{`.
    private func isRunLater(_ open: Int) -> Bool {
        if text.isObjectiveC {
            guard text.sees("^", at: open - 1) || text.sees(")", at: open - 1) else { return false }
            let call = (max(0, open - AuditLimits.headWords)..<open).last { index in
                text.tokens[index].isMark("(") && text.partners[index] > open
            }
            return call.flatMap { text[$0 - 1] }.map { Self.laterRuns.contains($0.text) } == true
        }
        var last = open - 1
        if text.sees(")", at: last), text.partners[last] > 0 {
            last = text.partners[last] - 1
        } else if text.sees("execute", ":", at: open - 2) {
            last =
                (max(0, open - AuditLimits.headWords)..<open).last { index in
                    text.tokens[index].isMark("(") && text.partners[index] > open
                }.map { $0 - 1 } ?? last
        }
        guard let call = text[last], call.isName, Self.laterRuns.contains(call.text) else {
            return false
        }
        return call.text == "Task" || text.sees(".", at: last - 1)
    }

    /// Whether a name begins to stand for something else, or is handed on as a whole.
    private func hides(_ index: Int) -> Bool {
        ["let", "var", "=", "*"].contains { text.sees($0, at: index - 1) }
            || text.sees("=", at: index + 1)
    }

    /// What gets a value and uses no file.
    private static let keepingWords: Set = [
        "insert", "append", "add", "remove", "contains", "post", "track", "event", "log", "note",
        "record", "count", "name",
    ]

    /// Whether a call hands a file on as it is, which is no log and not of this file: `library
    /// .keep(location, as: name)`, `[self.delegate loader:self didLoad:location]`.
    private func isHandedOn(_ index: Int) -> Bool {
        guard let before = text[index - 1], let next = text[index + 1] else { return false }
        if text.isObjectiveC {
            guard before.isMark(":"), next.isMark("]") || next.isName,
                let site = message(around: index).flatMap(text.call(inBracket:))
            else { return false }
            return handsOn(site.name)
        }
        guard before.isMark("(") || before.isMark(",") || before.isMark(":"),
            next.isMark(")") || next.isMark(",")
        else { return false }
        let open = (max(0, index - AuditLimits.headWords)..<index).last { place in
            text.tokens[place].isMark("(") && text.partners[place] > index
        }
        guard let open, let call = text[open - 1] else { return false }
        // `onLoad?(location)`
        let name = call.isMark("?") || call.isMark("!") ? open - 2 : open - 1
        return text[name]?.isName == true && handsOn(name)
    }

    private func handsOn(_ call: Int) -> Bool {
        let words = Self.nameParts(text.tokens[call].text)
        return !speaksOfLog(call) && !isCertainLog(call) && calledFunction(call) == nil
            && words.first.map(Self.keepingWords.contains) != true
    }

    /// Whether a file is read or moved: `moveItem(at: location`, `Data(contentsOf: location)`,
    /// `moveItemAtURL:location`, `moveItemAtPath:location.path`.
    private func usesFile(_ index: Int) -> Bool {
        let first = text.sees("[", at: index - 1) && text.isObjectiveC ? index - 1 : index
        guard text.sees(":", at: first - 1), let label = text[first - 2],
            Self.fileLabels.contains(label.text)
        else { return false }
        if text.isObjectiveC { return true }
        let open = (max(0, index - AuditLimits.headWords)..<index).last { place in
            text.tokens[place].isMark("(") && text.partners[place] > index
        }
        return open.flatMap { text[$0 - 1] }.map { Self.fileCalls.contains($0.text) } == true
    }
}
