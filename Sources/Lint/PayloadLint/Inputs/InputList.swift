// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file to check.
struct LintInput: Hashable, Sendable {
    /// The path in reports: as given, or below the given folder. `-` is standard input.
    let path: String
    /// Whether the file was given by name, not by a folder or a pattern.
    let isNamed: Bool
    /// Whether it can be read only once: standard input or a pipe.
    var isStream = false
    /// The folder of the file, in which the search for its settings starts.
    var folder: String {
        guard path != "-", let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

/// The files that paths, folders and patterns expand to, without duplicates, in a deterministic
/// order.
struct InputList {
    /// The folder that is skipped unless it is given by name, because it contains third-party
    /// files.
    static let foreignFolder = "node_modules"
    /// The extensions of the files that are checked in folders.
    static let extensions: Set = ["json", "apns", "yaml", "yml", "jsonl", "ndjson"]

    /// The files, in the order of the arguments, and by name in a folder.
    private(set) var files: [LintInput] = []
    /// Arguments that do not exist or cannot be listed.
    private(set) var problems: [LintProblem] = []
    private var seen: Set<String> = []
    /// The given folder, or the folder where a pattern starts, without symbolic links.
    private var boundary: String?

    /// Expands the arguments.
    init(_ arguments: [String]) {
        for argument in arguments { add(argument) }
    }

    private mutating func add(_ argument: String) {
        let (count, problemCount) = (files.count, problems.count)
        switch argument == "-" ? .stream : PathKind(path: argument) {
        case .file: add(file: argument, isNamed: true)
        case .stream: add(file: argument, isNamed: true, isStream: true)
        case .folder:
            boundary = realPath(argument)
            walk(argument)
            if files.count == count, problems.count == problemCount {
                problems.append(
                    LintProblem(
                        .missing,
                        "\(argument) holds no file to check. Name a file, or a folder with files "
                            + "that end in .json, .apns, .yaml, .yml, .jsonl or .ndjson. "
                            + "Symbolic links that lead out of it are not followed."))
            }
        case nil:
            guard GlobPattern.isPattern(argument) else {
                problems.append(Self.missing(argument))
                return
            }
            expand(GlobPattern(argument))
            if files.count == count, problems.count == problemCount {
                problems.append(
                    LintProblem(.missing, "\(argument) matches no file. Check the pattern."))
            }
        }
    }

    private mutating func add(file path: String, isNamed: Bool, isStream: Bool = false) {
        let path = Self.tidy(path)
        guard seen.insert(path).inserted else { return }
        files.append(LintInput(path: path, isNamed: isNamed, isStream: isStream))
    }

    /// Adds the files of a folder and its subfolders. Symbolic links to folders are not followed,
    /// so that the walk ends, nor are links to files outside the given folder.
    private mutating func walk(_ folder: String) {
        for name in list(folder) where !Self.isPassedOver(name) {
            let path = Self.join(folder, name)
            guard !leadsOut(path) else { continue }
            switch PathKind(path: path) {
            case .folder: if !isLink(path) { walk(path) }
            case .file: if Self.isPicked(name) { add(file: path, isNamed: false) }
            case .stream: continue
            case nil:
                // It was listed before, so the path may be too long for the system.
                if path.utf8.count >= Int(PATH_MAX) {
                    problems.append(Self.tooDeep(path))
                } else if Self.isPicked(name), Self.isRepaired(name) {
                    problems.append(Self.missing(path))
                }
            }
        }
    }

    /// The problem of an argument that does not exist or is not valid.
    private static func missing(_ path: String) -> LintProblem {
        if isHidden(path) {
            return LintProblem(
                .notAllowed,
                "\(path) may not be looked up. Check the permissions of its folders.", path: path)
        }
        return LintProblem(
            .missing,
            isRepaired(path)
                ? "\(path) cannot be opened: its name is not UTF-8. Rename the file."
                : "\(path) does not exist. Check the path.", path: path)
    }

    /// The problem of a path that is too long for the system.
    private static func tooDeep(_ path: String) -> LintProblem {
        LintProblem(
            .missing,
            "\(path.prefix(60))… cannot be opened: its path has \(path.utf8.count) bytes, and the "
                + "system takes fewer than \(PATH_MAX). Run rouse in a folder further in.")
    }

    /// Whether a name contains the replacement of bytes that are not UTF-8.
    private static func isRepaired(_ name: String) -> Bool { name.contains("\u{fffd}") }

    private mutating func expand(_ pattern: GlobPattern) {
        for components in pattern.alternatives {
            // The last component is matched, not a folder to search.
            let names = components.dropLast().prefix {
                if case .name = $0 { true } else { false }
            }
            let folder = names.reduce(pattern.isAbsolute ? "/" : "") { folder, component in
                guard case .name(let name) = component else { return folder }
                return Self.join(folder, name)
            }
            boundary = realPath(folder.isEmpty ? "." : folder)
            expand(components[...], in: pattern.isAbsolute ? "/" : "")
        }
    }

    private mutating func expand(_ components: ArraySlice<GlobPattern.Component>, in folder: String)
    {
        guard let component = components.first else {
            switch PathKind(path: folder) {
            case .folder: walk(folder)
            case .file: add(file: folder, isNamed: false)
            case nil where Self.isRepaired(folder): problems.append(Self.missing(folder))
            case .stream, nil: break
            }
            return
        }
        let rest = components.dropFirst()
        switch component {
        case .name(let name):
            let path = Self.join(folder, name)
            if PathKind(path: path) != nil { expand(rest, in: path) }
        case .wildcards:
            for name in list(folder) where component.matches(name) {
                let path = Self.join(folder, name)
                if leadsOut(path) { continue }
                if rest.isEmpty || PathKind(path: path) == .folder { expand(rest, in: path) }
            }
        case .anyFolders:
            if rest.isEmpty { return walk(folder.isEmpty ? "." : folder) }
            expand(rest, in: folder)
            for name in list(folder) where !Self.isPassedOver(name) {
                let path = Self.join(folder, name)
                if PathKind(path: path) == .folder, !isLink(path) { expand(components, in: path) }
            }
        }
    }

    /// Whether a path is a symbolic link that leads out of the given folder. A link must not make a
    /// run read, or write with `--fix`, files elsewhere.
    private func leadsOut(_ path: String) -> Bool {
        guard isLink(path) else { return false }
        guard let boundary, let target = realPath(path) else { return true }
        return !target.hasPrefix(boundary == "/" ? boundary : boundary + "/")
    }

    private mutating func list(_ folder: String) -> [String] {
        do throws(LintProblem) {
            return try entries(ofFolder: folder.isEmpty ? "." : folder)
        } catch {
            problems.append(error)
            return []
        }
    }

    /// Whether a file in a folder is checked, by its extension.
    static func isPicked(_ name: String) -> Bool {
        guard let dot = name.lastIndex(of: ".") else { return false }
        return extensions.contains(name[name.index(after: dot)...].lowercased())
    }

    private static func isPassedOver(_ name: String) -> Bool {
        name.hasPrefix(".") || name == foreignFolder
    }

    private static func join(_ folder: String, _ name: String) -> String {
        if folder.isEmpty || folder == "." { return name }
        return folder.hasSuffix("/") ? folder + name : folder + "/" + name
    }

    /// The path without a leading `./` and without duplicate slashes, so that each file has one
    /// path.
    static func tidy(_ path: String) -> String {
        var tidied = ""
        for character in path where !(character == "/" && tidied.hasSuffix("/")) {
            tidied.append(character)
        }
        while tidied.hasPrefix("./"), tidied.utf8.count > 2 { tidied.removeFirst(2) }
        return tidied
    }
}
