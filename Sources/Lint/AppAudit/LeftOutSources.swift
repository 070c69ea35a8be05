// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Source files that no target has, beside or below those of an app, though they have code of
/// background execution.
struct LeftOutSources {
    private static let words: Set = [
        "PKPushRegistry", "BGTaskScheduler", "beginBackgroundTask", "beginBackgroundTaskWithName",
        "beginBackgroundTaskWithExpirationHandler",
        "backgroundSessionConfigurationWithIdentifier",
    ]
    private static let session = Array("background(withIdentifier".utf8)

    private let files: [String]

    /// Finds such files. `built` has the files of all targets, and is asked for only if needed.
    init(
        among sources: [String], below projects: [String], _ library: FileLibrary,
        built: () -> Set<String>
    ) {
        let examined = library.examinedFolders.subtracting(projects)
        let near = sources.filter { path in
            !library.wasExamined(path) && !Self.isOfTests(path, below: projects)
                && Self.folders(of: path).contains(where: examined.contains)
        }
        let words = library.tree.index.words(Self.words)
        let found = near.filter { path in
            let index = library.tree.index
            if index.words(words, .named, in: path)?.isEmpty == false { return true }
            return (try? index.text(of: path))?.firstRange(of: Self.session) != nil
        }
        files = found.isEmpty ? [] : found.filter { [built = built()] in !built.contains($0) }
    }

    /// The entry of the report; `nil` if there are no such files.
    var unjudged: AuditReport.Unjudged? {
        guard !files.isEmpty else { return nil }
        let names = files.prefix(5).joined(separator: ", ") + (files.count > 5 ? ", …" : "")
        let count =
            files.count == 1
            ? "1 source file with code for the background is"
            : "\(files.count) source files with code for the background are"
        return AuditReport.Unjudged(
            targets: [], reason: "\(count) in no target (\(names))", rules: [])
    }

    /// The folders that a file is in, the innermost first.
    private static func folders(of path: String) -> [String] {
        var folders: [String] = []
        var folder = Paths.folder(of: path)
        while folders.last != folder, folders.count < AuditLimits.folderDepth {
            folders.append(folder)
            folder = Paths.folder(of: folder)
        }
        return folders
    }

    /// Whether a file is in a folder of tests, or in one of pods, or named as a test, as far as its
    /// path below its project says.
    private static func isOfTests(_ path: String, below projects: [String]) -> Bool {
        let project = projects.filter { Paths.contains($0, path) }.max { $0.count < $1.count }
        return path.dropFirst(project.map { $0 == "." ? 0 : $0.count } ?? 0).split(separator: "/")
            .contains { name in
                let stem = name.prefix { $0 != "." && $0 != "+" }
                return ["test", "tests", "spec", "specs", "mock", "mocks", "pods"]
                    .contains(stem.lowercased())
                    || ["Test", "Tests", "Spec", "Specs", "Mock", "Mocks"]
                        .contains(where: stem.hasSuffix)
                    || stem.hasPrefix("Mock")
            }
    }
}
