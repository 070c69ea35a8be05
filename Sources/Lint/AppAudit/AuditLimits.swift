// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The limits of the audit. Input over a limit is reported and not read at all.
enum AuditLimits {
    /// The maximum size of an Info.plist or an entitlements file, in bytes.
    static let propertyListBytes = 4 << 20
    /// The maximum size of a `project.pbxproj`, in bytes.
    static let projectBytes = 64 << 20
    /// The maximum size of a source file that is parsed, in bytes.
    static let sourceBytes = 4 << 20
    /// The maximum size of a source file that is searched for the words of the rules, in bytes.
    static let filteredBytes = 64 << 20
    /// The number of source files that are read before any of them is set aside.
    static let filesAtOnce = 128
    /// The number of threads that examine source files.
    static let threads = min(8, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    /// The maximum size of the source text that is kept for later questions, in bytes.
    static let keptBytes = 8 << 20
    /// The maximum size of a build settings file, in bytes.
    static let settingsBytes = 1 << 20
    /// The maximum size of a signed program or a provisioning profile, in bytes.
    static let signedBytes = 512 << 20
    /// The maximum depth of containers in a property list.
    static let propertyListDepth = 64
    /// The maximum number of values in a property list. A binary one can refer to a value several
    /// times.
    static let propertyListValues = 500_000
    /// The maximum number of values in a `project.pbxproj`: a listed file is nine of them.
    static let projectValues = 2_000_000
    /// The maximum length of a pointer into a property list, in bytes; deeper values have that of
    /// their parent.
    static let pointerBytes = 256
    /// The maximum depth of references between build settings.
    static let settingDepth = 16
    /// The maximum length of the value of a build setting, in bytes.
    static let settingBytes = 64 << 10
    /// The maximum number of build settings files that include each other.
    static let settingsFiles = 64
    /// The maximum number of shared schemes that are read for a project.
    static let schemes = 128
    /// The maximum number of lazy sessions in a source file.
    static let lazySessions = 8
    /// The maximum depth of folders.
    static let folderDepth = 40
    /// The maximum number of folder entries in one audit.
    static let folderEntries = 1_000_000
    /// The maximum depth of interpolations in string literals.
    static let sourceDepth = 64
    /// The maximum number of scopes around a token that are examined, from the innermost.
    static let scopeDepth = 128
    /// The maximum number of folders of plugins whose manifests are read for one app.
    static let pluginFolders = 200
    /// The maximum number of tokens of a declaration's head, or of an expression.
    static let headWords = 200
    /// The maximum number of tokens between a `sink` and its last closure.
    static let sinkWords = 2_000
    /// The maximum number of calls in one function that ask for time and are followed.
    static let beginsPerFunction = 32
    /// The maximum number of places of a fault in one function, besides the first.
    static let placesPerFault = 16
    /// The maximum number of observations in one source file.
    static let observationsPerFile = 1000
}
