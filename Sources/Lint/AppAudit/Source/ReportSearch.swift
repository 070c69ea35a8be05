// SPDX-License-Identifier: Apache-2.0

/// What a handler of VoIP pushes calls or posts, without a report that its own file shows.
struct ReportQuestion: Hashable, Sendable {
    /// The functions that get called.
    var functions: Set<String> = []
    /// The names of posted notifications: those of constants, and texts after a quotation mark.
    var notifications: Set<String> = []
    /// Whether something else runs too, that the text does not show.
    var isOpen = false

    mutating func formUnion(_ other: ReportQuestion) {
        functions.formUnion(other.functions)
        notifications.formUnion(other.notifications)
        isOpen = isOpen || other.isOpen
    }
}

/// Asks whether functions and the observers of notifications may report a call, by their names in
/// all files of a target.
struct ReportSearch {
    private let files: [String]
    private let index: SourceIndex
    /// Whether no code of other modules, which may observe a notification by its text, is unread.
    private let isComplete: Bool

    /// The longest chain of functions and notifications that is followed.
    private static let chainLength = 6

    init(files: [String], _ index: SourceIndex, isComplete: Bool) {
        self.files = files
        self.index = index
        self.isComplete = isComplete
    }

    /// Whether a call may be reported; `true` if that is not known.
    func mayReport(_ question: ReportQuestion) -> Bool {
        var pending = question
        var seen = ReportQuestion()
        for _ in 0..<Self.chainLength {
            guard !pending.isOpen, !pending.functions.contains(where: SourceReader.mayReportCall)
            else { return true }
            if pending.functions.isEmpty, pending.notifications.isEmpty { return false }
            seen.formUnion(pending)
            guard var next = answer(to: pending) else { return true }
            next.functions.subtract(seen.functions)
            next.notifications.subtract(seen.notifications)
            pending = next
        }
        return true
    }

    /// What the functions, and the observers of the notifications, call and post; `nil` if it is
    /// not known.
    private func answer(to question: ReportQuestion) -> ReportQuestion? {
        var next = ReportQuestion()
        var missing = question.functions
        var undeclared = question.notifications
        let functions = index.words(question.functions)
        let notifications = index.words(
            question.notifications.isEmpty ? [] : Self.notificationWords)
        for path in files {
            guard let variables = index.words(functions, .variable, in: path),
                let declared = index.words(functions, .function, in: path),
                let named = index.words(notifications, .named, in: path)
            else { return nil }
            if !missing.isEmpty, !variables.isEmpty { return nil }
            let mentions = !named.isEmpty
            guard mentions || !declared.isEmpty else { continue }
            guard let bytes = try? index.text(of: path), bytes.count <= AuditLimits.sourceBytes
            else { return nil }
            let reader = SourceReader(SourceText(bytes, path: path))
            for name in question.functions {
                for scope in reader.text.functions[name] ?? [] {
                    missing.remove(name)
                    next.formUnion(reader.question(in: reader.text.content(ofBracket: scope.open)))
                }
            }
            guard mentions else { continue }
            for index in reader.text.tokens.indices {
                guard let name = reader.notificationPart(index),
                    question.notifications.contains(name)
                else { continue }
                guard let found = reader.observers(ofNotificationAt: index) else { return nil }
                let isText = !reader.text.tokens[index].isName
                if found.isDeclared || isText && isComplete { undeclared.remove(name) }
                next.formUnion(found.question)
            }
        }
        // Another module may declare it, and observe the notification.
        guard undeclared.isEmpty else { return nil }
        return missing.allSatisfy(SourceReader.systemFunctions.contains) ? next : nil
    }

    /// The words in the text of what declares or observes notifications.
    private static let notificationWords: Set = [
        "Notification", "NSNotification", "NotificationCenter", "NSNotificationCenter", "NSString",
        "Name",
    ]
}

extension SourceReader {
    /// Whether a function reports a call, or sends something to whoever listens, by its name.
    static func mayReportCall(_ name: String) -> Bool {
        reports.contains(name) || speaksOfReport(name)
            || ["send", "yield", "onNext", "accept", "emit", "resume", "perform"].contains(name)
    }

    /// Functions of the system that only change a collection or the screen.
    static let systemFunctions: Set = [
        "append", "insert", "removeAll", "removeFirst", "removeLast", "updateValue", "addObject",
        "reloadData", "performSegue", "pushViewController", "popViewController",
        "popToRootViewController", "dismiss", "present", "setNeedsDisplay", "setNeedsLayout",
        "layoutIfNeeded", "instantiateViewController", "addSubview", "beginUpdates", "endUpdates",
        "sorted", "sort", "enumerated", "reversed", "isEmpty", "endRefreshing", "stopAnimating",
        "startAnimating", "synchronize", "removeObserver", "dictionary",
        "addObserver", "addObserverForName", "publisher", "notifications", "onReceive", "sink",
        "store", "receive", "removeDuplicates", "eraseToAnyPublisher",
    ]

    /// What the calls in some tokens may do.
    func question(in words: some Sequence<Int>) -> ReportQuestion {
        let words = Array(words)
        var question = ReportQuestion()
        for index in words where text.tokens[index].isName {
            if text.sees("(", at: index + 1), case .directive? = text[index - 1]?.kind { continue }
            guard isCall(index) else { continue }
            if postsNotification(index) {
                question.formUnion(notification(postedAt: index))
                continue
            }
            let isFirst =
                !text.isObjectiveC || text.call(at: index)?.name == index
                || text.sees("(", at: index + 1)
            guard isFirst, Self.reports.contains(text.tokens[index].text) || !isIdleCall(index)
            else { continue }
            question.functions.insert(text.tokens[index].text)
        }
        question.functions.formUnion(selectors(in: words))
        return question
    }

    /// The functions that selectors name: `#selector(show(_:))`, `@selector(show:)`.
    private func selectors(in words: [Int]) -> Set<String> {
        var names: Set<String> = []
        for index in words where text.tokens[index].text == "selector" {
            guard text.sees("(", at: index + 1) else { continue }
            var last: String?
            for word in text.content(ofBracket: index + 1) {
                guard text.tokens[word].isName else {
                    if text.tokens[word].isMark(".") { continue }
                    break
                }
                last = text.tokens[word].text
            }
            if let last { names.insert(last) }
        }
        return names
    }

    /// The name of the notification that a call posts.
    private func notification(postedAt index: Int) -> ReportQuestion {
        let colon =
            text.isObjectiveC
            ? index + 1 : text.sees("(", "name", ":", at: index + 1) ? index + 3 : -1
        guard text.sees(":", at: colon), colon > 0,
            let name = notificationName(colon + 1..<text.tokens.count)
        else { return ReportQuestion(isOpen: true) }
        return ReportQuestion(notifications: [name])
    }

    /// The name of a notification at the start of some tokens: the last one of
    /// `Notification.Name.push`, the text of `Notification.Name("push")`.
    private func notificationName(_ words: Range<Int>) -> String? {
        var last: String?
        for index in words {
            let token = text.tokens[index]
            if case .string = token.kind { return notificationPart(index) }
            let isPart =
                token.isName || token.isMark(".") || token.isMark("(")
                || token.isMark("@") || token.isMark(":")
            guard isPart else { break }
            if text.isObjectiveC, token.isName, last != nil { break }
            if token.isName, !["init", "rawValue"].contains(token.text) { last = token.text }
        }
        guard let last, !["Name", "Notification"].contains(last) else { return nil }
        return last
    }

    /// The name of a constant, or a text after a quotation mark.
    fileprivate func notificationPart(_ index: Int) -> String? {
        switch text.tokens[index].kind {
        case .name: text.tokens[index].text
        case .string(isInterpolated: false): "\"" + text.tokens[index].text
        default: nil
        }
    }

    /// What observes a notification whose name is mentioned at a token, and whether its name is
    /// declared there; `nil` if that is not known.
    fileprivate func observers(
        ofNotificationAt index: Int
    ) -> (question: ReportQuestion, isDeclared: Bool)? {
        var question = ReportQuestion()
        if let name = declaredNotification(at: index) {
            if name != index { question.notifications.insert(text.tokens[name].text) }
            // The text of the name may be used as well.
            let line = text.tokens[name].position.line
            for word in (name + 1..<text.tokens.count).prefix(AuditLimits.headWords)
            where text.tokens[word].position.line == line {
                if case .string = text.tokens[word].kind, let value = notificationPart(word) {
                    question.notifications.insert(value)
                }
            }
            return (question, true)
        }
        if text[index - 1]?.isName("func") == true || text.isLabel(index) {
            return (question, false)
        }
        var observes = false
        for open in (0..<index).reversed().prefix(AuditLimits.headWords)
        where text.partners[open] > index && !text.tokens[open].isMark("{") {
            let name =
                text.isObjectiveC && text.tokens[open].isMark("[")
                ? text.call(inBracket: open).map { text.tokens[$0.name].text }
                : text[open - 1]?.text
            switch name {
            case "post", "postNotificationName", "postNotification", "removeObserver":
                return (question, false)
            // `onReceive(center.publisher(for: .push)) { … }` has one in the other.
            case "addObserver", "addObserverForName", "publisher", "notifications", "onReceive":
                observes = true
                let words = open..<observationEnd(open)
                question.formUnion(self.question(in: words))
                // `sink(receiveValue: show)`
                for word in words
                where text.tokens[word].isName && functions[text.tokens[word].text] != nil {
                    question.functions.insert(text.tokens[word].text)
                }
            default: continue
            }
        }
        return observes ? (question, false) : nil
    }

    /// The end of the calls and blocks that follow an observation in its statement.
    private func observationEnd(_ open: Int) -> Int {
        var end = text.partners[open] + 1
        while let token = text[end] {
            let isPart =
                token.isMark(".") || token.isMark("{") || token.isMark("(")
                || text.sees(".", at: end - 1)
                // `{ … } receiveValue: { … }`
                || text.sees("}", at: end - 1) && text.sees(":", "{", at: end + 1)
                || text.sees(":", "{", at: end)
            guard isPart else { break }
            end = text.skipBracket(end, 0..<text.tokens.count)
        }
        return end
    }

    /// The name in the declaration of a notification that a token is part of: `static let push =
    /// Notification.Name("push")`, `NSString *const Push = @"push";`.
    private func declaredNotification(at index: Int) -> Int? {
        let isDeclared = { [text] (name: Int) in
            text[name - 1]?.isName("let") == true || text[name - 1]?.isName("var") == true
                || text.isObjectiveC
                    && (text[name - 1]?.isName("const") == true
                        || text[name - 1]?.isName("NSNotificationName") == true
                        || text.sees("NSString", "*", at: name - 2))
        }
        if text.tokens[index].isName { return isDeclared(index) ? index : nil }
        let line = text.tokens[index].position.line
        let words = (0..<index).suffix(24).filter { text.tokens[$0].position.line == line }
        return words.first { text.tokens[$0].isName && isDeclared($0) }
    }
}
