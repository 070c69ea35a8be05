// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// The limits of this module, so that no input takes unbounded time or memory.
enum LintLimits {
    /// The maximum size of a file that is read as one document, in bytes: 16 MiB, as for the
    /// scanner. A larger file can only be JSON lines.
    static let documentBytes = JSONScanner.maximumByteCount
    /// The number of bytes that determine the kind of an input. A larger file of JSON lines is read
    /// in blocks.
    static let headBytes = 1_048_576
    /// The number of bytes that determine whether an input is text.
    static let textSampleBytes = 8192
    /// The number of bytes of JSON lines that are processed at once.
    static let blockBytes = 262_144
    /// The maximum size of a YAML document, in bytes.
    static let yamlBytes = 1_048_576
    /// The maximum size of the JSON for a YAML document, in bytes, with aliases expanded.
    static let yamlExpandedBytes = 1_048_576
    /// The maximum number of aliases in a YAML document. Nested aliases need stack space.
    static let yamlAliases = 256
    /// The maximum size of a configuration file, in bytes.
    static let configurationBytes = 1_048_576
    /// The maximum size of a baseline, in bytes.
    static let baselineBytes = 16_777_216
    /// The number of files that a worker checks before it returns results.
    static let filesPerBatch = 32
    /// The maximum number of units per worker that are in progress or wait for the oldest one.
    static let unitsPerWorker = 4
    /// The maximum number of rounds in which a text is checked and fixed.
    static let mendingRounds = 8
    /// The size up to which a text is read again for the place of a finding, in bytes.
    static let unindexedBytes = 4096
    /// The maximum number of columns of a source line in a report.
    static let excerptColumns = 100
    /// The maximum number of findings of one file in a JUnit report, which is buffered.
    static let junitFindingsPerFile = 1000
    /// The maximum number of expansions of a pattern's braces.
    static let patternAlternatives = 256
    /// The maximum number of changed lines for which a minimal diff is computed; a text with more
    /// is shown as replaced.
    static let diffChanges = 400
    /// The comments of a file that are told of because they name what is no rule.
    static let misreadComments = 10
}
