// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds paths through handlers of VoIP pushes without a report, or without completion.
extension SourceReader {
    /// Finds paths without a report of a call, and paths without a call of the completion handler.
    mutating func readVoIPPaths(
        _ head: SourceScope.FunctionHead, _ scope: SourceScope, _ body: Range<Int>,
        completion: String?
    ) {
        var strictness = Self.voipStrictness
        strictness.startsAnew = true
        strictness.inputNames = inputNames(head, body)
        // The type of the push, unless a value of the payload has the same name.
        let type = head.parameters.first { $0.label == "for" || $0.label == "forType" }
        if let type, type.name != "_", !strictness.inputNames.contains(type.name) {
            strictness.exemptNames.insert(type.name)
        }
        let reports = possibleReports(in: body, strictness.inputNames, head)
        let noted = digest.handovers.count
        var pathWithoutReport: Int?
        var gaps: [Int] = []
        if reports.isEmpty {
            let isEmpty =
                completion == nil && !head.isAsync
                && body.allSatisfy { ["return", ";"].contains(text.tokens[$0].text) }
            if isEmpty {
                see(.emptyVoIPHandler, at: scope.head)
            } else if !mayReportUnseen(in: body, strictness.inputNames) {
                see(.voipHandlerWithoutReport, at: scope.head)
            }
        } else {
            gaps =
                CompletionPaths(
                    text, body: scope, strictness, settles: reports.contains
                ).gaps
            pathWithoutReport =
                gaps.min() ?? reportGap(inHelpersOf: scope, reports, strictness, depth: 0)
                ?? completionWithoutReport(completion, in: body, reports, strictness)
            if pathWithoutReport == nil {
                noteReports(of: scope, reports, strictness)
            } else {
                quietly { $0.noteReports(of: scope, reports, strictness) }
            }
        }
        let pushes = Set(digest.handovers[noted...].filter { $0.kind == .push })
        let open = openRules(
            of: scope, reports, strictness, pushes: pushes, isTold: pathWithoutReport != nil)
        let isCompleted = readVoIPCompletion(
            completion, scope, reports, strictness, pathWithoutReport, open)
        if let pathWithoutReport {
            see(
                .fault(isCompleted ? .voipPathWithoutReport : .voipPathWithoutEither),
                atFirstOf: gaps.isEmpty ? [pathWithoutReport] : gaps)
        }
    }

    /// Finds paths without a call of the completion handler. Returns whether the path without a
    /// report need not be told of as one without completion too.
    private mutating func readVoIPCompletion(
        _ completion: String?, _ scope: SourceScope, _ reports: Set<Int>,
        _ strictness: CompletionPaths.Strictness, _ pathWithoutReport: Int?,
        _ open: (rules: Set<RuleID>, handovers: [Handover: Set<RuleID>])
    ) -> Bool {
        guard let completion else {
            noteOpenHandler(scope, of: .voip, open, completion: nil, since: 0)
            return true
        }
        guard completion != "_" else {
            see(.fault(.voipPathWithoutCompletion), at: scope.head)
            return true
        }
        var strictness = strictness
        strictness.countsEnd = true
        strictness.entersClosures = true
        strictness.countsAttempts = false
        let isCall = { [text] (index: Int) in
            text.tokens[index].isName(completion) && !text.isLabel(index)
        }
        let subject = SourceObservation.Subject.fault(.voipPathWithoutCompletion)
        let gaps = CompletionPaths(text, body: scope, strictness, settles: isCall).gaps
        let isSaid =
            pathWithoutReport.map { !completes(at: $0, isCall) } == true
            && reports.allSatisfy { alwaysCompletes(around: $0, isCall) }
        let ownGaps = isSaid ? [] : gaps
        var isCompleted = !isSaid || gaps.isEmpty
        let noted = digest.handovers.count
        let inHelper =
            ownGaps.isEmpty ? gapInHelper(of: scope, completion, subject, strictness) : nil
        let places = inHelper.map { [$0] } ?? ownGaps
        if !places.isEmpty {
            if !ownGaps.isEmpty {
                quietly { _ = $0.gapInHelper(of: scope, completion, subject, strictness) }
            }
            see(subject, atFirstOf: places)
            noteOpenHandler(
                scope, of: .voip, open, completion: completion, since: noted, isTold: true)
            isCompleted = true
        } else {
            noteOpenHandler(
                scope, of: .voip, open, completion: isSaid ? nil : completion, since: noted)
        }
        readRepeatedCompletion(completion, in: scope)
        return isCompleted
    }

    /// Whether a path that ends at a token calls the completion handler in its last block.
    private func completes(at gap: Int, _ isCall: (Int) -> Bool) -> Bool {
        block(at: gap).map { text.content(ofBracket: $0.open).contains(where: isCall) } == true
    }

    /// Whether each path through the block around a report calls the completion handler, so that
    /// the paths without the call are paths without a report, which are told of.
    private func alwaysCompletes(around report: Int, _ isCall: @escaping (Int) -> Bool) -> Bool {
        guard let block = text.scopes(around: report).first(where: { _ in true }),
            case .control = block.kind
        else { return false }
        return CompletionPaths(text, body: block, settles: isCall).gaps.isEmpty
    }

    /// The first path without a report in a function that gets a push from another file, under
    /// these names.
    func reportGap(in helper: SourceScope, _ names: Set<String>) -> Int? {
        let body = text.content(ofBracket: helper.open)
        // A function that gets the whole push is read where it is.
        guard case .function(let head) = helper.kind, holdsReport(body),
            !head.parameters.contains(where: { $0.types == ["PKPushPayload"] })
        else { return nil }
        var strictness = Self.voipStrictness
        strictness.inputNames = inputNames(head, body).union(names)
        // The caller knows which way it goes: `process(push, reportsCall: true)`.
        strictness.exemptNames.formUnion(
            head.parameters.filter { $0.types == ["Bool"] || $0.types == ["BOOL"] }.map(\.name)
                .filter { !names.contains($0) })
        let reports = possibleReports(in: body, strictness.inputNames, head)
        return CompletionPaths(text, body: helper, strictness, settles: reports.contains).gaps.min()
            ?? reportGap(inHelpersOf: helper, reports, strictness, depth: 1)
    }

    /// How strictly the paths of a handler of VoIP pushes to a report are followed.
    static var voipStrictness: CompletionPaths.Strictness {
        var strictness = CompletionPaths.Strictness(
            countsEnd: false, entersClosures: false,
            exemptNames: ["voIP", "PKPushTypeVoIP", "mustReport"])
        strictness.countsAttempts = true
        return strictness
    }

    /// The first path without a report in a function of this file that reports the call for the
    /// handler.
    func reportGap(
        inHelpersOf scope: SourceScope, _ reports: Set<Int>,
        _ strictness: CompletionPaths.Strictness, depth: Int
    ) -> Int? {
        guard depth < 3 else { return nil }
        var firm = reports
        var first: Int?
        for index in reports.sorted() where !Self.reports.contains(text.tokens[index].text) {
            guard let helper = calledFunction(index) ?? olderHandler(calledAt: index),
                helper.open != scope.open,
                case .function(let head) = helper.kind
            else { continue }
            // What says that it reported nothing leaves it to what follows.
            if text.call(at: index).map(text.usesValue) == true,
                reports.contains(where: { $0 > index })
            {
                continue
            }
            // What gets the push alone has to hand it on.
            guard !text.content(ofBracket: helper.open).contains(index),
                holdsReport(helper)
                    || reports.count == 1 && Self.takesPushAlone(head)
            else { continue }
            guard let gap = reportGap(behind: helper, head, strictness, depth: depth) else {
                continue
            }
            firm.remove(index)
            first = first ?? gap
        }
        guard let first else { return nil }
        var whole = strictness
        whole.countsEnd = true
        let gaps = CompletionPaths(text, body: scope, whole, settles: firm.contains).gaps
        return gaps.isEmpty ? nil : first
    }
}
