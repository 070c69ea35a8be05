// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Reads pushes from the `curl` and `simctl push` commands of a script, or of a text that contains
/// such commands.
extension DocumentReader {
    /// Reads the commands of a text that send to a simulator, to APNs, or to a service that
    /// forwards to it. Returns `nil` if there are none.
    func readCommands(_ bytes: [UInt8], name: String) -> PushDocument? {
        let writesPush = bytes.contains(text: "<<") && Self.mentionsPush(bytes)
        guard forcedKind == nil || forcedKind == .request,
            bytes.contains(text: "simctl push ") || bytes.contains(text: "curl")
                || bytes.contains(text: "sns publish")
                || writesPush && Self.isScript(bytes, name: name)
        else { return nil }
        var text = Self.isMakefile(name) ? Self.withoutRecipePrefixes(bytes) : bytes
        if !PageBlock.isPage(name), !Self.isScript(bytes, name: name) {
            text = Self.withoutCommentMarks(text)
        }
        let script = ShellText(text)
        let requests = script.commands.flatMap(\.requests)
        var result = read(
            requests, besideFile: name,
            splitting: Self.severity(ofSplitWordsIn: text, name: name))
        // An alias, a function or a file of settings may sign in, and so may a proxy.
        if Self.maySignInElsewhere(text) {
            for index in result?.items.indices ?? 0..<0 { result?.items[index].lacksSignIn = false }
        }
        if text != bytes, !Self.isMakefile(name) {
            result = result.map { Self.withoutIllustrations($0, in: text) }
        }
        guard writesPush, Self.isScript(bytes, name: name), let sent = Self.places(sentBy: requests)
        else { return result }
        let others = (script.unnamedFiles + script.printed).filter {
            !sent.contains($0.trimmed.fileOffset(of: 0))
        }
        for pushes in others.compactMap(pushes(inFile:)) {
            result = result ?? PushDocument(kind: .request, hasComments: true)
            result?.items += pushes.items
            result?.faults += pushes.faults
        }
        return result
    }

    /// The offsets of what commands send; `nil` if one of them sends what is not known.
    private static func places(sentBy commands: [ShellText.Command]) -> Set<Int>? {
        var places: Set<Int> = []
        for command in commands {
            var sent = command.input?.trimmed
            if command.words.first?.string.hasSuffix("curl") == true {
                let curl = CurlCommand(command) { _ in nil }
                guard !curl.hasBody || curl.body != nil else { return nil }
                sent = curl.body
            }
            if let sent, !sent.bytes.isEmpty { places.insert(sent.fileOffset(of: 0)) }
        }
        return places
    }

    /// Whether a file is by its name for `make`, or for `just`, whose recipes look the same.
    static func isMakefile(_ name: String) -> Bool {
        ["makefile", "justfile", ".mk"].contains { name.lowercased().hasSuffix($0) }
    }

    /// Replaces `@`, `-` and `+` before the commands of recipes, which are for `make`, by spaces.
    private static func withoutRecipePrefixes(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        var isStart = true
        var last = UInt8(ascii: "\n")
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "\n"): isStart = last != UInt8(ascii: "\\")
            case UInt8(ascii: " "), UInt8(ascii: "\t"): break
            case UInt8(ascii: "@"), UInt8(ascii: "-"), UInt8(ascii: "+"):
                if isStart { result[index] = UInt8(ascii: " ") }
            default: isStart = false
            }
            last = byte
        }
        return result
    }

    /// Reads the pushes of a text in HTTP notation. Returns `nil` if there are none.
    func readHTTP(_ bytes: [UInt8], name: String) -> PushDocument? {
        guard forcedKind == nil || forcedKind == .request, HTTPRequests.isOne(bytes, name: name)
        else { return nil }
        var result = read(HTTPRequests(bytes, name: name).commands, besideFile: name)
        for index in result?.items.indices ?? 0..<0 {
            result?.items[index].isInHTTPText = true
            // Nothing shows a certificate, and a token may be left out.
            result?.items[index].draft.opaqueHeaders.insert("authorization")
            result?.items[index].lacksSignIn = false
        }
        return result
    }

    /// Reads a file in HTTP notation. A request without a body is not whole: an editor has it from
    /// another file, or asks for it.
    func readHTTPFile(_ bytes: [UInt8], name: String) -> PushDocument? {
        guard var result = readHTTP(bytes, name: name) else { return nil }
        for item in result.items where item.draft.payload.isEmpty {
            guard case .offset(let start)? = item.places.missingHeaders?.place else { continue }
            result.unread.append(.init(start: start, .incomplete))
        }
        result.items.removeAll { $0.draft.payload.isEmpty }
        return result
    }

    private func read(
        _ commands: [ShellText.Command], besideFile name: String,
        splitting: (Int) -> Severity? = { _ in nil }
    ) -> PushDocument? {
        var result = PushDocument(kind: .request)
        result.hasComments = true
        var isFound = false
        for command in commands {
            switch command.words.first?.string {
            case "simctl":
                guard let item = item(ofSimulator: command) else { continue }
                isFound = true
                result.items.append(item)
                continue
            case "sns":
                guard let pushes = published(by: command, besideScript: name) else { continue }
                isFound = true
                result.items += pushes.items
                result.faults += pushes.faults
                continue
            default: break
            }
            let curl = CurlCommand(command) { Self.file($0, besideScript: name) }
            result.faults += faults(
                ofQuotesIn: curl, splitting: splitting, isPage: !Self.isNamedShell(name))
            guard curl.isForAPNs || curl.isForAzure else {
                guard var body = curl.body else { continue }
                if curl.isForService, Self.isBroken(body) {
                    isFound = true
                    var places = PlaceMap()
                    places.payload = body.places
                    result.items.append(
                        PushItem(
                            draft: assumptions.draft(payload: body.bytes), places: places,
                            isInScript: true, losesQuotes: curl.bodyLosesQuotes,
                            isTextOnly: true))
                    let readable = IllustratedJSON(body.bytes).bytes
                    body = body.replacingBytes { index, _ in readable[index] }
                }
                let fault = Self.fault(ofAPIFor: body, curl)
                guard
                    var wrapped = wrapped(body, sentTo: curl.destination)
                        ?? fault.map({ _ in PushDocument(kind: .request) })
                else { continue }
                isFound = true
                wrapped.faults += [fault].compactMap(\.self)
                // Another server may change what the service would refuse.
                if !curl.isForService {
                    wrapped.faults.removeAll {
                        $0.severity == .error && ["G012", "G014"].contains($0.rule)
                    }
                }
                for var item in wrapped.items {
                    item.isInScript = true
                    result.items.append(item)
                }
                result.faults += wrapped.faults
                continue
            }
            isFound = true
            if let item = item(of: curl) {
                result.items.append(item)
            } else if !curl.isTrial {
                result.unread.append(.init(start: curl.start, .incomplete))
            }
        }
        return isFound ? result : nil
    }

    /// What is wrong with a request to one of Firebase's APIs that has the form of the other.
    private static func fault(
        ofAPIFor body: EmbeddedText, _ curl: CurlCommand
    ) -> PushDocument.Fault? {
        guard curl.isForFirebase, let document = try? JSONScanner.scan(body.bytes),
            document.kind(0) == .object
        else { return nil }
        let has = { (name: String) in document.last(name, of: 0) != nil }
        let isFormer = curl.destination == .formerFirebase
        if isFormer, let message = document.last("message", of: 0),
            document.kind(message.value) == .object,
            !["to", "registration_ids", "condition"].contains(where: has)
        {
            return PushDocument.Fault(
                rule: "G012", message: "Firebase's former API has no `message`",
                fix: "Send it to the present API, which ends in `messages:send`.",
                place: .offset(body.fileOffset(of: Int(document.nodes[message.key].start))),
                pointer: "/message")
        }
        guard !isFormer, curl.url?.text.contains("messages:send") == true, !has("message"),
            ["to", "registration_ids", "token", "topic", "notification"].contains(where: has)
        else { return nil }
        return PushDocument.Fault(
            rule: "G012", message: "Firebase's present API takes a `message`, and there is none",
            fix: "Put the members into `message`, with `token` for `to`.",
            place: .offset(body.fileOffset(of: Int(document.nodes[0].start))), pointer: "")
    }

    /// The push of `simctl push <device> [<bundle id>] <file>`, given as its input or in a file
    /// that the script writes.
    private func item(ofSimulator command: ShellText.Command) -> PushItem? {
        guard command.words.count > 3, let name = command.words.last?.string,
            let given = name == "-" ? command.input : command.files[ShellText.fileName(name)],
            given.trimmed.bytes != [ShellText.unknown]
        else { return nil }
        guard let body = CurlCommand.filled(given.trimmed), !body.bytes.isEmpty,
            !Self.isUnfinished(body)
        else { return nil }
        return item(ofPayload: body)
    }

    /// The push of a payload in a script, without the key that only the simulator reads.
    private func item(ofPayload body: EmbeddedText) -> PushItem {
        var body = body
        if let document = try? JSONScanner.scan(body.bytes), document.kind(0) == .object,
            let bundle = document.last("\(Self.simulatorKey)", of: 0)
        {
            let cut = document.rangeToCut(bundle, of: 0)
            var rest = body.slice(0..<cut.lowerBound)
            rest.append(body.slice(cut.upperBound..<body.bytes.count))
            body = rest
        }
        var places = PlaceMap()
        places.payload = body.places
        return PushItem(
            draft: assumptions.draft(payload: body.bytes), places: places, isInScript: true)
    }

    /// The pushes in a file that a script writes for another program. Returns `nil` for any other
    /// file.
    private func pushes(inFile text: EmbeddedText) -> PushDocument? {
        guard let body = CurlCommand.filled(text.trimmed), Self.mentionsPush(body.bytes),
            let document = try? JSONScanner.scan(body.bytes), document.kind(0) == .object
        else { return nil }
        if var wrapped = wrapped(document, body) {
            for index in wrapped.items.indices { wrapped.items[index].isInScript = true }
            return wrapped
        }
        // Settings of another program may have such a key.
        guard let aps = document.last("aps", of: 0), document.kind(aps.value) == .object else {
            return nil
        }
        return PushDocument(kind: .payload, items: [item(ofPayload: body)])
    }

    private func item(of curl: CurlCommand) -> PushItem? {
        let isForAzure = curl.isForAzure
        guard !curl.isTrial, let body = curl.body ?? (curl.hasBody ? nil : EmbeddedText()),
            curl.isWhole && !curl.isForRelay || !body.bytes.isEmpty, !Self.isUnfinished(body),
            curl.isClosed || (try? JSONScanner.scan(body.bytes)) != nil,
            // A body of several parts.
            !isForAzure || !body.bytes.starts(with: "--".utf8)
        else { return nil }
        var places = PlaceMap()
        places.payload = body.places
        places.missingHeaders = (.offset(curl.start), "")
        var headers: [PushDraft.Header] = []
        var opaque: Set<String> = []
        for header in curl.headers {
            let name =
                isForAzure ? Wrapper.appleName(ofAzureHeader: header.name) : header.name
            // The authorization of a service is not that of APNs.
            if isForAzure || curl.isForRelay, !name.hasPrefix("apns-") { continue }
            places.headers.append(
                PlaceMap.Header(name: name, place: .offset(header.offset), pointer: ""))
            // What is left empty is for a reader to fill in.
            if !header.value.isEmpty, let value = curl.known(header, of: name) {
                headers.append(PushDraft.Header(name, value))
            } else {
                opaque.insert(name)
            }
        }
        guard !isForAzure, !curl.isForRelay else {
            return PushItem(
                draft: assumptions.draft(payload: body.bytes, knownHeaders: headers),
                places: places, isInScript: true)
        }
        if let path = curl.path, let url = curl.url {
            headers.append(PushDraft.Header(":path", path))
            places.headers.append(
                PlaceMap.Header(
                    name: ":path",
                    place: .offset(
                        path.hasPrefix("/3/device/")
                            ? curl.tokenOffset ?? url.offset : url.offset), pointer: ""))
        }
        if let method = curl.method, !Placeholder.isIn(method.text) {
            headers.append(PushDraft.Header(":method", method.text))
            places.headers.append(
                PlaceMap.Header(name: ":method", place: .offset(method.offset), pointer: ""))
        }
        if let old = curl.oldHTTP {
            headers.append(PushDraft.Header(":version", "HTTP/1.1"))
            places.headers.append(
                PlaceMap.Header(name: ":version", place: .offset(old), pointer: ""))
        }
        var draft = assumptions.draft(payload: body.bytes, headers: headers)
        draft.opaqueHeaders = opaque
        draft.headersAreComplete = curl.isWhole
        draft.lacksCertificate = curl.lacksCertificate
        return PushItem(
            draft: draft, places: places, isInScript: true, isBesideVoIP: curl.namesVoIP,
            lacksSignIn: curl.lacksSignIn, losesQuotes: curl.bodyLosesQuotes)
    }

    /// Whether a body is meant to be an object of JSON, and is none by mistake.
    private static func isBroken(_ body: EmbeddedText) -> Bool {
        body.bytes.first == UInt8(ascii: "{") && (try? JSONScanner.scan(body.bytes)) == nil
            && !isTemplate(body.bytes) && !isIllustration(body.bytes)
    }

    /// Whether a body is abbreviated, as `{"aps":{…}}`, or something is to be put in for a part or
    /// the whole of it. A text without the marks of JSON or of a form stands for another.
    private static func isUnfinished(_ body: EmbeddedText) -> Bool {
        guard !body.bytes.isEmpty, (try? JSONScanner.scan(body.bytes)) == nil else { return false }
        if isTemplate(body.bytes) { return true }
        // An object whose quotation marks a shell has removed.
        let isObject = body.bytes.prefix(60).filter { $0 > 0x20 }.starts(with: "{aps:".utf8)
        return !isObject && !body.bytes.contains { "\"'=".utf8.contains($0) }
            && !IllustratedJSON.hasTypographicQuotes(body.bytes)
    }

    /// The text of an argument that is a file's name behind a mark, or else itself; `nil` if it is
    /// not known.
    private static func text(
        of word: ShellText.Word, fileMark mark: String, _ command: ShellText.Command,
        besideScript name: String
    ) -> EmbeddedText? {
        guard word.string.hasPrefix(mark) else { return word.text.trimmed }
        let path = String(word.string.dropFirst(mark.count))
        if let written = command.files[ShellText.fileName(path)] { return written.trimmed }
        return file(path, besideScript: name).map { bytes in
            var text = EmbeddedText()
            text.append(String(decoding: bytes, as: UTF8.self), standingAt: word.start)
            return text.trimmed
        }
    }

    /// Reads `aws sns publish` (reference of the AWS CLI, "sns publish"). Returns `nil` if its
    /// message is not known, or none for APNs.
    private func published(
        by command: ShellText.Command, besideScript name: String
    ) -> PushDocument? {
        var options: [String: ShellText.Word] = [:]
        var isWhole = !command.isOpen
        var words = command.words.dropFirst(2)
        while let word = words.popFirst() {
            let option = word.string
            guard option.hasPrefix("--") else {
                isWhole = false
                continue
            }
            if let equals = option.utf8.firstIndex(of: UInt8(ascii: "=")) {
                var value = word
                let start = option.utf8.distance(from: option.startIndex, to: equals) + 1
                value.text = word.text.slice(start..<word.text.bytes.count)
                options[String(option[..<equals])] = value
            } else if let value = words.first, !value.string.hasPrefix("--") {
                isWhole = isWhole && !value.isList
                options[option] = value
                words.removeFirst()
            }
        }
        let text = { (option: String) in
            options[option].flatMap {
                Self.text(of: $0, fileMark: "file://", command, besideScript: name)
            }
        }
        if let attributes = text("--message-attributes").flatMap(CurlCommand.filled),
            Self.isBroken(attributes),
            attributes.bytes.contains(text: "AWS.SNS.MOBILE.APNS."),
            let word = options["--message-attributes"]
        {
            let fault = PushDocument.Fault(
                message: "the attributes of the message are not valid JSON",
                fix: "Write all of them as one object.", place: .offset(word.start), pointer: "")
            return PushDocument(kind: .request, faults: [fault])
        }
        guard let given = text("--message") else { return nil }
        let unknown = ShellText.unknown
        // What is put in may stand in a string of a string, where only a digit fits everywhere.
        let message = given.replacingBytes { $1 == unknown ? UInt8(ascii: "0") : $1 }
        guard let document = try? JSONScanner.scan(message.bytes), document.kind(0) == .object
        else { return nil }
        var request = WrapperRequest(document: document, text: message, node: 0, pointer: "")
        request.attributesOfSNS = text("--message-attributes")
        guard var pushes = request.messageOfSNS() else { return nil }
        if given.bytes.contains(unknown) {
            pushes.removeAll { push in
                push.base.map { $0.document.kind($0.node) != .object } ?? false
            }
        }
        var result = self.document(of: pushes)
        for index in result.items.indices { result.items[index].isInScript = true }
        let isForApp = options["--target-arn"] != nil || options["--topic-arn"] != nil
        let saysStructure = ["--message-structure", "--cli-input-json", "--cli-input-yaml"]
            .contains { options[$0] != nil }
        if isWhole, isForApp, !saysStructure, let word = options["--message"] {
            result.faults.append(WrapperRequest.missingStructure(at: word.start, pointer: ""))
        }
        return result
    }

    /// The content of a file that a script sends; `nil` if it is not in or below the folder of the
    /// script.
    private static func file(_ path: String, besideScript name: String) -> [UInt8]? {
        let folder = LintInput(path: name, isNamed: true).folder
        guard !path.isEmpty, path.utf8.allSatisfy({ $0 >= 0x20 }),
            let root = realPath(folder),
            let real = realPath(path.hasPrefix("/") ? path : folder + "/" + path),
            real.hasPrefix(root == "/" ? root : root + "/"), PathKind(path: real) == .file,
            let file = try? OpenFile(path: real),
            let bytes = try? file.readAll(limit: LintLimits.headBytes),
            bytes.count <= LintLimits.headBytes, String(validating: bytes, as: UTF8.self) != nil
        else { return nil }
        return bytes
    }
}
