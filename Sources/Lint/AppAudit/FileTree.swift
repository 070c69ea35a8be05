// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import PayloadLint

/// The files below the paths of an audit.
final class FileTree {
    /// Folders with third-party files or build products.
    private static let skippedFolders: Set = [
        "node_modules", "Pods", "Carthage", "DerivedData", "SourcePackages", "build", "xcuserdata",
    ]
    /// Extensions of folders that are packages without source text.
    private static let skippedEndings = [
        ".xcassets", ".framework", ".xcframework", ".bundle", ".lproj", ".xcdatamodeld", ".docc",
        ".playground", ".dSYM",
    ]

    /// What the source files contain.
    let index = SourceIndex()
    private var entriesLeft = AuditLimits.folderEntries
    /// Listed folders, so that targets that share one do not list it again.
    private var listed: [String: [String]] = [:]
    /// Whether a folder is listed to find what to audit, and not for a target.
    private var isSearching = false
    /// The settings, which can exclude files and folders.
    var settings = SettingsSearch.Found()

    /// The files and folders that the settings exclude.
    private(set) var excludedPlaces: Set<String> = []

    /// The files with settings in the folders that were listed.
    private(set) var settingsFiles: [String] = []

    /// The folders that could not be listed.
    private(set) var unreadableFolders: Set<String> = []

    /// The folders with names that are not UTF-8, which a report cannot show: files with such names
    /// were not examined.
    private(set) var foldersOfOddNames: Set<String> = []

    /// Whether there were more entries than the limit.
    var isExhausted: Bool { entriesLeft <= 0 }

    /// The kind of file at a path.
    enum Kind {
        case file
        case folder
    }

    /// The working directory.
    static var currentFolder: String { FileManager.default.currentDirectoryPath }

    /// The kind of file at a path; `nil` for none.
    static func kind(of path: String) -> Kind? {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            return nil
        }
        return isFolder ? .folder : .file
    }

    /// The files of a folder to audit, as ``files(below:)``, without those that the settings
    /// exclude.
    func filesToAudit(below folder: String) -> [String] {
        isSearching = true
        defer { isSearching = false }
        var files: [String] = []
        collect(Self.place(of: folder), depth: 0, into: &files)
        if settings.configuration.excluded.isEmpty { listed[folder] = files }
        return files
    }

    /// The files below a folder at any depth, ordered by path. Hidden folders and those of tests,
    /// builds and third-party packages are skipped; symbolic links are not followed. A target is
    /// built with what the settings exclude too.
    func files(below folder: String) -> [String] {
        if let known = listed[folder] { return known }
        var files: [String] = []
        collect(Self.place(of: folder), depth: 0, into: &files)
        listed[folder] = files
        return files
    }

    /// The sources in Kotlin by the folder of an app, each of which is looked for once.
    private var kotlin: [String: KotlinSources?] = [:]

    /// The sources in Kotlin of the project of Gradle around a folder; `nil` if they are not known.
    func kotlinSources(around folder: String) -> KotlinSources? {
        if let known = kotlin[folder] { return known }
        let sources = KotlinSources(around: folder, self)
        kotlin[folder] = .some(sources)
        return sources
    }

    /// The folder whose names were looked at last, and these in lowercase; `nil` if it cannot be
    /// listed.
    private var looked: (folder: String, names: Set<String>?)?

    /// Whether a folder may have a file with a name, in any case: most sources have no header
    /// beside them, and to look for one by its path lists the folder for each.
    func mayHold(_ name: String, in folder: String) -> Bool {
        if looked?.folder != folder {
            let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
            looked = (folder, names.map { Set($0.map { $0.lowercased() }) })
        }
        return looked?.names?.contains(name.lowercased()) ?? true
    }

    /// Whether the settings exclude a file, which a project can name too.
    func excludes(_ path: String) -> Bool {
        guard !settings.configuration.excluded.isEmpty, let place = realPath(path) else {
            return false
        }
        return settings.excludes(place)
    }

    private func collect(_ folder: String, depth: Int, into files: inout [String]) {
        guard depth < AuditLimits.folderDepth else { return }
        guard let entries = Self.entries(of: folder) else {
            // A local package that a project refers to, and that does not exist, is not built.
            if Self.kind(of: folder) == .folder { unreadableFolders.insert(folder) }
            return
        }
        let isTop = folder == "."
        let hasExclusions = isSearching && !settings.configuration.excluded.isEmpty
        let place = hasExclusions ? realPath(folder) : nil
        if entries.hasOddNames { foldersOfOddNames.insert(folder) }
        if isSearching {
            settingsFiles += entries.settings.map { isTop ? $0 : folder + "/" + $0 }
        }
        let isOfDotNet = entries.named.contains { $0.name.hasSuffix(".csproj") }
        for entry in entries.named {
            guard entriesLeft > 0 else { return }
            entriesLeft -= 1
            let path = isTop ? entry.name : folder + "/" + entry.name
            if let place, settings.excludes(place + "/" + entry.name) {
                if entry.kind == .file || !Self.isSkipped(entry.name) {
                    excludedPlaces.insert(path)
                }
                continue
            }
            switch entry.kind {
            // The build products of .NET are next to its project.
            case .folder where isOfDotNet && ["bin", "obj"].contains(entry.name): continue
            case .folder where !Self.isSkipped(entry.name):
                collect(path, depth: depth + 1, into: &files)
            case .file: files.append(path)
            case .folder, nil: continue
            }
        }
    }

    /// The visible entries of a folder, ordered by name, the names of files with settings, and
    /// whether there are others whose names are not UTF-8; `nil` if it cannot be listed.
    private static func entries(
        of folder: String
    ) -> (named: [(name: String, kind: Kind?)], settings: [String], hasOddNames: Bool)? {
        guard let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var entries: [(name: String, kind: Kind?)] = []
        var settings: [String] = []
        var hasOddNames = false
        while let entry = readdir(stream) {
            let capacity = MemoryLayout.size(ofValue: entry.pointee.d_name)
            // SAFETY: readdir returns an entry whose name ends with a zero byte within `capacity`,
            // and which stays valid until the next call on this stream; the name is copied before
            // that.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: capacity) {
                    String(validatingCString: $0)
                }
            }
            guard let name else {
                hasOddNames = true
                continue
            }
            guard !name.hasPrefix(".") else {
                if LintConfiguration.fileNames.contains(name),
                    unlinkedKind(of: folder + "/" + name) == .file
                {
                    settings.append(name)
                }
                continue
            }
            switch Int32(entry.pointee.d_type) {
            case Int32(DT_DIR): entries.append((name, .folder))
            case Int32(DT_REG): entries.append((name, .file))
            // Some file systems do not return the type.
            case Int32(DT_UNKNOWN): entries.append((name, unlinkedKind(of: folder + "/" + name)))
            default: continue
            }
        }
        return (entries.sorted { $0.name < $1.name }, settings.sorted(), hasOddNames)
    }

    /// The kind of file at a path; `nil` for symbolic links and other types.
    private static func unlinkedKind(of path: String) -> Kind? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .folder
        case S_IFREG: return .file
        default: return nil
        }
    }

    /// Whether a file has no byte.
    static func isEmpty(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
    }

    /// The path of what a project names, in the spelling of this file system.
    static func place(of path: String) -> String {
        kind(of: path) == nil ? inAnyCase(path) ?? path : path
    }

    /// The file whose path differs only in case, or in how accents are encoded, as file systems of
    /// macOS find it, and so do projects built there. `nil` if there is none, or more than one.
    private static func inAnyCase(_ path: String) -> String? {
        var found = path.hasPrefix("/") ? "/" : "."
        for part in path.split(separator: "/") {
            let exact = Paths.join(found, String(part))
            if part == ".." || kind(of: exact) != nil {
                found = exact
                continue
            }
            let wanted = part.lowercased()
            let names = (try? FileManager.default.contentsOfDirectory(atPath: found)) ?? []
            let matches = names.filter { $0.lowercased() == wanted }
            guard matches.count == 1 else { return nil }
            found = Paths.join(found, matches[0])
        }
        return found
    }

    private static func isSkipped(_ name: String) -> Bool {
        skippedFolders.contains(name) || name.hasSuffix("Tests")
            || skippedEndings.contains(where: name.hasSuffix)
    }

    /// The bytes of a file, unless there are more than `limit`. Other than regular files, such as
    /// pipes and devices, are not read.
    static func read(_ path: String, limit: Int) throws(FileFailure) -> [UInt8] {
        var descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT, let other = inAnyCase(path) {
            descriptor = open(other, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        }
        guard descriptor >= 0 else {
            throw FileFailure(path: path, reason: errno == ENOENT ? .missing : .unreadable)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw FileFailure(path: path, reason: .unreadable)
        }
        let size = Int(status.st_size)
        guard size <= limit else {
            throw FileFailure(path: path, reason: .tooLarge(limit: limit))
        }
        var failed = false
        // SAFETY: `read` writes at most `size - count` bytes after the first `count` bytes, within
        // the buffer's capacity, and the buffer outlives each call.
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size, let start = buffer.baseAddress {
                let read = Glibc.read(descriptor, start + count, size - count)
                if read < 0, errno == EINTR { continue }
                failed = read < 0
                guard read > 0 else { break }
                count += read
            }
        }
        guard !failed else { throw FileFailure(path: path, reason: .unreadable) }
        return bytes
    }
}

/// The reason why a file was not read.
struct FileFailure: Error, Hashable, Sendable {
    enum Reason: Hashable, Sendable {
        case missing
        case unreadable
        case tooLarge(limit: Int)
    }

    let path: String
    let reason: Reason

    /// The reason as a clause.
    var message: String {
        switch reason {
        case .missing: "there is no such file"
        case .unreadable: "the file cannot be read"
        case .tooLarge(let limit): "the file has more than \(limit) bytes"
        }
    }
}
