// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds reports of calls that come only after something that takes time.
extension SourceReader {
    /// Functions whose closures a report comes too late in, besides those that run later anyway.
    private static let lateCallees: Set = [
        "notify", "scheduledTimer", "addOperation", "uploadTask", "responseJSON", "responseData",
        "responseDecodable", "responseString",
    ]

    /// Reads the reports in a handler of VoIP pushes.
    mutating func readLateReports(_ scope: SourceScope, _ body: Range<Int>) {
        for index in body where Self.reports.contains(text.tokens[index].text) {
            if isLate(index, in: scope, body) {
                see(.lateReport, at: index)
            } else {
                followReport(index, body)
            }
        }
        guard !namesReport(body) else { return }
        let helpers = body.filter { reportsInHelper($0, of: scope) }
        if let first = helpers.first, helpers.allSatisfy({ isLate($0, in: scope, body) }) {
            see(.lateReport, at: first)
        } else if let report = lateReports(in: scope, depth: 0)?.first {
            see(.lateReport, at: report)
        }
    }

    /// The reports in a function, and in those that it calls, if all are late; `nil` if something
    /// may report a call at once.
    func lateReports(in function: SourceScope, depth: Int) -> [Int]? {
        guard depth < Self.handovers, case .function(let head) = function.kind else { return nil }
        let body = text.content(ofBracket: function.open)
        let parameters = Set(head.parameters.map(\.name))
        var found: [Int] = []
        for index in body where isCall(index) || runsUnseen(index) {
            if isLate(index, in: function, body) {
                let isReport = Self.reports.contains(text.tokens[index].text)
                if isReport || reportsInHelper(index, of: function) { found.append(index) }
                continue
            }
            guard isCall(index), !runsUnseen(index) else { return nil }
            if parameters.contains(text.tokens[index].text) || isKnownSilent(index, in: body) {
                continue
            }
            guard let helper = calledFunction(index),
                let late = lateReports(in: helper, depth: depth + 1)
            else { return nil }
            found += late
        }
        return found
    }

    /// Whether a call certainly reports nothing at once: of the system, or of what starts later.
    func isKnownSilent(_ index: Int, in body: Range<Int>) -> Bool {
        let name = text.tokens[index].text
        if functions[name] != nil { return false }
        if isCertainLog(index) || isOfSystem(index) { return true }
        if text.isObjectiveC, isOfFoundation(index) { return true }
        if Self.laterCallees.contains(name) || Self.lateCallees.contains(name) {
            return takesClosure(index)
        }
        if name == "resume" { return resumesRequest(index, in: body) }
        if waits(index) { return blocks(index, in: body) }
        // A type of the app's may report the call when it is made, and a log may be of calls.
        if name.first?.isUppercase == true { return Self.values.contains(name) }
        return isIdleCall(index) && !speaksOfLog(index)
    }

    /// Types of the system whose values report nothing.
    private static let values: Set = [
        "UUID", "NSUUID", "String", "Int", "Double", "Bool", "URL", "URLRequest", "Date", "Data",
        "CXCallUpdate", "CXHandle", "CXProvider", "CXProviderConfiguration", "JSONDecoder",
        "DispatchGroup", "DispatchSemaphore", "UNMutableNotificationContent",
        "UNNotificationRequest",
    ]

    /// Classes of Foundation and CallKit whose messages report no call.
    private static let silentClasses: Set = [
        "NSURL", "NSUUID", "NSURLRequest", "NSMutableURLRequest", "NSString", "NSMutableString",
        "NSDictionary", "NSMutableDictionary", "NSArray", "NSMutableArray", "NSDate", "NSNumber",
        "NSData", "NSError", "NSJSONSerialization", "NSURLComponents", "NSURLSession",
        "NSURLSessionConfiguration", "NSURLSessionTask", "NSURLSessionDataTask", "NSBundle",
        "NSLocale", "NSUserDefaults", "CXCallUpdate",
        "CXHandle",
    ]

    /// Whether a message goes to such a class, or to an object that is declared with one.
    private func isOfFoundation(_ index: Int) -> Bool {
        guard case .typed(let type)? = text.call(at: index)?.owner else { return false }
        return Self.silentClasses.contains(type)
    }

    /// Whether a call is of a type of the system that reports no call: `AVAudioSession.…`.
    private func isOfSystem(_ index: Int) -> Bool {
        var owner = index
        while text.sees(".", at: owner - 1) {
            owner -= 2
            if text.sees(")", at: owner), text.partners[owner] > 0 {
                owner = text.partners[owner] - 1
            }
            if text[owner]?.text == "delegate" { return false }
        }
        guard owner < index, let name = text[owner]?.text else { return false }
        return [
            "AVAudioSession", "UIDevice", "UIApplication", "URLSession", "DispatchTime",
            "DispatchWallTime", "Task", "JSONSerialization", "NSJSONSerialization", "JSONDecoder",
        ].contains(name)
    }

    /// Whether a call gets a closure, or the name of one.
    private func takesClosure(_ index: Int) -> Bool {
        if text.sees("{", at: index + 1) { return true }
        guard text.sees("(", at: index + 1) else { return text.isObjectiveC }
        return text.sees("{", at: text.partners[index + 1] + 1)
            || text.content(ofBracket: index + 1).contains {
                text.tokens[$0].isMark("{") || text.tokens[$0].isName("completionHandler")
            }
    }

    /// Whether a call starts a request that the function makes.
    private func resumesRequest(_ index: Int, in body: Range<Int>) -> Bool {
        if text.isObjectiveC {
            return text.sees("]", at: index - 1) && text.partners[index - 1] >= 0
                && isRequest(text.partners[index - 1], before: index)
        }
        let requests: Set = ["dataTask", "downloadTask", "uploadTask"]
        var owner = index - 2
        while text.sees(")", at: owner) || text.sees("}", at: owner), text.partners[owner] > 0 {
            owner = text.partners[owner] - 1
        }
        guard let name = text[owner], name.isName, owner < index else { return false }
        return requests.contains(name.text)
            || text.places(of: name.text).contains { place in
                body.contains(place) && text.sees("let", at: place - 1)
                    && (place..<text.statementEnd(place, body)).contains {
                        requests.contains(text.tokens[$0].text)
                    }
            }
    }

    /// Whether a token calls a function of this file that reports the call.
    private func reportsInHelper(_ index: Int, of scope: SourceScope) -> Bool {
        guard isCall(index), let helper = calledFunction(index), helper.open != scope.open else {
            return false
        }
        return namesReport(text.content(ofBracket: helper.open))
    }

    /// Follows the closures around a report into the functions that get them.
    private mutating func followReport(_ report: Int, _ body: Range<Int>) {
        guard let site = text.calls(around: report, in: body).last,
            !Self.laterCallees.contains(text.tokens[site.name].text)
        else { return }
        let handover = handover(
            site, [report], .lateReport, .report(text.place(of: report)))
        if functions[handover.function] == nil {
            noteHandover(handover)
        } else if let (helper, names) = receiver(of: handover, inSameFile: true) {
            seeLateReport(text.place(of: report), behind: names, in: helper, depth: 0)
        }
    }

    /// Sees a report that is late if a function runs the closure under these names only later, or
    /// only after a pause or a request.
    mutating func seeLateReport(
        _ place: AppPlace, behind names: Set<String>, in helper: SourceScope, depth: Int,
        afterWait: Bool = false
    ) {
        // What gets the closure may report the call itself.
        guard depth < Self.handovers, !holdsReport(helper) else { return }
        let body = text.content(ofBracket: helper.open)
        let uses = body.filter {
            text.tokens[$0].isName && names.contains(text.tokens[$0].text) && !text.isLabel($0)
                && !text.sees(".", at: $0 - 1)
        }
        guard !uses.isEmpty else { return }
        var handedOn: CallSite?
        for use in uses {
            let isLate =
                afterWait ? isBehindWait(use, in: helper, body) : isLate(use, in: helper, body)
            if isLate { continue }
            guard let site = text.calls(around: use, in: body).last,
                handedOn.map({ $0.name == site.name }) ?? true
            else { return }
            if Self.laterCallees.contains(text.tokens[site.name].text) {
                if afterWait { return }
                continue
            }
            handedOn = site
        }
        guard let site = handedOn else {
            digest.entries.append(
                SourceDigest.Entry(observation: SourceObservation(.lateReport, at: place)))
            return
        }
        let handover = handover(
            site, uses, .lateReport, afterWait ? .answer(place) : .report(place))
        if functions[handover.function] == nil {
            noteHandover(handover)
        } else if let (next, names) = receiver(of: handover, inSameFile: true),
            next.open != helper.open
        {
            seeLateReport(
                place, behind: names, in: next, depth: depth + 1, afterWait: afterWait)
        }
    }

    /// Whether a token in a function runs only after a wait, or in a closure that runs later.
    private func isLate(_ index: Int, in function: SourceScope, _ body: Range<Int>) -> Bool {
        for scope in text.scopes(around: index) {
            if scope.open == function.open { break }
            guard case .closure(let callee) = scope.kind else { continue }
            // LiveCommunicationKit has only a function that has to be waited for.
            let mustWait =
                callee == "Task" && text.tokens[index].isName("reportNewIncomingConversation")
            if let callee, functions[callee] == nil, !mustWait,
                Self.laterCallees.contains(callee) || Self.lateCallees.contains(callee)
            {
                return true
            }
            if runsLater(blockAt: scope.open) { return true }
        }
        let around = Set(text.scopes(around: index).map(\.open))
        return follows(index, in: body) { word in
            // A wait of another branch is not before it.
            (text.tokens[word].isName("await") || blocks(word, in: body))
                && text.scopes(around: word).first(where: { _ in true }).map {
                    around.contains($0.open)
                } == true
        }
    }

    /// Whether a call blocks the thread until something else is done: a pause, or the wait for a
    /// semaphore that starts at zero, or for a group.
    private func blocks(_ index: Int, in body: Range<Int>) -> Bool {
        guard isCall(index) else { return false }
        let name: String?
        switch text.tokens[index].text {
        case "sleep", "usleep", "nanosleep", "sleepForTimeInterval", "sleepUntilDate":
            return !text.sees(".", at: index - 1) || text.sees("Thread", ".", at: index - 2)
        case "wait":
            // A wait until now only looks.
            let looks = text.sees("(", "timeout", ":", ".", "now", "(", ")", ")", at: index + 1)
            name = text.sees(".", at: index - 1) && !looks ? text[index - 2]?.text : nil
        case "dispatch_semaphore_wait", "dispatch_group_wait": name = text[index + 2]?.text
        default: return false
        }
        guard let name else { return false }
        return (body.lowerBound..<index).contains { word in
            guard text.sees(name, "=", at: word) else { return false }
            if text.sees("DispatchGroup", at: word + 2) { return true }
            if text.sees("dispatch_group_create", at: word + 2) { return true }
            return text.sees("DispatchSemaphore", "(", "value", ":", at: word + 2)
                && text[word + 6]?.text == "0"
                || text.sees("dispatch_semaphore_create", "(", at: word + 2)
                    && text[word + 4]?.text == "0"
        }
    }

    /// Whether an Objective-C block is passed to a function that runs it later: `dispatch_after(…,
    /// ^{`, `[session dataTaskWithURL:url completionHandler:^(…) {`.
    private func runsLater(blockAt open: Int) -> Bool {
        let first = max(0, open - AuditLimits.headWords)
        guard text.isObjectiveC,
            let bracket = (first..<open).last(where: { text.partners[$0] > open }), bracket > 0
        else { return false }
        if text.sees("(", at: bracket) {
            return ["dispatch_async", "dispatch_after"].contains(text.tokens[bracket - 1].text)
        }
        return isRequest(bracket, before: open)
    }

    /// Whether a bracket is that of an Objective-C message which starts a request, whose block is
    /// behind it: `[session dataTaskWithURL:url completionHandler:^`.
    func isRequest(_ bracket: Int, before block: Int) -> Bool {
        text.sees("[", at: bracket)
            && text.tokens[bracket..<block].contains { token in
                ["dataTaskWith", "downloadTaskWith", "uploadTaskWith"].contains {
                    token.text.hasPrefix($0)
                }
            }
    }
}
