// SPDX-License-Identifier: Apache-2.0

/// What one source file has, whatever it is built with.
struct SourceLook: Sendable {
    /// The text; `nil` if rules are known to need none of it.
    let bytes: [UInt8]?
    /// The words in the text, and whether rules need one of them; `nil` if that was known.
    let words: (sketch: WordSketch, mayMatter: Bool)?
    /// What rules need of it; `nil` if it is too large to be parsed.
    let digest: SourceDigest?

    /// Reads a file, and parses it if rules need it, unless more is known of it.
    init(_ path: String, _ known: SourceIndex.Known) throws(FileFailure) {
        guard known.mayMatter != false else {
            (bytes, words, digest) = (nil, nil, SourceDigest())
            return
        }
        let text: [UInt8]
        if let kept = known.text {
            text = kept
        } else {
            text = try FileTree.read(path, limit: AuditLimits.filteredBytes)
        }
        let words = known.mayMatter == nil ? WordFilter.rules.look(at: text) : nil
        bytes = text
        self.words = words.map { ($0.sketch, $0.finds) }
        if words?.finds == false {
            // Most files contain none of the words that rules need.
            digest = SourceDigest()
        } else if text.count <= AuditLimits.sourceBytes {
            digest = SourceReader.digest(of: SourceText(text, path: path))
        } else {
            digest = nil
        }
    }
}
