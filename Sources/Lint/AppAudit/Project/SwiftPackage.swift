// SPDX-License-Identifier: Apache-2.0

/// A Swift package in a folder near a project.
struct SwiftPackage {
    /// The names of its products and targets, and all other string literals of its manifest.
    let literals: Set<String>
    /// Its source files, without tests.
    let files: [String]
    /// The folders of local packages that it depends on.
    let localPackages: [String]
    /// The names of remote packages that it depends on.
    let remotePackages: [String]

    /// Reads a package; `nil` if the folder contains none.
    init?(_ folder: String, tree: FileTree) {
        guard
            let bytes = try? FileTree.read(
                Paths.join(folder, "Package.swift"), limit: AuditLimits.sourceBytes)
        else { return nil }
        let text = SourceText(bytes, path: Paths.join(folder, "Package.swift"))
        var literals: Set<String> = []
        var local: [String] = []
        var remote: [String] = []
        var outside: [String] = []
        for index in text.tokens.indices {
            guard case .string(isInterpolated: false) = text.tokens[index].kind else { continue }
            let value = text.tokens[index].text
            literals.insert(value)
            let isArgument = text.sees(":", at: index - 1)
            if isArgument, text[index - 2]?.isName("url") == true { remote.append(value) }
            if isArgument, text[index - 2]?.isName("path") == true {
                if Self.isOfPackage(index, text) {
                    local.append(Paths.join(folder, value))
                } else if value.hasPrefix("..") {
                    outside.append(Paths.join(folder, value))
                }
            }
        }
        self.literals = literals
        localPackages = local
        remotePackages = remote.map { Paths.stem(of: $0) }
        var folders = Self.targetFolders(in: text)?.map { Paths.join(folder, $0) }
        if folders?.contains(where: { FileTree.kind(of: $0) != .folder }) == true { folders = nil }
        let others = ["Tests", "Example", "Examples", "Demo", "Sample", "Samples", "Plugins"]
        files = ((folders ?? [folder]) + outside).flatMap(tree.files).filter { file in
            let parts = file.dropFirst(folder.count).split(separator: "/")
            return !parts.contains { others.contains(String($0)) }
                && parts.last != "Package.swift"
        }
    }

    /// The folders of the targets, below the folder of the manifest; `nil` if they cannot be
    /// determined. A source folder with the files of one target only belongs to that target.
    private static func targetFolders(in text: SourceText) -> [String]? {
        let kinds = ["target", "executableTarget", "macro"]
        var folders: Set<String> = []
        for index in text.tokens.indices
        where kinds.contains(text.tokens[index].text) && text.sees("(", at: index + 1) {
            guard text.sees(".", at: index - 1) else { return nil }
            // `.target(name: "Kit")` in a list of dependencies refers to another target.
            guard !isOfDependencies(index, text) else { continue }
            var values: [String: String] = [:]
            var word = index + 2
            while word < text.partners[index + 1] {
                if text.sees(":", at: word + 1),
                    case .string(isInterpolated: false)? =
                        text[word + 2]?.kind
                {
                    values[text.tokens[word].text] = text.tokens[word + 2].text
                }
                word = text.partners[word] > word ? text.partners[word] + 1 : word + 1
            }
            guard let name = values["name"] else { return nil }
            folders.insert(values["path"] ?? "Sources/" + name)
        }
        return folders.isEmpty ? nil : folders.sorted()
    }

    private static func isOfDependencies(_ index: Int, _ text: SourceText) -> Bool {
        var before = index - 1
        while before >= 0 {
            if text.tokens[before].isMark("["), text.partners[before] > index {
                return text.sees("dependencies", ":", at: before - 2)
            }
            if text.tokens[before].isMark("("), text.partners[before] > index { return false }
            before =
                text.partners[before] >= 0 && text.partners[before] < before
                ? text.partners[before] - 1 : before - 1
        }
        return false
    }

    /// Whether an argument belongs to `.package(…)`, not to a target.
    private static func isOfPackage(_ index: Int, _ text: SourceText) -> Bool {
        var before = index - 1
        while before >= 0 {
            if text.tokens[before].isMark("("), text.partners[before] > index {
                return text[before - 1]?.isName("package") == true
            }
            before =
                text.partners[before] >= 0 && text.partners[before] < before
                ? text.partners[before] - 1 : before - 1
        }
        return false
    }
}
