// SPDX-License-Identifier: Apache-2.0

/// The source of settings.
public enum SettingsSource: Hashable, Sendable {
    /// The `.rouse-lint.yaml` or `.rouse-lint.yml` in the nearest parent folder: of each file for
    /// payloads, of the first path for apps.
    case nearest
    /// One file for all inputs.
    case file(String)
    /// No file.
    case none
}

/// Finds the settings of each file's folder. Reads each configuration file once.
package struct SettingsSearch {
    /// A configuration with the folder of its patterns.
    package struct Found: Sendable {
        /// The settings of the file.
        package var configuration = LintConfiguration()
        /// The path of the file; `nil` if there is none.
        package var file: String?
        /// The known findings.
        package var baseline: Baseline?
        /// The absolute path, without symbolic links; empty if there is no file.
        var folder = ""
        /// The working directory, to which patterns are relative too if the file was given by name,
        /// because it may be in another folder.
        var currentFolder: String?

        /// Creates empty settings.
        package init() {}

        /// Whether the configuration excludes an absolute path.
        package func excludes(_ path: String) -> Bool {
            guard !configuration.excluded.isEmpty else { return false }
            return [folder, currentFolder].contains { folder in
                guard let folder, path.hasPrefix(folder + "/") else { return false }
                let rest = String(path.dropFirst(folder.count + 1))
                return configuration.excluded.contains { $0.covers(rest) }
            }
        }
    }

    private let source: SettingsSource
    private let readsBaselines: Bool
    /// All settings that were found, without duplicates.
    package private(set) var found: [Found] = []
    private var indexByFolder: [String: Int] = [:]
    private var indexByFile: [String: Int] = [:]

    /// Creates a search. A run that writes a baseline does not read one, because it may not exist
    /// yet.
    package init(_ source: SettingsSource, readsBaselines: Bool = true) {
        self.source = source
        self.readsBaselines = readsBaselines
    }

    /// The index in ``found`` of the settings for a folder, or for the folder of a file. Throws if
    /// they cannot be read.
    package mutating func index(forPath path: String) throws(LintProblem) -> Int {
        try index(forFolder: Self.folder(ofPath: path))
    }

    /// The path of the settings file that is nearest to a folder or a file; `nil` if there is none.
    /// Throws if a folder has files of both names.
    package static func nearestFile(toPath path: String) throws(LintProblem) -> String? {
        try nearestFile(to: folder(ofPath: path))
    }

    private static func folder(ofPath path: String) -> String {
        PathKind(path: path) == .folder ? path : LintInput(path: path, isNamed: true).folder
    }

    /// The index in ``found`` of the settings for the files of a folder. Throws if they cannot be
    /// read.
    package mutating func index(forFolder folder: String) throws(LintProblem) -> Int {
        if let index = indexByFolder[folder] { return index }
        let index: Int
        switch source {
        case .none: index = try self.index(ofFile: nil)
        case .file(let path): index = try self.index(ofFile: path)
        case .nearest: index = try self.index(ofFile: try Self.nearestFile(to: folder))
        }
        indexByFolder[folder] = index
        return index
    }

    private mutating func index(ofFile path: String?) throws(LintProblem) -> Int {
        if let index = indexByFile[path ?? ""] { return index }
        var new = Found()
        if let path {
            new.configuration = try LintConfiguration(path: path)
            new.file = path
            let real = realPath(path) ?? path
            new.folder = real.lastIndex(of: "/").map { String(real[..<$0]) } ?? "."
            if case .file = source { new.currentFolder = realPath(".") }
            if readsBaselines, let baseline = new.configuration.baseline {
                let path = baseline.hasPrefix("/") ? baseline : new.folder + "/" + baseline
                do throws(LintProblem) {
                    new.baseline = try Baseline(readingFrom: path)
                } catch {
                    guard error.kind == .missing else { throw error }
                    throw LintProblem(
                        .configuration,
                        "\(new.file ?? ""): `baseline` names \(baseline), which cannot be read. "
                            + "Make it with --write-baseline, or leave the key out.")
                }
            }
        }
        found.append(new)
        indexByFile[path ?? ""] = found.count - 1
        return found.count - 1
    }

    private static func nearestFile(to folder: String) throws(LintProblem) -> String? {
        var folder = realPath(folder) ?? folder
        while true {
            let paths = LintConfiguration.fileNames.map { (folder == "/" ? "" : folder) + "/" + $0 }
            let files = paths.filter { PathKind(path: $0) == .file }
            guard files.count < 2 else {
                throw LintProblem(
                    .configuration,
                    "\(files[0]) and \(LintConfiguration.fileNames[1]) are in one folder. Keep one."
                )
            }
            if let file = files.first { return realPath(file) ?? file }
            guard let slash = folder.lastIndex(of: "/"), folder != "/" else { return nil }
            folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
        }
    }
}
