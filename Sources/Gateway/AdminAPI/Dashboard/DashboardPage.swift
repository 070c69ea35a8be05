// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import NIOCore
import OpenSSLCrypto
import WakeModel

/// The dashboard as one HTML document with inline styles and scripts, so that a browser requests
/// nothing else but data.
///
/// The document has no data, and is served without an API key. Its scripts request the data with
/// the key that the user enters.
struct DashboardPage: Sendable {
    /// The media type of the document.
    static let mediaType = "text/html; charset=utf-8"

    /// The document in UTF-8. All answers share it: copies would add up for a caller that asks
    /// often and does not read.
    let document: ByteBuffer
    /// The Content-Security-Policy (W3C, Level 3): allows the inline scripts and styles, by their
    /// digests, and requests to this origin.
    let contentSecurityPolicy: String
    /// The ETag, a digest of the document (RFC 9110 §8.8.3).
    let entityTag: String

    /// The page made of the files in the program.
    static let embedded = DashboardPage(.embedded)

    /// Creates the page. `dashboard.html` links styles and scripts, each on a line of its own; each
    /// such line is replaced by the file that it names.
    init(_ files: DashboardFiles) {
        var lines: [String] = []
        var styleDigests: [String] = []
        var scriptDigests: [String] = []
        for line in files.text("dashboard.html").split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            if let name = Self.name(in: line, "<link rel=\"stylesheet\" href=\"", "\">") {
                let text = files.inlined(name, in: "style")
                styleDigests.append(Self.source(of: text))
                lines.append("<style>\(text)</style>")
            } else if let name = Self.name(in: line, "<script src=\"", "\"></script>") {
                let text = files.inlined(name, in: "script")
                scriptDigests.append(Self.source(of: text))
                lines.append("<script>\(text)</script>")
            } else {
                lines.append(String(line))
            }
        }
        document = ByteBuffer(string: lines.joined(separator: "\n"))
        contentSecurityPolicy = Self.policy(styles: styleDigests, scripts: scriptDigests)
        entityTag = "\"\(Self.digest(of: document.readableBytesView))\""
    }

    /// The text between `start` and `end`, if they begin and end the line, white space aside.
    private static func name(
        in line: some StringProtocol, _ start: String, _ end: String
    ) -> String? {
        let text = line.trimmed
        guard text.hasPrefix(start), text.hasSuffix(end) else { return nil }
        return String(text.dropFirst(start.count).dropLast(end.count))
    }

    /// The policy. It requires trusted types and allows none, so that scripts cannot turn text from
    /// the gateway into markup.
    private static func policy(styles: [String], scripts: [String]) -> String {
        [
            "default-src 'none'",
            "script-src \(scripts.joined(separator: " "))",
            "style-src \(styles.joined(separator: " "))",
            "connect-src 'self'", "img-src data:", "base-uri 'none'", "form-action 'none'",
            "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
        ].joined(separator: "; ")
    }

    private static func source(of text: String) -> String { "'sha256-\(digest(of: text.utf8))'" }

    private static func digest(of bytes: some Collection<UInt8>) -> String {
        Data(SHA256.digest(of: bytes)).base64EncodedString()
    }
}

extension DashboardFiles {
    /// The text of a file, which must exist.
    fileprivate func text(_ name: String) -> String {
        guard let text = texts[name] else {
            preconditionFailure("The dashboard names \(name), which is not in the program.")
        }
        return text
    }

    /// The text of a file, for an inline element. Traps if the text would end the element or begin
    /// a comment in it.
    fileprivate func inlined(_ name: String, in element: String) -> String {
        let text = "\n" + text(name)
        precondition(
            !text.contains("</\(element)") && !text.contains("<!--"),
            "\(name) has text that ends the element it stands in.")
        return text
    }
}
