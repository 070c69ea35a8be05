// SPDX-License-Identifier: Apache-2.0

import PayloadRules

extension XcodeProject {
    /// The source files of a target and of the frameworks in the same project that it needs.
    func sources(of target: XcodeTarget, tree: FileTree) -> SourceList {
        var list = SourceList()
        var pending = [target]
        var seen: Set<String> = [target.id]
        while let next = pending.popLast() {
            addSources(of: next, to: &list, tree)
            for dependency in dependencies(of: next)
            where dependency.role == .other && seen.insert(dependency.id).inserted {
                pending.append(dependency)
            }
        }
        for package in localPackages {
            list.add(tree.files(below: Paths.join(package, "Sources")))
        }
        return list
    }

    /// The targets that a target embeds or links.
    func dependencies(of target: XcodeTarget) -> [XcodeTarget] {
        objects(target.object, "dependencies").compactMap { dependency in
            guard let id = dependency["target"]?.string, let object = object(id) else { return nil }
            return XcodeTarget(id: id, object: object)
        }
    }

    private func addSources(of target: XcodeTarget, to list: inout SourceList, _ tree: FileTree) {
        for phase in objects(target.object, "buildPhases")
        where phase["isa"]?.string == "PBXSourcesBuildPhase" {
            for file in objects(phase, "files") {
                if let path = path(ofFile: file["fileRef"]?.string) { list.add([path]) }
            }
        }
        let own = Set((target.object["fileSystemSynchronizedGroups"]?.strings ?? []).map(\.value))
        for id in synchronizedGroups {
            guard let folder = path(ofFile: id), let group = object(id) else { continue }
            let exceptions = exceptions(of: group, for: target).map { Paths.join(folder, $0) }
            if own.contains(id) {
                let left = Set(exceptions)
                list.add(tree.files(below: folder).filter { !left.contains($0) })
            } else {
                list.add(exceptions)
            }
        }
    }

    /// The files that are an exception for a target, relative to the folder: those that it leaves
    /// out of a folder of its own, or takes from another one.
    private func exceptions(of group: AppProperty, for target: XcodeTarget) -> [String] {
        objects(group, "exceptions").flatMap { exception in
            exception["target"]?.string == target.id
                ? (exception["membershipExceptions"]?.strings ?? []).map(\.value) : []
        }
    }
}

/// The source files of a target.
struct SourceList {
    /// What Swift is not: text that the audit does not read.
    private static let foreignEndings = [".m", ".mm", ".c", ".cc", ".cpp", ".kt", ".dart", ".js"]

    /// The Swift files, each once, in the order of their paths.
    private(set) var swiftFiles: [String] = []
    /// Whether there are files in other languages.
    private(set) var hasForeignFiles = false
    private var known: Set<String> = []

    /// Notes that there are files in other languages.
    mutating func noteForeignFiles() { hasForeignFiles = true }

    /// Adds files; those that hold no source text are left out.
    mutating func add(_ paths: [String]) {
        for path in paths.sorted() where known.insert(path).inserted {
            if path.hasSuffix(".swift") {
                swiftFiles.append(path)
            } else if Self.foreignEndings.contains(where: path.hasSuffix) {
                hasForeignFiles = true
            }
        }
    }
}
