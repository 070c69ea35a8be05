// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A Swift package in a folder near a project.
struct SwiftPackage {
    /// The names of its products and targets, and all other string literals of its manifest.
    let literals: Set<String>
    /// Its source files, without tests.
    let files: [String]
    /// The folders of local packages that it depends on.
    let localPackages: [String]
    /// The remote packages that it depends on, and what they may do.
    let remote: [(name: String, uses: ModuleUses)]

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
        var holdsBinary = false
        for index in text.tokens.indices {
            if text.tokens[index].isName("binaryTarget") { holdsBinary = true }
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
        // What is built already may do anything, but for tools of the build.
        holdsBinary =
            holdsBinary
            && (literals.contains { $0.contains(".xcframework") }
                || !literals.contains { $0.contains(".artifactbundle") })
        let binaries = holdsBinary ? [(name: Paths.name(of: folder), uses: ModuleUses.all)] : []
        self.remote =
            binaries
            + remote.map { (Paths.stem(of: $0), KnownLibraries.uses(ofProduct: nil, of: $0)) }
        var targets = Self.targets(in: text, below: folder)
        if targets?.contains(where: { FileTree.kind(of: $0.folder) != .folder }) == true {
            targets = nil
        }
        let others = ["Tests", "Example", "Examples", "Demo", "Sample", "Samples", "Plugins"]
        let built = targets?.flatMap { target in
            tree.files(below: target.folder).filter(target.builds)
        }
        var seen: Set<String> = []
        files = ((built ?? tree.files(below: folder)) + outside.flatMap(tree.files)).filter {
            file in
            let parts = file.dropFirst(folder.count).split(separator: "/")
            return !parts.contains { others.contains(String($0)) }
                && parts.last != "Package.swift" && seen.insert(file).inserted
        }
    }

    /// A target of a package.
    private struct Target {
        let folder: String
        /// The files and folders to build; `nil` for all of its folder.
        let sources: [String]?
        /// The files and folders that are not built.
        let excluded: [String]

        func builds(_ file: String) -> Bool {
            (sources?.contains { Paths.contains($0, file) } ?? true)
                && !excluded.contains { Paths.contains($0, file) }
        }
    }

    /// The targets, whose folders are below that of the manifest; `nil` if they cannot be
    /// determined. A source folder with the files of one target only belongs to that target.
    private static func targets(in text: SourceText, below folder: String) -> [Target]? {
        let kinds = ["target", "executableTarget", "macro"]
        var targets: [Target] = []
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
            let own = Paths.join(folder, values["path"] ?? "Sources/" + name)
            let arguments = text.content(ofBracket: index + 1)
            targets.append(
                Target(
                    folder: own,
                    sources: list("sources", of: arguments, text)?.map { Paths.join(own, $0) },
                    excluded: (list("exclude", of: arguments, text) ?? []).map {
                        Paths.join(own, $0)
                    }))
        }
        return targets.isEmpty ? nil : targets
    }

    /// The texts of an argument such as `sources: ["Lib"]`; `nil` if it is absent, or not all are
    /// known.
    private static func list(
        _ label: String, of arguments: Range<Int>, _ text: SourceText
    ) -> [String]? {
        var index = arguments.lowerBound
        while index < arguments.upperBound {
            if text.sees(label, ":", "[", at: index) {
                let words = text.content(ofBracket: index + 2)
                let texts = words.compactMap { word -> String? in
                    guard case .string(isInterpolated: false) = text.tokens[word].kind else {
                        return nil
                    }
                    return text.tokens[word].text
                }
                let commas = words.count { text.tokens[$0].isMark(",") }
                return texts.count + commas == words.count && !texts.isEmpty ? texts : nil
            }
            index = text.skipBracket(index, arguments)
        }
        return nil
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
