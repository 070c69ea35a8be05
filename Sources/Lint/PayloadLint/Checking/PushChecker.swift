// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Checks documents with the settings of one folder.
struct PushChecker: Sendable {
    let validator: PushValidator
    let policy: RulePolicy
    let reader: DocumentReader
    /// The known findings, which are not reported.
    let baseline: Baseline?
    /// Whether findings have their source lines.
    let showsSource: Bool

    /// The result for one document.
    struct Result {
        var findings: [Finding] = []
        /// The repairs of the reported findings, with offsets in the text.
        var repairs: [Repair] = []
        var pushType: String?
        var isInferred = false
        /// The number of findings that a comment in the document ignores.
        var ignoredCount = 0
        /// The number of findings in the baseline.
        var knownCount = 0
        /// The number of checked pushes; a document with faults counts as one.
        var pushCount = 0
        /// Whether the document is in a format that is not read.
        var isOfUnknownFormat = false
        /// Whether the document is a page or a script without a push that can be read.
        var isText = false
        /// The lines of the blocks and commands that are about pushes and cannot be read.
        var unreadLines: [PushDocument.Unread.Reason: [Int]] = [:]
        /// The types of all pushes.
        var types = PushTypeTally.none
        /// The types that were inferred from payloads.
        var inferredTypes: [String] = []

        /// Adds the type of a push.
        mutating func note(_ type: String, isInferred: Bool) {
            types.add(type)
            pushType = types.single
            self.isInferred = self.isInferred || isInferred
            if isInferred { inferredTypes.append(type) }
        }
    }

    /// The rules about unreadable payloads, whose type cannot be inferred.
    private static let unreadable: Set<RuleID> = ["G001", "G002", "G005", "G009"]

    /// The rules that miss what a service may add to a part of a push: what is shown, or wakes.
    private static let additions: Set<RuleID> = ["AL001", "AL002", "BG013", "BG017"]

    /// The rules that ask for a key of `aps`, which a service may add to a part of a push.
    private static let requirements: Set<RuleID> = ["BG001", "LA001", "LA003", "LA004"]

    /// The rules about the type of a value, of which nothing is known where it is put in later.
    private static let types: Set<RuleID> = [
        "BG001", "BG010", "G011", "G012", "G014", "LA001", "LA002", "WG001",
    ]

    /// The rules about a member by itself, whatever is beside it.
    private static let ofMembers: Set<RuleID> = ["G011", "G012", "G014"]

    /// Checks a document of the file `text`.
    func check(_ document: PushDocument, in text: SourceText) -> Result {
        var result = Result()
        result.isOfUnknownFormat = document.isOfUnknownFormat
        result.isText = document.isText
        for unread in document.unread.sorted(by: { $0.start < $1.start }) {
            let line = text.position(of: .offset(unread.start)).line
            result.unreadLines[unread.reason, default: []].append(line)
        }
        report(document.faults, in: text, &result)
        for item in document.items { check(item, of: document.kind, in: text, &result) }
        result.findings = Self.inOrder(result.findings)
        return result
    }

    private func check(
        _ item: PushItem, of kind: InputKind, in text: SourceText, _ result: inout Result
    ) {
        var report = validator.report(on: item.draft)
        var all = report.diagnostics
        let faults = all.filter { $0.rule == "G001" }
        let readable = faults.isEmpty ? nil : readableReport(on: item.draft)
        if let readable {
            report = readable
            // Repairs would need the text as it is.
            // Its size is not that of what will be sent.
            all = faults + readable.diagnostics.filter { $0.rule != "G003" }
            for index in all.indices.dropFirst(faults.count) { all[index].repair = nil }
        }
        if item.losesQuotes {
            for index in all.indices where all[index].rule == "G001" {
                all[index].fix = "Put the body into single quotes: a shell removes the others."
            }
        }
        if item.isBesideVoIP, report.pushType != "voip" {
            for index in all.indices where all[index].rule == "H004" {
                all[index].fix = "Add apns-push-type with the type of this push."
            }
        }
        guard !item.isAddressed || !Self.isRequest(report) else { return }
        var item = item
        if !all.isEmpty, IllustratedJSON.hasKeyOfDots(item.draft.payload) {
            item.isIllustration = true
            all.removeAll { diagnostic in
                diagnostic.pointer.split(separator: "/").last.map { IllustratedJSON.isDots($0) }
                    == true
            }
        }
        if item.weightWithoutAPS == nil, report.diagnostics.contains(where: { $0.rule == "G010" }) {
            item.weightWithoutAPS = .error
        }
        // A push for the simulator has the form that another service sent.
        let diagnostics = all.filter {
            (kind != .apns || $0.rule != "G016")
                && (!item.isIllustration || $0.rule != "G006")
                && (!item.isPartial || !Self.additions.contains($0.rule))
                && (!item.isCut || Self.ofMembers.contains($0.rule))
                && (!item.isOfOtherType || $0.rule != "AL001")
                && (!Self.types.contains($0.rule) || !item.hasPlaceholder(at: $0.offset))
        }
        let isUnreadable =
            item.draft.payload.count > WakeValidator.maximumReadBytes
            || readable == nil && diagnostics.contains { Self.unreadable.contains($0.rule) }
        if !report.pushTypeIsInferred || !isUnreadable {
            result.note(
                report.pushType,
                isInferred: report.pushTypeIsInferred || item.hasTypeOfTitle)
        }
        result.pushCount += item.isTextOnly ? 0 : 1
        // Rule H019 speaks of types that need a token anyway.
        if item.lacksSignIn, let place = item.places.missingHeaders?.place,
            !diagnostics.contains(where: {
                $0.rule == "H019" && policy.severity(of: $0.rule, $0.severity) != nil
                    && !isIgnored($0, of: item, in: text)
            })
        {
            let fault = PushDocument.Fault(
                rule: "AU006", severity: .warning,
                message: "the request has neither authorization nor a certificate",
                fix: "Send a provider token in authorization.", place: place, pointer: "")
            self.report([fault], in: text, &result)
        }
        for diagnostic in withoutRepeated(diagnostics, of: item, in: text) {
            add(diagnostic, of: item, in: text, &result)
        }
    }

    /// Judges a payload that is no JSON only for comments, or for commas before a closing bracket,
    /// as if it had none. Returns `nil` for any other.
    private func readableReport(on draft: PushDraft) -> PushReport? {
        guard draft.payload.count <= WakeValidator.maximumReadBytes else { return nil }
        let text = IllustratedJSON(draft.payload)
        guard !text.isAbridged,
            let document = try? JSONScanner.scan(text.bytes), document.last("aps", of: 0) != nil
        else { return nil }
        var readable = draft
        readable.payload = text.bytes
        return validator.report(on: readable)
    }

    /// Whether an object without `aps` but with a recipient is a request to a service, because it
    /// does not look like a push of a type without `aps`.
    private static func isRequest(_ report: PushReport) -> Bool {
        report.pushTypeIsInferred && !["voip", "mdm", "fileprovider"].contains(report.pushType)
    }

    /// Removes findings at a place where a more specific rule has one, or inside of it. A finding
    /// that the settings or a comment ignore does not remove others.
    private func withoutRepeated(
        _ diagnostics: [Diagnostic], of item: PushItem, in text: SourceText
    ) -> [Diagnostic] {
        let general: [RuleID: Set<RuleID>] = [
            "AL001": ["BG013", "G010"], "BG001": ["BG010", "G010"], "BG012": ["BG001"],
            "BG014": ["H004"], "G014": ["BG017", "WG002"], "G017": ["AU010"], "VO003": ["VO008"],
            "H007": ["BG009", "VO001"], "H019": ["LO001", "AU006"], "LO001": ["AU006"],
        ]
        // Firebase sends no VoIP pushes at all, whatever else they hold.
        let ofCalls: Set<RuleID> = ["VO001", "VO003", "VO005", "VO006", "VO008", "VO009"]
        // Where a sketch of a request has no headers at all, one missing header stands for all.
        let hasNoHeaders =
            item.isInHTTPText
            && item.draft.headers.allSatisfy { $0.name.hasPrefix(":") || $0.name == "host" }
            && item.draft.opaqueHeaders.isSubset(of: ["authorization"])
        let others = Dictionary(grouping: diagnostics, by: \.rule)
        return diagnostics.filter { diagnostic in
            let isOfCall = ofCalls.contains(diagnostic.rule)
            var particular = (general[diagnostic.rule] ?? []).union(isOfCall ? ["VO016"] : [])
            if hasNoHeaders, diagnostic.rule == "H006" { particular.insert("H004") }
            return !particular.lazy.flatMap { others[$0] ?? [] }.contains { other in
                (isOfCall && other.rule == "VO016"
                    || other.pointer == diagnostic.pointer
                    || other.pointer.hasPrefix(diagnostic.pointer + "/"))
                    && policy.severity(of: other.rule, other.severity) != nil
                    && !isIgnored(other, of: item, in: text)
            }
        }
    }

    /// Whether a comment in the document ignores the rule at the line of a finding.
    private func isIgnored(
        _ diagnostic: Diagnostic, of item: PushItem, in text: SourceText
    ) -> Bool {
        let place = locate(diagnostic, by: item.places).place
        return text.ignores.cover(diagnostic.rule, line: text.position(of: place).line)
    }

    /// Sorts findings by severity, and then by their place in the file, because headers can be in
    /// any order and after the payload. The sort is stable.
    private static func inOrder(_ findings: [Finding]) -> [Finding] {
        guard findings.count > 1 else { return findings }
        return findings.enumerated().sorted { first, second in
            let (one, other) = (first.element, second.element)
            guard one.severity == other.severity else { return one.severity > other.severity }
            return (one.line, one.column, first.offset) < (other.line, other.column, second.offset)
        }.map(\.element)
    }

    /// Converts the findings about one push of a history.
    func result(_ diagnostics: [Diagnostic], of item: PushItem, in text: SourceText) -> Result {
        var result = Result()
        for diagnostic in diagnostics { add(diagnostic, of: item, in: text, &result) }
        return result
    }

    /// Leaves out the findings that the baseline has. Returns their entries.
    func leaveOutKnown(
        from result: inout Result, at path: String, isManyLines: Bool = false
    ) -> [Baseline.Entry] {
        guard let baseline, !result.findings.isEmpty else { return [] }
        let entries = baseline.entries(of: result.findings, at: path, isManyLines: isManyLines)
        let unknown = zip(result.findings, entries).filter { !baseline.knows($1) }.map(\.0)
        result.knownCount = result.findings.count - unknown.count
        result.findings = unknown
        return entries.filter(baseline.knows)
    }

    /// Adds the faults of a document, such as those that keep its payload from being read.
    func report(_ faults: [PushDocument.Fault], in text: SourceText, _ result: inout Result) {
        for fault in faults {
            let rule = fault.rule
            let position = text.position(of: fault.place)
            guard let severity = policy.severity(of: rule, fault.severity) else { continue }
            guard !text.ignores.cover(rule, line: position.line) else {
                result.ignoredCount += 1
                continue
            }
            result.findings.append(
                Finding(
                    rule: rule, severity: severity, message: fault.message, fix: fault.fix,
                    line: position.line, column: position.column, pointer: fault.pointer,
                    header: nil, source: showsSource ? text.line(at: fault.place) : nil))
        }
    }

    private func add(
        _ diagnostic: Diagnostic, of item: PushItem, in text: SourceText, _ result: inout Result
    ) {
        var diagnostic = diagnostic
        if diagnostic.rule == "LA008", diagnostic.severity == .warning,
            text.explainsDate(
                at: locate(diagnostic, by: item.places).place, isInPage: item.isInPage)
        {
            diagnostic.severity = .note
            diagnostic.fix = "Decode it by hand in the app: by default, a Date is a number there."
        }
        guard
            let severity = policy.severity(of: diagnostic.rule, weight(of: diagnostic, in: item))
        else { return }
        let (place, pointer, header) = locate(diagnostic, by: item.places)
        // The value of a shell expansion, such as `$(date +%s)`, is unknown.
        if item.isInScript, diagnostic.header == nil, text.isExpansion(at: place) { return }
        if item.isInScript, diagnostic.rule == "G011", text.isNamedByExpansion(at: place) { return }
        // Azure Notification Hubs replaces this with a number.
        if diagnostic.rule == "G014", text.has("\"#(", at: place) { return }
        let position = text.position(of: place)
        guard !text.ignores.cover(diagnostic.rule, line: position.line) else {
            result.ignoredCount += 1
            return
        }
        if let repair = diagnostic.repair.flatMap({ map($0, by: item.places) }) {
            result.repairs.append(repair)
        }
        result.findings.append(
            Finding(
                rule: diagnostic.rule, severity: severity, message: diagnostic.message,
                fix: diagnostic.fix, line: position.line, column: position.column,
                pointer: pointer, header: header,
                source: showsSource && header == nil ? text.line(at: place) : nil))
    }

    /// The severity of a finding in this push, unless the settings set another.
    private func weight(of diagnostic: Diagnostic, in item: PushItem) -> Severity {
        if isHarmless(diagnostic, in: item) { return .note }
        if diagnostic.severity == .error, isDoubtful(diagnostic, in: item) { return .warning }
        // In the data of a message, Firebase refuses it.
        if diagnostic.rule == "G016", validator.reservesDefaultKeys, !item.isPart { return .error }
        guard diagnostic.rule == "G010", let weight = item.weightWithoutAPS else {
            return diagnostic.severity
        }
        return weight
    }

    /// Whether an error may be none: a page may show the headers of one push beside the payload of
    /// another. What holds for every payload is certain.
    private func isDoubtful(_ diagnostic: Diagnostic, in item: PushItem) -> Bool {
        item.isJoined && !diagnostic.rule.rawValue.hasPrefix("G")
    }

    /// Whether a finding does not apply to how the push is sent: the reserved keys of Firebase
    /// matter only in what is sent through it, and the data of its messages is for other platforms
    /// too.
    private func isHarmless(_ diagnostic: Diagnostic, in item: PushItem) -> Bool {
        switch diagnostic.rule {
        case "G016":
            validator.reservesDefaultKeys
                && (!item.draft.isForFirebase || item.places.origins[diagnostic.pointer] == nil)
        // The service may take the key out again.
        case "G011":
            item.isPart && !item.draft.isForFirebase
                // A header is none of its keys either.
                || item.isOfOtherType && !diagnostic.pointer.hasPrefix("/aps/apns-")
        // The service may add the key.
        case _ where Self.requirements.contains(diagnostic.rule):
            item.isPartial && ["", "/aps"].contains(diagnostic.pointer)
        // What the service makes of a value of its own is not known, but all count in numbers.
        case "G014":
            item.places.origins[diagnostic.pointer] != nil && !item.draft.isForFirebase
                && diagnostic.pointer != "/aps/badge"
        // Rule G010 says that `aps` is missing.
        case "G013" where item.weightWithoutAPS != nil: true
        case "VO003" where item.hasServiceID || item.isOfOtherType: true
        // OneSignal asks for `contents` or `content_available` in a VoIP push too.
        case "VO009":
            !item.draft.payload.contains(text: "\"badge\"")
                && !item.draft.payload.contains(text: "\"sound\"")
                && ["/contents", "/content_available"].contains {
                    item.places.filePointer(diagnostic.pointer).hasSuffix($0)
                }
        case "G013":
            item.places.origins[diagnostic.pointer] != nil
                && diagnostic.pointer.lowercased().filter(\.isLetter) != "contentavailable"
        // The sender may put the time in, and the reader of a page will.
        case "LA010": item.isPartial || item.isInPage
        default: false
        }
    }

    private func locate(
        _ diagnostic: Diagnostic, by places: PlaceMap
    ) -> (place: FilePlace, pointer: String, header: String?) {
        guard let name = diagnostic.header else {
            return (
                places.place(ofOffset: diagnostic.offset), places.filePointer(diagnostic.pointer),
                nil
            )
        }
        // The last one, which is the faulty one if a header is repeated.
        if let header = places.headers.last(where: { $0.name == name.lowercased() }) {
            return (header.place, header.pointer, nil)
        }
        if let missing = places.missingHeaders { return (missing.place, missing.pointer, nil) }
        return (.offset(0), "", name)
    }

    /// The repair with offsets in the file; `nil` if it cannot be applied there.
    private func map(_ repair: Repair, by places: PlaceMap) -> Repair? {
        var edits: [Repair.Edit] = []
        for edit in repair.edits {
            guard let range = places.editableRange(edit.range) else { return nil }
            edits.append(Repair.Edit(range: range, replacement: edit.replacement))
        }
        return Repair(edits: edits, isSafe: repair.isSafe)
    }
}
