// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// A `curl` command, as far as it determines the request (curl's manual page, "curl(1)").
struct CurlCommand {
    /// A header of the command.
    struct Header {
        let name: String
        let value: String
        /// The offset in the file.
        let offset: Int
        /// Whether a bundle id stands in the value as a command.
        var runsBundleID = false
    }

    /// The offset of the command.
    let start: Int
    private(set) var url: (text: String, offset: Int)?
    /// The offset of a device token that a variable of the script gives; `nil` for any other.
    private(set) var tokenOffset: Int?
    private(set) var headers: [Header] = []
    /// Apple's headers without a colon behind the name, which `curl` does not send.
    private(set) var headersWithoutColon: [Header] = []
    /// The body; `nil` if there is none, or if it is not in the script.
    private(set) var body: EmbeddedText?
    /// The offset of a body that a shell splits at its blanks.
    private(set) var split: Int?
    /// Whether the shell takes the quotation marks of the body for its own.
    private(set) var bodyLosesQuotes = false
    /// The offset of the first word in typographic quotation marks.
    private(set) var typographicQuotes: Int?
    /// Whether there is a body, known or not.
    private(set) var hasBody = false
    private(set) var method: (text: String, offset: Int)?
    /// The offset of the option that requests an older version of HTTP.
    private(set) var oldHTTP: Int?
    /// The method of a request, written as an address.
    private(set) var methodAsURL: (text: String, offset: Int)?
    /// The offset of a comment that ends the command for a shell, though it goes on.
    let remark: Int?
    /// The offset of the line end at which the command ends for a shell, though it goes on.
    let gap: Int?
    /// Whether the command was read to its end.
    let isClosed: Bool
    /// Whether all of the command was understood, so that what is not in it is missing.
    private(set) var isWhole: Bool
    /// Whether a word for VoIP pushes is in it, as in the name of a certificate.
    let namesVoIP: Bool
    /// Whether a signing key of Apple's is given for a certificate, which it does not hold.
    private var givesKeyAsCertificate = false
    /// Whether an option is given that may sign in: a certificate, a key, a user, or another way
    /// to the server.
    private var maySignIn = false

    private static let short = "HdXEowmuAebFxTKCDPQYyzcrtU"
    private static let valued: Set = [
        "--header", "--data", "--data-raw", "--data-binary", "--data-ascii", "--data-urlencode",
        "--json", "--request", "--url", "--cert", "--cert-type", "--key", "--key-type", "--pass",
        "--output", "--write-out", "--max-time", "--connect-timeout", "--user", "--user-agent",
        "--cacert", "--capath", "--proxy", "--resolve", "--form", "--retry", "--retry-delay",
        "--referer", "--cookie", "--config", "--dump-header", "--stderr", "--trace",
        "--upload-file", "--url-query", "--form-string", "--oauth2-bearer", "--interface",
        "--max-redirs", "--limit-rate", "--ciphers", "--tls-max", "--proto", "--noproxy",
        "--proxy-user", "--cookie-jar", "--retry-max-time", "--unix-socket", "--trace-ascii",
        "--connect-to", "--keepalive-time", "--pinnedpubkey", "--variable",
    ]
    private static let bodies: Set = [
        "-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json",
    ]
    private static let signingIn: Set = [
        "-E", "--cert", "--key", "-u", "--user", "-x", "--proxy", "--unix-socket", "--connect-to",
        "--resolve",
    ]
    private static let methods: Set = ["POST", "PUT", "GET", "DELETE", "PATCH"]
    private static let old: Set = ["--http1.1", "--http1.0", "-0", "--http0.9"]

    /// Parses a command. `read` returns the content of a file that the command sends, or `nil`.
    init(_ command: ShellText.Command, read: (String) -> [UInt8]?) {
        start = command.words.first?.start ?? 0
        isClosed = !command.isOpen
        namesVoIP = command.words.contains { word in
            let text = word.string.lowercased()
            return text.contains("voip") || text.contains("pushkit")
        }
        isWhole = isClosed
        remark = command.remark
        gap = command.gap
        typographicQuotes = command.words.first(where: \.hasTypographicQuotes)?.start
        var others: [ShellText.Word] = []
        var words = command.words.dropFirst()
        while let word = words.popFirst() {
            let option = word.string
            if word.isList || word.isVariable && option.contains(" ") {
                // Several words, which are not known.
                isWhole = false
            } else if option.hasPrefix("--") {
                if Self.old.contains(option) { oldHTTP = word.start }
                if option.contains("=") { isWhole = false }
                guard Self.valued.contains(option) else { continue }
                if let value = words.popFirst() {
                    take(option, value, command, read)
                } else {
                    isWhole = false
                }
            } else if option.hasPrefix("-"), option.count > 1 {
                takeShort(word, &words, command, read)
            } else {
                others.append(word)
            }
        }
        if isWhole, others.count == (url == nil ? 2 : 1),
            let place = others.firstIndex(where: { Self.methods.contains($0.string) })
        {
            let word = others.remove(at: place)
            methodAsURL = (word.string, word.start)
        }
        // Dots, or what a reader is to put options in for.
        if others.count > (url == nil ? 1 : 0) { isWhole = false }
        let marks = ["://", "/3/device", "push.apple.com"]
        let address =
            others.first { word in marks.contains { word.string.contains($0) } } ?? others.first
        if url == nil, let address { takeURL(address) }
    }

    private mutating func takeURL(_ word: ShellText.Word) {
        url = (word.string, word.start)
        tokenOffset = nil
        guard let start = word.text.bytes.firstRange(of: "/3/device/".utf8)?.upperBound,
            start < word.text.bytes.count
        else { return }
        let offset = word.text.fileOffset(of: start)
        // Before the command, or behind it, is where the variable is set.
        let reach = word.start..<word.start + word.text.bytes.count + 2
        tokenOffset = reach.contains(offset) ? nil : offset
    }

    /// Parses short options, several of which may be in one word: `-vH`.
    private mutating func takeShort(
        _ word: ShellText.Word, _ words: inout ArraySlice<ShellText.Word>,
        _ command: ShellText.Command, _ read: (String) -> [UInt8]?
    ) {
        for (index, letter) in word.string.enumerated().dropFirst() {
            if letter == "0" { oldHTTP = word.start }
            guard Self.short.contains(letter) else { continue }
            var value = word
            let offset = word.string.prefix(index + 1).utf8.count
            if offset < word.text.bytes.count {
                value.text = word.text.slice(offset..<word.text.bytes.count)
            } else if let next = words.popFirst() {
                value = next
            } else {
                isWhole = false
                return
            }
            take("-\(letter)", value, command, read)
            return
        }
    }

    private mutating func take(
        _ option: String, _ value: ShellText.Word, _ command: ShellText.Command,
        _ read: (String) -> [UInt8]?
    ) {
        maySignIn = maySignIn || Self.signingIn.contains(option)
        switch option {
        case "-H", "--header": takeHeader(value)
        case "-X", "--request": method = (value.string, value.start)
        case "--url": takeURL(value)
        case "--oauth2-bearer":
            headers.append(
                Header(
                    name: "authorization", value: "bearer " + value.string, offset: value.start))
        case "-K", "--config": isWhole = false
        case "-E", "--cert": givesKeyAsCertificate = value.string.lowercased().hasSuffix(".p8")
        case "-T", "--upload-file", "-F", "--form", "--form-string", "--data-urlencode":
            hasBody = true
        case _ where Self.bodies.contains(option):
            hasBody = true
            takeBody(value, isRaw: option == "--data-raw", command, read)
        default: break
        }
    }

    private mutating func takeHeader(_ word: ShellText.Word) {
        guard let colon = word.string.firstIndex(of: ":"), !word.string.hasPrefix("@"),
            !word.string[..<colon].utf8.contains(ShellText.unknown)
        else {
            isWhole = false
            let name = word.string.prefix { $0.isASCII && ($0.isLetter || $0 == "-") }
            if name.hasPrefix("apns-"), !word.string.contains(":"),
                ["=", " "].contains(word.string.dropFirst(name.count).first)
            {
                headersWithoutColon.append(
                    Header(name: String(name), value: "", offset: word.start))
            }
            return
        }
        let value = word.string[word.string.index(after: colon)...]
        headers.append(
            Header(
                // Header names of HTTP/2 are in lower case, which curl converts.
                name: word.string[..<colon].lowercased(),
                value: String(value.drop { $0 == " " || $0 == "\t" }), offset: word.start,
                runsBundleID: word.runsBundleID))
    }

    private mutating func takeBody(
        _ word: ShellText.Word, isRaw: Bool, _ command: ShellText.Command,
        _ read: (String) -> [UInt8]?
    ) {
        guard body == nil else { return }
        let text = word.string
        guard text.hasPrefix("@"), !isRaw else {
            let body = word.text.trimmed
            if word.isSplit { split = word.start }
            bodyLosesQuotes = word.losesQuotes
            // A variable that the script does not set.
            if body.bytes != [ShellText.unknown] { self.body = Self.filled(straightened(body)) }
            return
        }
        if text == "@-" {
            body = command.input.flatMap { Self.filled($0.trimmed) }
        } else if let written = command.files[ShellText.fileName(String(text.dropFirst()))] {
            body = Self.filled(written.trimmed)
        } else if let bytes = read(String(text.dropFirst())) {
            var body = EmbeddedText()
            body.append(String(decoding: bytes, as: UTF8.self), standingAt: word.start)
            self.body = body.trimmed
        }
    }

    /// The body with straight quotation marks, if it is of a command with typographic ones.
    private func straightened(_ body: EmbeddedText) -> EmbeddedText {
        guard typographicQuotes != nil else { return body }
        let straight = IllustratedJSON(body.bytes)
        guard straight.hasTypographicQuotes, (try? JSONScanner.scan(straight.bytes)) != nil else {
            return body
        }
        return body.replacingBytes { index, _ in straight.bytes[index] }
    }

    /// The body with placeholders for text that is not in the script: a letter inside a string, a
    /// digit elsewhere. Returns `nil` if such a text could make JSON of it.
    static func filled(_ body: EmbeddedText) -> EmbeddedText? {
        var isInString = false
        var isEscaped = false
        let filled = body.replacingBytes { _, byte in
            defer { isEscaped = byte == UInt8(ascii: "\\") && !isEscaped && isInString }
            if byte == UInt8(ascii: "\""), !isEscaped { isInString.toggle() }
            guard byte == ShellText.unknown else { return byte }
            return isInString ? UInt8(ascii: "x") : UInt8(ascii: "0")
        }
        do throws(JSONSyntaxError) {
            _ = try JSONScanner.scan(filled.bytes)
        } catch {
            let isUnknown = { (byte: UInt8?) in byte == ShellText.unknown }
            let before = body.bytes.prefix(error.offset).last { $0 > 0x20 || isUnknown($0) }
            if isUnknown(before) || isUnknown(body.bytes.dropFirst(error.offset).first) {
                return nil
            }
        }
        return filled
    }

    /// Whether the command only tries the connection.
    var isTrial: Bool { !hasBody && !headers.contains { $0.name.hasPrefix("apns-") } }

    /// Whether the command sends to APNs, or to a server that forwards to APNs.
    var isForAPNs: Bool {
        let managesChannels = path?.hasPrefix("/1/apps/") == true
        return namesAPNs
            || !managesChannels && headers.contains { $0.name.hasPrefix("apns-") }
            || isForOwnServer && url?.text.contains("/3/device") == true
                && body?.bytes.contains(text: "\"aps\"") == true
    }

    /// Whether the command sends to a server that forwards to APNs, and adds what is missing.
    var isForRelay: Bool {
        guard isForAPNs, !namesAPNs, let path else { return false }
        return isForOwnServer || !Placeholder.isIn(path)
    }

    /// Whether the command names a server that is not Apple's.
    private var isForOwnServer: Bool { url.map { Self.isForOwnServer($0.text) } ?? false }

    /// Whether a URL names a server that is not Apple's, which asks for what it likes and may add
    /// headers. What stands for the name of a server may stand for Apple's.
    static func isForOwnServer(_ url: String) -> Bool {
        guard let start = url.firstRange(of: "://")?.upperBound else {
            return url.first.map { $0 != "/" } == true && !namesApple(url)
                && !Placeholder.isIn(String(url.prefix { $0 != "/" }))
        }
        let host = String(url[start...].prefix { $0 != "/" })
        return !host.isEmpty && !namesApple(host) && !Placeholder.isIn(host)
    }

    /// Whether a host, or a URL, is of Apple's push service; letter case does not matter there.
    private static func namesApple(_ host: String) -> Bool {
        host.lowercased().contains("push.apple.com")
    }

    /// Whether the command speaks to APNs itself: not to Safari's push service, nor to the service
    /// that manages channels, nor only to try the connection.
    private var namesAPNs: Bool {
        guard let url else { return false }
        if ["/3/device", "/4/broadcasts/apps/"].contains(where: { url.text.contains($0) }) {
            return !isForOwnServer
        }
        let hosts = ["api.push.apple.com", "api.sandbox.push.apple.com", "api.development.push"]
        guard hosts.contains(where: { url.text.contains($0) }) else { return false }
        guard let path, path != "/" else { return hasBody }
        return path.hasPrefix("/3") || path.hasPrefix("/4") || hasBody && !path.hasPrefix("/1/")
    }

    /// Whether the command sends to Apple with a signing key for a certificate, and without a
    /// provider token.
    var lacksCertificate: Bool { givesKeyAsCertificate && lacksToken }

    /// Whether the command sends to Apple with nothing that could sign in.
    var lacksSignIn: Bool { !maySignIn && lacksToken }

    /// Whether the URL names Apple's push service.
    private var namesAppleHost: Bool { url.map { Self.namesApple($0.text) } == true }

    /// The value of a header as far as it is known. Apple takes no other scheme than its own,
    /// whatever a variable puts in behind it.
    func known(_ header: Header, of name: String) -> String? {
        if let value = Placeholder.known(header.value, of: name) { return value }
        let isOther = name == "authorization" && Placeholder.hasOtherScheme(header.value)
        return isOther && namesAppleHost ? header.value : nil
    }

    private var lacksToken: Bool {
        isWhole && namesAPNs && namesAppleHost
            && !headers.contains { $0.name == "authorization" }
    }

    /// Whether the command sends to Azure Notification Hubs, in Apple's format.
    var isForAzure: Bool {
        headers.contains {
            $0.name == "servicebusnotification-format" && $0.value.hasPrefix("apple")
        }
    }

    /// The service that the command sends to, or that it is another server.
    var destination: WrapperRequest.Destination? {
        guard let url = url?.text else { return nil }
        if url.contains("fcm.googleapis.com/fcm/send") { return .formerFirebase }
        if url.contains("exp.host/") { return .expo }
        return isForOwnServer && !url.contains("googleapis.com") ? .other : nil
    }

    /// Whether the command sends to Firebase.
    var isForFirebase: Bool {
        destination == .formerFirebase
            || url?.text.contains("fcm.googleapis.com/v1/projects/") == true
    }

    /// Whether the command sends to a service itself, not to a server that may change the request.
    var isForService: Bool {
        isForFirebase || url?.text.contains("onesignal.com/") == true
    }

    /// The path of the request, with a placeholder for a device token that is not in the script.
    var path: String? { url.flatMap { Self.path(of: $0.text) }.map(Placeholder.filled(path:)) }

    /// The path of a URL.
    static func path(of url: String) -> String? {
        let start = url.firstRange(of: "://").map { $0.upperBound } ?? url.startIndex
        let rest = url[start...]
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        return String(rest[slash...].prefix { $0 != "?" })
    }
}
