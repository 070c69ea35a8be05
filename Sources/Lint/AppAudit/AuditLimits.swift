// SPDX-License-Identifier: Apache-2.0

/// Every limit of the audit. Input over a limit is reported and never read in part.
enum AuditLimits {
    /// The largest Info.plist or entitlements file, in bytes.
    static let propertyListBytes = 4 << 20
    /// The largest `project.pbxproj`, in bytes.
    static let projectBytes = 64 << 20
    /// The largest file of source text that is taken apart, in bytes.
    static let sourceBytes = 4 << 20
    /// The largest file of source text that is looked through for the words of the rules, in bytes.
    static let filteredBytes = 64 << 20
    /// The largest file of build settings, in bytes.
    static let settingsBytes = 1 << 20
    /// The largest signed program or provisioning profile, in bytes.
    static let signedBytes = 512 << 20
    /// How deeply the containers of a property list may be nested.
    static let propertyListDepth = 64
    /// The values of one property list. A binary one can name a value more than once.
    static let propertyListValues = 500_000
    /// The longest pointer into a property list, in bytes; deeper values have their parent's.
    static let pointerBytes = 256
    /// How often a build setting's value may name another's.
    static let settingDepth = 16
    /// The longest value that build settings may grow to, in bytes.
    static let settingBytes = 64 << 10
    /// How many files of build settings may include each other.
    static let settingsFiles = 64
    /// How deep folders are searched.
    static let folderDepth = 40
    /// The entries of folders that are looked at in one audit.
    static let folderEntries = 1_000_000
    /// How deep literals of source text may nest their interpolations.
    static let sourceDepth = 64
    /// The scopes around a word that are looked at, from the innermost.
    static let scopeDepth = 128
    /// The words of a declaration's head, or of an expression, that are looked at.
    static let headWords = 200
    /// The observations of one source file that are kept.
    static let observationsPerFile = 1000
}
