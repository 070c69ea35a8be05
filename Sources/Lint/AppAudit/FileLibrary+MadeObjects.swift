// SPDX-License-Identifier: Apache-2.0

/// Looks at what other files do with registries and providers.
extension FileLibrary {
    /// The maximum number of files that are read for one name.
    private static let filesOfOne = 16

    /// Whether one of some files may give an object of this name what it lacks.
    func mayComplete(
        _ made: SourceReader.MadeObject, named name: String, in files: SourceDigest.Others
    ) -> Bool {
        guard files.count <= Self.filesOfOne else { return true }
        return files.contains { path in
            text(path).map { SourceReader($0).mayComplete(made, named: name) } ?? true
        }
    }
}
