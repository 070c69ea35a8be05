// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import OpenSSLCrypto

/// The dashboard as one HTML document: its style and scripts are inline, so that it requests
/// nothing but figures.
///
/// It holds no data, and so needs no key; every figure is fetched by its scripts with the key that
/// a person types.
struct DashboardPage: Sendable {
    /// The media type of the document.
    static let mediaType = "text/html; charset=utf-8"

    /// The document in UTF-8.
    let document: [UInt8]
    /// What the browser may do for the document (W3C Content Security Policy Level 3): run and
    /// apply what is in it, known by its digest, and ask this origin for figures.
    let contentSecurityPolicy: String
    /// Changes with the document (RFC 9110 §8.8.3).
    let entityTag: String

    /// The page of the files that are in the program.
    static let embedded = DashboardPage(.embedded)

    /// Puts a page together. The document names style and scripts as a browser would load them from
    /// a folder, each on a line of its own, and each line is replaced by the file that it names.
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
        document = Array(lines.joined(separator: "\n").utf8)
        contentSecurityPolicy = Self.policy(styles: styleDigests, scripts: scriptDigests)
        entityTag = "\"\(Self.digest(of: document))\""
    }

    /// The name between two marks that fill a line, white space aside.
    private static func name(
        in line: some StringProtocol, _ start: String, _ end: String
    ) -> String? {
        let text = line.trimmingCharacters(in: .whitespaces)
        guard text.hasPrefix(start), text.hasSuffix(end) else { return nil }
        return String(text.dropFirst(start.count).dropLast(end.count))
    }

    /// Trusted types are asked for and none is allowed: text from the gateway cannot become markup
    /// whatever a script does with it.
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
    /// The text of a file that is there.
    fileprivate func text(_ name: String) -> String {
        guard let text = texts[name] else {
            preconditionFailure("The dashboard names \(name), which is not in the program.")
        }
        return text
    }

    /// The text of a file made safe for an element: nothing in it ends the element, or begins a
    /// comment there.
    fileprivate func inlined(_ name: String, in element: String) -> String {
        let text = "\n" + text(name)
        precondition(
            !text.contains("</\(element)") && !text.contains("<!--"),
            "\(name) has text that ends the element it stands in.")
        return text
    }
}
