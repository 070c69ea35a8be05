// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// The time at which code runs by the calls of its function, in any file, and by the answer of the
/// user.
@Suite("Occasions")
struct OccasionTests {
    /// The observations in files of one target.
    static func subjects(_ files: [String: String]) throws -> [SourceObservation.Subject] {
        let folder = try TestFolder()
        var list = SourceList()
        for (name, text) in files { try folder.write(text, to: name) }
        list.add(files.keys.sorted().map { folder.path + "/" + $0 })
        return FileLibrary().facts(of: list)?.observations.map(\.subject) ?? []
    }
}
