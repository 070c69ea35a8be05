// SPDX-License-Identifier: Apache-2.0

/// Where settings come from.
public enum SettingsSource: Hashable, Sendable {
    /// The nearest `.rouse-lint.yaml` above each file.
    case nearest
    /// One file for everything.
    case file(String)
    /// No file.
    case none
}

/// Finds the settings of each file's folder, and reads each configuration file once.
package struct SettingsSearch {
    /// A configuration and the folder that its patterns begin in.
    package struct Found: Sendable {
        /// What the file says.
        package var configuration = LintConfiguration()
        /// The known findings.
        package var baseline: Baseline?
        /// From the root, without symbolic links; empty for settings that no file gives.
        var folder = ""
        /// The folder that patterns begin in too, where the file was named and may lie anywhere:
        /// the one that the command runs in.
        var currentFolder: String?

        /// No settings.
        package init() {}

        /// Whether a path from the root is one that the configuration passes over.
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
    /// All settings that were found, each once.
    package private(set) var found: [Found] = []
    private var indexByFolder: [String: Int] = [:]
    private var indexByFile: [String: Int] = [:]

    /// Looks nowhere yet. A run that writes a baseline reads none: it may not be there yet.
    package init(_ source: SettingsSource, readsBaselines: Bool = true) {
        self.source = source
        self.readsBaselines = readsBaselines
    }

    /// The index in ``found`` of the settings for a folder, or for the folder of a file.
    package mutating func index(forPath path: String) throws(LintProblem) -> Int {
        let isFolder = PathKind(path: path) == .folder
        return try index(
            forFolder: isFolder ? path : LintInput(path: path, isNamed: true).folder)
    }

    /// The index in ``found`` of the settings for a folder's files.
    package mutating func index(forFolder folder: String) throws(LintProblem) -> Int {
        if let index = indexByFolder[folder] { return index }
        let index: Int
        switch source {
        case .none: index = try self.index(ofFile: nil)
        case .file(let path): index = try self.index(ofFile: path)
        case .nearest: index = try self.index(ofFile: Self.nearestFile(to: folder))
        }
        indexByFolder[folder] = index
        return index
    }

    private mutating func index(ofFile path: String?) throws(LintProblem) -> Int {
        if let index = indexByFile[path ?? ""] { return index }
        var new = Found()
        if let path {
            new.configuration = try LintConfiguration(path: path)
            let real = realPath(path) ?? path
            new.folder = real.lastIndex(of: "/").map { String(real[..<$0]) } ?? "."
            if case .file = source { new.currentFolder = realPath(".") }
            if readsBaselines, let baseline = new.configuration.baseline {
                let path = baseline.hasPrefix("/") ? baseline : new.folder + "/" + baseline
                new.baseline = try Baseline(readingFrom: path)
            }
        }
        found.append(new)
        indexByFile[path ?? ""] = found.count - 1
        return found.count - 1
    }

    private static func nearestFile(to folder: String) -> String? {
        var folder = realPath(folder) ?? folder
        while true {
            let path = (folder == "/" ? "" : folder) + "/" + LintConfiguration.fileName
            if PathKind(path: path) == .file { return path }
            guard let slash = folder.lastIndex(of: "/"), folder != "/" else { return nil }
            folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
        }
    }
}
