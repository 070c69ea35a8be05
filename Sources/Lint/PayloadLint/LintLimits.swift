// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// The limits of this module, so that no input takes unbounded time or memory.
enum LintLimits {
    /// The longest file that is read as one document, in bytes: 16 MiB, as much as the scanner
    /// reads. What is longer can only be JSON lines.
    static let documentBytes = JSONScanner.maximumByteCount
    /// How much of an input is read to determine its kind, in bytes. A file of JSON lines that is
    /// no longer is read as a whole, a longer one in blocks.
    static let headBytes = 1_048_576
    /// How much of an input is read to determine whether it is text, in bytes.
    static let textSampleBytes = 8192
    /// How many bytes of JSON lines are read, checked and forgotten together.
    static let blockBytes = 262_144
    /// The longest YAML document that is read, in bytes.
    static let yamlBytes = 1_048_576
    /// The most bytes of JSON that a YAML document may expand to, aliases included.
    static let yamlExpandedBytes = 1_048_576
    /// The most aliases in a YAML document. They nest, and each one costs stack where they do.
    static let yamlAliases = 256
    /// The longest configuration file that is read, in bytes.
    static let configurationBytes = 1_048_576
    /// The longest baseline that is read, in bytes.
    static let baselineBytes = 16_777_216
    /// How many files one worker checks before it hands its results on.
    static let filesPerBatch = 32
    /// How many units of work may be finished or under way before the oldest is written, for each
    /// worker.
    static let unitsPerWorker = 4
    /// How often a text is checked and fixed at most; what is left then is not fixed.
    static let mendingRounds = 8
    /// The most columns of a source line that a report shows.
    static let excerptColumns = 100
    /// The most findings of one file in a JUnit report, which has to be held until it is written.
    static let junitFindingsPerFile = 1000
    /// The most alternatives that the braces of a pattern may expand to.
    static let patternAlternatives = 256
    /// The most line changes that are looked for to keep a diff small; a text that differs more is
    /// shown as replaced.
    static let diffChanges = 400
}
