// SPDX-License-Identifier: Apache-2.0

/// Looks in scripts for what may sign in for their commands.
extension DocumentReader {
    /// Whether a script has an alias or a function `curl`, or names a file of settings or a proxy:
    /// each may sign in for its commands.
    static func maySignInElsewhere(_ script: [UInt8]) -> Bool {
        if ["curlrc", "CURL_HOME", "_proxy", "_PROXY"].contains(where: {
            script.firstRange(of: $0.utf8) != nil
        }) {
            return true
        }
        let blanks: Set = [UInt8(ascii: " "), UInt8(ascii: "\t")]
        return script.ranges(of: "curl".utf8).contains { word in
            let rest = script[word.upperBound...]
            if rest.first == UInt8(ascii: "=") { return true }
            if rest.first(where: { !blanks.contains($0) }) == UInt8(ascii: "(") { return true }
            let before = script[..<word.lowerBound].suffix(16)
            let last = before.lastIndex { !blanks.contains($0) } ?? before.startIndex
            return last + 1 < word.lowerBound
                && script[...last].suffix(8).elementsEqual("function".utf8)
        }
    }
}
