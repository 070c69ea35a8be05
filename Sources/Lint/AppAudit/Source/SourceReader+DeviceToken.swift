// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads uses of device tokens.
extension SourceReader {
    /// Whether a name or a text means a push token, not an authentication token.
    static func namesDeviceToken(_ name: String) -> Bool {
        guard name.utf8.count > 8, name.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "k") })
        else { return false }
        let name = name.lowercased()
        return name.hasLetters("token")
            && ["device", "push", "apns", "voip"].contains(where: name.hasLetters)
    }

    /// The parameters that are tokens as data, and those whose `token` is one: other names are
    /// none, whatever is done with them.
    var tokenParameters: (data: Set<String>, credentials: Set<String>) {
        var found: (data: Set<String>, credentials: Set<String>) = ([], [])
        for scope in text.scopes {
            guard case .function(let head) = scope.kind else { continue }
            for parameter in head.parameters {
                if parameter.label == Self.tokenLabel || Self.takesDeviceToken(head, parameter) {
                    found.data.insert(parameter.name)
                }
                if parameter.types == ["PKPushCredentials"] {
                    found.credentials.insert(parameter.name)
                }
            }
        }
        return found
    }

    /// The label of the parameter in which the system hands an app delegate its token.
    private static let tokenLabel = "didRegisterForRemoteNotificationsWithDeviceToken"

    /// Reads the token that an app delegate hands on: `Messaging.messaging().apnsToken = token`.
    mutating func readTokenForFirebase(_ index: Int) {
        let isSet =
            text.sees("=", at: index + 1)
            || text.tokens[index].isName("setAPNSToken") && isCall(index)
        let owners: Set = ["Messaging", "FIRMessaging"]
        guard isSet, text.tokens[..<index].suffix(6).contains(where: { owners.contains($0.text) }),
            case .function(let head)? = outerFunction(of: index)?.kind,
            head.name == "application", head.has(Self.tokenLabel)
        else { return }
        see(.tokenForFirebase, at: index)
    }

    mutating func readDeviceToken(_ name: String, _ index: Int) {
        switch name {
        case "UserDefaults", "AppStorage": readStorage(name, index)
        case "NSUserDefaults": readObjectiveCStorage(index)
        case "describing" where text.sees(":", at: index + 1):
            let last = text.sees(".", "token", at: index + 3) ? index + 4 : index + 2
            if text[last]?.isName == true, text.sees(")", at: last + 1), isData(last) {
                see(.describedDeviceToken, at: last)
            }
        case "description" where isCutToDigits(index): see(.describedDeviceToken, at: index)
        case "token" where isOfCredentials(index): readUse(index)
        case _ where Self.namesDeviceToken(name): readUse(index)
        // The parameter of the app delegate's function may have any name.
        case _ where isUsed(index) && isData(index): readUse(index)
        default: return
        }
    }

    /// Whether code takes off a description the signs that one of data had before iOS 13, in a
    /// function that names a token: `description.trimmingCharacters(in: CharacterSet(charactersIn:
    /// "<>")).replacingOccurrences(of: " ", with: "")`.
    private func isCutToDigits(_ index: Int) -> Bool {
        let isSent = text.isObjectiveC && text.sees("]", at: index + 1)
        guard isSent || text.sees(".", at: index - 1), !text.tokens[index].isConditional,
            !isLogged(index), let (head, body) = function(around: index),
            let owner = text[index - (isSent ? 1 : 2)], !Self.namesDeviceToken(owner.text),
            !(owner.isName && isData(index - (isSent ? 1 : 2))),
            // Many are of many values.
            text.places(of: "description", in: body).count <= 16
        else { return false }
        let after = body.lowerBound..<min(body.upperBound, index + AuditLimits.headWords)
        let cuts = { [text] (signs: Set<String>) in
            after.contains { word in
                word > index && text.tokens[word].isString && signs.contains(text.tokens[word].text)
            }
        }
        return cuts(["<>", "<"]) && cuts([" "]) && cuts([""])
            && body.contains { word in
                text.tokens[word].isName
                    && Self.nameParts(text.tokens[word].text).contains { $0.hasPrefix("token") }
            }
            && (head.parameters.contains { $0.types.contains { $0.hasSuffix("Data") } }
                || !text.places(of: "NSData", in: body).isEmpty)
            && !asksForVersion(body)
    }

    /// Whether a name follows `credentials.`: the `token` of PushKit is a device token too.
    private func isOfCredentials(_ index: Int) -> Bool {
        guard text[index - 1]?.isMark(".") == true, let owner = text[index - 2], owner.isName,
            owner.text.utf8.count >= "credentials".utf8.count
        else { return false }
        return owner.text.lowercased().hasLetters("credentials")
    }

    /// Whether ``readUse(_:)`` could find something, which is faster to check than ``isData(_:)``.
    private func isUsed(_ index: Int) -> Bool {
        if text[index - 1]?.isMark("\\(") == true || isDescribed(index) { return true }
        if isReadAsText(index) || text.sees("in", at: start(of: index) - 1) { return true }
        guard text.sees(".", at: index + 1), let member = text[index + 2] else {
            return text.isObjectiveC && text.sees("bytes", "]", at: index + 1)
        }
        return Self.tokenMembers.contains(member.text)
    }

    private static let tokenMembers: Set = [
        "description", "debugDescription", "count", "length", "map", "reduce", "bytes",
    ]

    /// Reads `deviceToken.description`, `"\(deviceToken)"`, `deviceToken.count == 32`.
    private mutating func readUse(_ index: Int) {
        guard !isLogged(index) else { return }
        let isInterpolated = text[start(of: index) - 1]?.isMark("\\(") == true
        if isInterpolated, text.sees(")", at: index + 1), isData(index) {
            see(.describedDeviceToken, at: index)
        }
        if isDescribed(index), isData(index) { see(.describedDeviceToken, at: index) }
        // What a function of the app gets may be the text's bytes.
        if isReadAsText(index), isData(index, ofSystem: true), !isLogged(start(of: index) - 4) {
            see(.decodedDeviceToken, at: index)
        }
        if let place = placeOfShortBytes(index), isData(index, ofSystem: true) {
            see(.shortenedDeviceToken, at: place)
        }
        guard text.sees(".", at: index + 1), let member = text[index + 2] else { return }
        switch member.text {
        case "description", "debugDescription": see(.describedDeviceToken, at: index)
        case "count", "length":
            guard let sign = text[index + 3], sign.kind == .mark,
                ["==", "!=", "<", ">", "<=", ">="].contains(sign.text),
                let number = text[index + 4], ["32", "64"].contains(number.text)
            else { return }
            see(.fixedTokenLength, at: index)
        default: return
        }
    }

    /// Whether it is `[deviceToken description]` or `[NSString stringWithFormat:@"%@",
    /// deviceToken]`. Code for older systems only is ignored.
    private func isDescribed(_ index: Int) -> Bool {
        // What the words are is cheaper to see than where they are.
        guard text.isObjectiveC ? isSentDescription(index) : isBridged(index) else { return false }
        return !text.tokens[index].isConditional && !isOfAnotherType(index)
            && function(around: index).map({ asksForVersion($0.1.prefix { $0 < index }) }) != true
    }

    private func isSentDescription(_ index: Int) -> Bool {
        let start = start(of: index)
        if text.sees("[", at: start - 1), text.sees("description", "]", at: index + 1) {
            return true
        }
        return text.sees(",", at: start - 1) && text.sees("]", at: index + 1)
            && text[start - 2]?.text.contains("%@") == true
            && text.sees("stringWithFormat", ":", at: start - 4)
    }

    /// The first word of the value that a token is: `credentials` of `credentials.token`.
    func start(of index: Int) -> Int { isOfCredentials(index) ? index - 2 : index }

    /// Whether a word is where the token is no data, which never happens: `if ([token
    /// isKindOfClass:[NSData class]]) { … } else { … }`.
    private func isOfAnotherType(_ index: Int) -> Bool {
        text.scopes(around: index).contains { scope in
            guard case .control("else") = scope.kind, text.sees("}", at: scope.head - 1) else {
                return false
            }
            let first = text.partners[scope.head - 1]
            let head = (0..<max(first, 0)).suffix(16)
            return head.contains { text.sees("isKindOfClass", ":", "[", "NSData", at: $0) }
        }
    }

    /// `(token as NSData).description`, `"\(token as NSData)"`, `String(format: "%@", token as
    /// CVarArg)`.
    private func isBridged(_ index: Int) -> Bool {
        guard text.sees("as", at: index + 1), let type = text[index + 2],
            ["NSData", "CVarArg"].contains(type.text)
        else { return false }
        let start = start(of: index)
        guard let before = text[start - 1] else { return false }
        if before.isMark("\\(") { return text.sees(")", at: index + 3) }
        if before.isMark(",") { return text[start - 2]?.text.contains("%@") == true }
        return before.isMark("(")
            && ["description", "debugDescription"].contains {
                text.sees(")", ".", $0, at: index + 3)
            }
    }

    private func asksForVersion(_ body: Range<Int>) -> Bool {
        body.contains { ["available", "systemVersion"].contains(text.tokens[$0].text) }
    }

    private static let logCalls: Set = [
        "print", "println", "debugPrint", "NSLog", "os_log", "log", "debug", "info", "notice",
        "warning", "error", "trace", "verbose",
    ]

    /// Whether a value is only logged: `NSLog("%@", token.description)`.
    private func isLogged(_ index: Int) -> Bool {
        var before = index - 1
        let first = max(0, index - AuditLimits.headWords)
        while before >= first {
            let token = text.tokens[before]
            if token.isMark("{") || token.isMark(";") { return false }
            if token.isMark("("), text.partners[before] > index {
                // `log("\(String(describing: String(data: token, encoding: .utf8)))")`
                if text.sees("String", at: before - 1) {
                    before -= 2
                    continue
                }
                return text[before - 1].map { Self.logCalls.contains($0.text) } == true
                    || isCertainLog(before - 1) || isOfLog(before - 1)
            }
            before =
                text.partners[before] >= 0 && text.partners[before] < before
                ? text.partners[before] - 1 : before - 1
        }
        return false
    }

    /// Whether a call is of something that logs, by the name of its owner or its own:
    /// `Log.d(text)`, `DebugLog(text)`, but not `LogService.send(text)`.
    private func isOfLog(_ call: Int) -> Bool {
        let verbs: Set = [
            "send", "post", "put", "upload", "register", "submit", "update", "store", "save",
            "sync", "set",
        ]
        let own = Self.nameParts(text.tokens[call].text)
        guard !own.contains(where: verbs.contains) else { return false }
        guard text.sees(".", at: call - 1), !text.sees("self", ".", at: call - 2) else {
            // `logIn(…)` and `logEvent(…)` are others.
            let others: Set = ["in", "out", "on", "off", "to", "event"]
            return zip(own, own.dropFirst() + [""]).contains {
                $0 == "log" && !others.contains($1)
            }
        }
        guard let owner = text[call - 2], owner.isName else { return false }
        return Self.nameParts(owner.text).contains { ["log", "logger", "logging"].contains($0) }
    }

    /// Whether a name is the parameter of the function that gets the token as data, or the token of
    /// its credentials. Elsewhere the same name may be a string.
    private func isData(_ index: Int, ofSystem: Bool = false) -> Bool {
        let name = text.tokens[start(of: index)].text
        for scope in text.scopes(around: index) {
            guard case .function(let head) = scope.kind else { continue }
            return head.parameters.contains { parameter in
                guard parameter.name == name else { return false }
                if isOfCredentials(index) { return parameter.types == ["PKPushCredentials"] }
                // Of an app's functions, only the word for the bytes themselves tells.
                return parameter.label == Self.tokenLabel
                    || (!ofSystem
                        || name == "deviceToken" && head.name.lowercased().contains("register"))
                        && Self.takesDeviceToken(head, parameter)
            }
        }
        return false
    }

    /// Whether a function gets a push token as data, by its name and the parameter's:
    /// `registerVoipPushToken:(NSData *)token`.
    private static func takesDeviceToken(
        _ head: SourceScope.FunctionHead, _ parameter: SourceScope.FunctionHead.Parameter
    ) -> Bool {
        ["Data", "NSData"].contains { parameter.types == [$0] }
            && [head.name, parameter.label, parameter.name].contains(where: namesDeviceToken)
    }

    /// Reads a token in the user defaults: `UserDefaults.standard.set(token, forKey:
    /// "deviceToken")`. Reads and removals store nothing, nor does a parameter of that type.
    private mutating func readStorage(_ name: String, _ index: Int) {
        guard !isOfActivity(index) else { return }
        if name == "AppStorage" {
            let key = text.content(ofBracket: index + 1).first.map { text.tokens[$0].text }
            if let key, Self.namesDeviceToken(key), !Self.namesFlag(key) {
                see(.storedDeviceToken, at: index)
            }
            return
        }
        let calls = ["set", "setValue", "setObject"]
        guard
            let call = (index + 1..<index + 8).first(where: {
                text[$0]?.isMark("(") == true && calls.contains(text[$0 - 1]?.text ?? "")
            })
        else { return }
        // The first argument is stored; the key after it may have any name.
        let value = text.content(ofBracket: call).prefix(AuditLimits.headWords)
            .prefix { !text.tokens[$0].isMark(",") }
        if value.contains(where: isToken), !isReadNext(value.upperBound) {
            see(.storedDeviceToken, at: index)
        }
    }

    /// Whether the token is a Live Activity's: `for await token in activity.pushTokenUpdates {`.
    private func isOfActivity(_ index: Int) -> Bool {
        text.scopes(around: index).contains { scope in
            guard case .control("for") = scope.kind else { return false }
            return (scope.head..<scope.open).contains {
                ["pushTokenUpdates", "pushToStartTokenUpdates"].contains(text.tokens[$0].text)
            }
        }
    }

    /// Whether a function that is called next reads what was stored under a key, as one that sends
    /// it does: `defaults.set(token, forKey: key)`, then `send()`.
    private func isReadNext(_ comma: Int) -> Bool {
        guard text.sees(",", "forKey", ":", at: comma), let (_, body) = function(around: comma)
        else { return false }
        var last = comma + 3
        while text.sees(".", at: last + 1) { last += 2 }
        guard text.sees(")", at: last + 1), let key = text[last]?.text else { return false }
        return (last..<max(last, body.upperBound)).contains { call in
            guard isCall(call), text.scopeIndices[call] == text.scopeIndices[comma],
                let helper = calledFunction(call)
            else { return false }
            return text.content(ofBracket: helper.open).contains { word in
                text.tokens[word].text == key
                    && (word - 8..<word).contains { text.sees("forKey", ":", at: $0) }
                    && (word - 10..<word).contains {
                        ["string", "object", "value", "data"].contains(text[$0]?.text)
                    }
            }
        }
    }

    /// Reads `[[NSUserDefaults standardUserDefaults] setObject:token forKey:@"deviceToken"]`.
    private mutating func readObjectiveCStorage(_ index: Int) {
        guard text.sees("[", "NSUserDefaults", "standardUserDefaults", "]", at: index - 1),
            let verb = text[index + 3], ["setObject", "setValue"].contains(verb.text),
            text.sees(":", at: index + 4)
        else { return }
        let value = (index + 5..<text.tokens.count).prefix(AuditLimits.headWords)
            .prefix { !text.sees("forKey", ":", at: $0) && !text.tokens[$0].isMark(";") }
        if value.contains(where: isToken) { see(.storedDeviceToken, at: index) }
    }

    /// Whether a word of a stored value is a token, or text made of one.
    private func isToken(_ word: Int) -> Bool {
        let token = text.tokens[word]
        // `.tokenNotSent` is a case of an enumeration.
        let isListed =
            text.sees(".", at: word - 1)
            && ["(", ",", ":"].contains { text[word - 2]?.isMark($0) == true }
        return token.isName && !text.isLabel(word) && !isListed && !Self.namesFlag(token.text)
            && (Self.namesDeviceToken(token.text) || isData(word)) && !isReadBack(word)
            && !isGivenToClosure(word)
    }

    /// Whether a name is the parameter of a closure: whose token it is, only what calls it tells.
    private func isGivenToClosure(_ word: Int) -> Bool {
        for scope in text.scopes(around: word) {
            switch scope.kind {
            case .closure:
                if text.parameters(ofClosure: scope).contains(text.tokens[word].text) {
                    return true
                }
            case .control: continue
            case .function, .type: return false
            }
        }
        return false
    }

    /// Whether a name stands for what was stored before, which is only moved: `NSString *token =
    /// [shared objectForKey:@"token"]`.
    private func isReadBack(_ word: Int) -> Bool {
        let name = text.tokens[word].text
        let first = max(0, word - AuditLimits.headWords)
        guard
            let equals = (first..<word).last(where: {
                text.tokens[$0].isMark("=") && text[$0 - 1]?.isName(name) == true
            })
        else { return false }
        let line = text.tokens[equals].position.line
        return (equals..<word).prefix { text.tokens[$0].position.line == line }
            .contains { ["objectForKey", "stringForKey", "forKey"].contains(text.tokens[$0].text) }
    }

    /// Whether a name means a property of a token, not the token.
    private static func namesFlag(_ name: String) -> Bool {
        let name = name.lowercased()
        let words = [
            "is", "has", "did", "should", "was", "needs", "key", "date", "time", "sent",
            "registered", "uploaded", "enabled", "version", "hash", "env", "type", "status",
            "state",
        ]
        return words.contains { name.hasPrefix($0) || name.hasSuffix($0) }
    }

    /// A pattern for a token of 64 digits: `^[0-9a-f]{64}$`, or a format for eight words of four
    /// bytes, which leaves out what is behind them.
    mutating func readTokenPattern(_ value: String, _ index: Int) {
        // Most literals have neither, and a search for longer texts costs more.
        guard value.utf8.contains(where: { "%{".utf8.contains($0) }) else { return }
        let words = value.filter { !" <>".contains($0) }
        if words.hasPrefix("%08x%08x%08x%08x%08x%08x%08x%08x"), isInTokenFunction(index) {
            see(.fixedTokenLength, at: index)
        }
        guard value.contains("a-f"), value.contains("{64}") || value.contains("{32}") else {
            return
        }
        let line = text.tokens[index].position.line
        let isForToken = text.tokens[max(0, index - 24)..<min(text.tokens.count, index + 24)]
            .contains { $0.position.line == line && $0.text.lowercased().contains("token") }
        if isForToken { see(.fixedTokenLength, at: index) }
    }

    /// Whether a word is in a function that the system, or the app delegate, gives the token.
    private func isInTokenFunction(_ index: Int) -> Bool {
        text.scopes(around: index).contains { scope in
            guard case .function(let head) = scope.kind else { return false }
            return head.parameters.contains {
                $0.label.hasSuffix("WithDeviceToken") || $0.types == ["PKPushCredentials"]
            }
        }
    }
}
