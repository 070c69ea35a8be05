// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds paths through handlers of VoIP pushes on which the call can be reported only after a pause
/// or a request, though others report it at once.
extension SourceReader {
    /// The first report that a path of a handler leaves to what comes after a pause or a request.
    /// Whatever may report the call in some other way counts as a report at once.
    func lateReportOnPath(of handler: SourceScope) -> Int? {
        guard let (reports, strictness) = reports(onPathsOf: handler) else { return nil }
        let body = text.content(ofBracket: handler.open)
        // What may not report at all is no late report.
        let late = reports.filter { reportsCall($0) && isBehindWait($0, in: handler, body) }
        return isPath(of: handler, leftTo: late, strictness) ? late.min() : nil
    }

    /// Follows the functions to which a path of a handler leaves its report, in a closure that they
    /// may run only after a pause or a request.
    mutating func followLatePaths(of handler: SourceScope) {
        guard let (reports, strictness) = reports(onPathsOf: handler) else { return }
        let body = text.content(ofBracket: handler.open)
        var sites: [Int: (site: CallSite, reports: Set<Int>)] = [:]
        for report in reports where reportsCall(report) {
            guard let site = text.calls(around: report, in: body).last,
                !Self.laterCallees.contains(text.tokens[site.name].text),
                text.scopes(around: report).contains(where: { scope in
                    guard case .closure = scope.kind else { return false }
                    return site.arguments.contains { $0.range.contains(scope.open) }
                })
            else { continue }
            sites[site.name, default: (site, [])].reports.insert(report)
        }
        for (name, found) in sites.sorted(by: { $0.key < $1.key }).prefix(Self.handovers) {
            guard let first = found.reports.min(), !reportsCall(name),
                isPath(of: handler, leftTo: found.reports, behind: found.site, strictness)
            else { continue }
            let place = text.place(of: first)
            let handover = handover(
                found.site, Array(found.reports), .lateReport, .answer(place))
            if functions[handover.function] == nil {
                noteHandover(handover)
            } else if let (helper, names) = receiver(of: handover, inSameFile: true) {
                seeLateReport(place, behind: names, in: helper, depth: 0, afterWait: true)
            }
        }
    }

    /// What may report the call in a handler, and how its paths are followed.
    private func reports(
        onPathsOf handler: SourceScope
    ) -> (Set<Int>, CompletionPaths.Strictness)? {
        guard case .function(let head) = handler.kind, Self.isVoIPHandler(head) else { return nil }
        let body = text.content(ofBracket: handler.open)
        var strictness = Self.voipStrictness
        strictness.startsAnew = true
        strictness.countsEnd = true
        strictness.inputNames = inputNames(head, body)
        strictness.exemptNames.formUnion(
            head.parameters.filter { $0.label == "for" || $0.label == "forType" }.map(\.name)
        )
        let reports = possibleReports(in: body, strictness.inputNames, head)
        // Each is looked for in all of the handler.
        return reports.count <= AuditLimits.headWords ? (reports, strictness) : nil
    }

    /// Whether a path of a handler leaves its report to some that are late, all of them in the
    /// closures that a call gets if there is one.
    private func isPath(
        of handler: SourceScope, leftTo late: Set<Int>, behind site: CallSite? = nil,
        _ strictness: CompletionPaths.Strictness
    ) -> Bool {
        guard !late.isEmpty else { return false }
        let body = text.content(ofBracket: handler.open)
        let closures = site.map { site in
            site.arguments.map(\.range).filter { $0.contains { late.contains($0) } }
        }
        var prompt: Set<Int> = []
        for index in body
        where !late.contains(index) && index != site?.name
            && closures?.contains(where: { $0.contains(index) }) != true
            && mayReportNow(index, in: handler, body, depth: 0)
        {
            // Paths are followed by names.
            prompt.insert((body.lowerBound...index).last { text.tokens[$0].isName } ?? index)
        }
        let gaps = CompletionPaths(text, body: handler, strictness, settles: prompt.contains).gaps
        guard !gaps.isEmpty else { return false }
        // What is no path without a report is one whose report is late.
        let all = CompletionPaths(text, body: handler, strictness) {
            prompt.contains($0) || late.contains($0)
        }
        return gaps.contains { !all.gaps.contains($0) }
    }

    /// Whether a token of a handler, or of a function that it calls, may report a call when the
    /// handler comes to it.
    private func mayReportNow(
        _ index: Int, in function: SourceScope, _ body: Range<Int>, depth: Int
    ) -> Bool {
        if runsUnseen(index) || text.tokens[index].isName("super") { return true }
        if setsElsewhere(index, in: body) { return true }
        guard isCall(index), case .function(let head) = function.kind,
            !head.parameters.contains(where: { $0.name == text.tokens[index].text })
        else { return false }
        // Observers run at once.
        if postsNotification(index) { return true }
        // A further part of a message.
        if text.isObjectiveC, !text.sees("(", at: index + 1), text.call(at: index) == nil {
            return false
        }
        if isBehindWait(index, in: function, body) || makesTestedValue(index) { return false }
        guard let called = calledFunction(index) else { return !isSilentCall(index, in: body) }
        guard called.open != function.open, depth < Self.handovers else { return true }
        let own = text.content(ofBracket: called.open)
        return own.contains { mayReportNow($0, in: called, own, depth: depth + 1) }
    }

    /// Whether an equals sign sets a property of an object that the function does not make.
    private func setsElsewhere(_ equals: Int, in body: Range<Int>) -> Bool {
        guard text.tokens[equals].isMark("=") else { return false }
        if text.isObjectiveC { return setsForeignProperty(equals) }
        guard text.sees(".", at: equals - 2), let owner = text[equals - 3] else { return false }
        if owner.isName("self"), !text.sees(".", at: equals - 4) { return false }
        return !text.places(of: owner.text, in: body).contains {
            text.sees("let", at: $0 - 1) || text.sees("var", at: $0 - 1)
        }
    }

    /// Whether a call makes a value that may be none: `guard let call = Call(payload) else {`.
    private func makesTestedValue(_ index: Int) -> Bool {
        guard text.tokens[index].text.first?.isUppercase == true, text.sees("=", at: index - 1)
        else { return false }
        return text.sees("let", at: index - 3)
            && ["guard", "if", ","].contains { text.sees($0, at: index - 4) }
    }

    /// Whether a token in a handler runs only after a pause of a second or more, or a request.
    func isBehindWait(
        _ index: Int, in handler: SourceScope, _ body: Range<Int>
    ) -> Bool {
        for scope in text.scopes(around: index) {
            if scope.open == handler.open { break }
            guard case .closure(let callee) = scope.kind else { continue }
            if isPause(scope) || isAnswer(scope, of: callee) { return true }
        }
        guard text.places(of: "await", in: body).contains(where: awaitsTime) else { return false }
        let around = Set(text.scopes(around: index).map(\.open))
        return follows(index, in: body) { word in
            awaitsTime(word)
                && text.scopes(around: word).first(where: { _ in true }).map {
                    around.contains($0.open)
                } == true
        }
    }

    /// Whether a closure gets the answer to a request of the system's.
    private func isAnswer(_ closure: SourceScope, of callee: String?) -> Bool {
        if text.isObjectiveC {
            return bracket(around: closure).map { isRequest($0, before: closure.open) } == true
        }
        guard let callee, functions[callee] == nil else { return false }
        return ["dataTask", "downloadTask", "uploadTask"].contains(callee)
    }

    /// Whether a token awaits a request or a pause of the system's: `try await
    /// URLSession.shared.data(from: url)`, `try await Task.sleep(for: .seconds(2))`.
    private func awaitsTime(_ index: Int) -> Bool {
        guard text.tokens[index].isName("await") else { return false }
        if text.sees("Task", ".", "sleep", "(", at: index + 1) {
            return tellsSleep(text.content(ofBracket: index + 4))
        }
        guard text.sees("URLSession", ".", "shared", ".", at: index + 1) else { return false }
        return ["data", "download", "upload"].contains { text.sees($0, "(", at: index + 5) }
    }

    /// Whether the arguments of `Task.sleep` are a second or more.
    private func tellsSleep(_ arguments: Range<Int>) -> Bool {
        let words = arguments.filter { text.tokens[$0].kind == .number }
        guard words.count == 1, let word = words.first,
            let number = Double(text.tokens[word].text.filter { $0 != "_" })
        else { return false }
        if text.sees("nanoseconds", ":", at: arguments.lowerBound) { return number >= 1e9 }
        return text.sees("for", ":", ".", "seconds", "(", at: arguments.lowerBound) && number >= 1
    }
}
