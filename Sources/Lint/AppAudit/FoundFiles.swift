// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The files at the paths of an audit.
struct FoundFiles {
    private(set) var projects: [String] = []
    private(set) var infoPlists: [String] = []
    private(set) var entitlements: [String] = []
    /// The source files.
    private(set) var sources = SourceList()
    /// The folders that were given by name.
    private(set) var folders: [String] = []
    /// The property lists that were given by name, regardless of their extension.
    private(set) var named: Set<String> = []
    /// The files of other build or package tools, whose results are not in an Info.plist.
    private(set) var otherBuilds: Set<String> = []
    /// The property lists of the projects' frameworks and libraries.
    var infoPlistsOfLibraries: Set<String> = []
    /// The manifests of Tuist without a generated project.
    private(set) var tuistManifests: [String] = []
    /// The manifests that could not be read.
    private var unreadManifests: [String] = []
    private var specifications: [String] = []
    /// The descriptions of projects that were generated, whose projects are read.
    private(set) var leftOutDescriptions: [String] = []
    /// The projects that were not generated again, by the description that was read instead.
    private var outdated: [(project: String, description: String)] = []
    /// The projects of pods and packages without a byte, of which no app is built.
    private var emptyProjects: [String] = []
    /// The files that name the packages of scripts.
    private var manifests: [String] = []
    /// The folders of pods.
    private var podFolders: [String] = []
    /// The files of project generators that are not supported.
    private(set) var generators: [String] = []
    /// The configurations of Expo whose project is not there.
    private(set) var expoConfigurations: [String] = []
    /// Those of them of which an app is known.
    private(set) var expoApps: [String] = []
    /// Those of them whose Info.plist is known too.
    private(set) var readConfigurations: [String] = []
    /// The folders of Swift packages.
    private var packageFolders: [String] = []
    /// The folders of .NET projects.
    private var dotNetFolders: [String] = []

    /// Finds the files at these paths. Throws if there is nothing at a path.
    init(_ paths: [String], _ tree: FileTree) throws(AuditFailure) {
        var seen: Set<String> = []
        for path in paths.map(Paths.normalised) {
            guard let kind = FileTree.kind(of: path) else { throw .missing(path: path) }
            let files = kind == .file ? [path] : tree.filesToAudit(below: path)
            if kind == .file { named.insert(path) } else { folders.append(path) }
            for file in files where seen.insert(file).inserted { sort(file) }
            sources.add(files)
        }
        if !ScriptFrameworks.areUsed(in: sources, manifests, tree) { sources.removeScripts() }
        if ScriptFrameworks.areNamed(for: sources, manifests) { sources.noteScriptFramework() }
        sources.sort()
        emptyProjects = projects.filter { isOfLibrary($0) && FileTree.isEmpty($0) }
            .sorted()
        projects.removeAll(where: Set(emptyProjects).contains)
        // A generated project contains more than its description.
        let made = Set(projects.map { Paths.folder(of: Paths.folder(of: $0)) })
        let isRead = { [named] (path: String) in
            named.contains(path) || !made.contains(Paths.folder(of: path))
        }
        projects += specifications.filter(isRead)
        leftOutDescriptions = specifications.filter { !isRead($0) }
        tuistManifests.removeAll { made.contains(Paths.folder(of: $0)) }
        generators += tuistManifests
        if !tuistManifests.isEmpty { otherBuilds.insert("Project.swift") }
        unreadManifests = tuistManifests
        projects.sort()
        let built = projectFolders + infoPlists.map(Paths.folder)
        expoConfigurations = ExpoProject.deciding(
            among: generators.filter { file in
                let folder = Paths.join(Paths.folder(of: file), "ios")
                return ExpoProject.fileNames.contains(Paths.name(of: file))
                    && !built.contains { Paths.contains(folder, $0) }
            })
    }

    /// Records that a description of a project was read; of one of Expo, whether its Info.plist
    /// is known.
    mutating func noteRead(_ path: String, knowsInfo: Bool) {
        unreadManifests.removeAll { $0 == path }
        guard expoConfigurations.contains(path) else { return }
        expoApps.append(path)
        if knowsInfo { readConfigurations.append(path) }
    }

    /// Whether all Info.plists are in folders of apps of Expo, and there are such apps.
    var holdsExpoOnly: Bool {
        let folders = expoApps.map(Paths.folder)
        return !folders.isEmpty
            && infoPlists.allSatisfy { list in folders.contains { Paths.contains($0, list) } }
    }

    /// Records that the description of a project was read, since the project is older.
    mutating func noteOutdated(_ project: String, by description: String) {
        outdated.append((project, description))
    }

    private mutating func sort(_ file: String) {
        let name = Paths.name(of: file)
        if ScriptFrameworks.manifests.contains(name) { manifests.append(file) }
        if name == "project.pbxproj", isProject(file) {
            projects.append(file)
        } else if name.hasSuffix("project.yml") || name.hasSuffix("project.yaml") {
            specifications.append(file)
        } else if name.hasSuffix(".entitlements") || name.hasSuffix(".xcent") {
            entitlements.append(file)
        } else if name.hasSuffix("Info.plist")
            || name.hasPrefix("Info-") && name.hasSuffix(".plist")
            || named.contains(file) && name.hasSuffix(".plist")
        {
            infoPlists.append(file)
        } else if Self.generators.contains(name) {
            otherBuilds.insert(name)
            generators.append(file)
        } else if Self.packageManagers.contains(name) {
            otherBuilds.insert(name)
            if name == "Package.swift" { packageFolders.append(Paths.folder(of: file)) }
        } else if name.hasSuffix(".podspec") {
            // A pod is built with the pods that it depends on.
            otherBuilds.insert(name)
            podFolders.append(Paths.folder(of: file))
        } else if name == "Project.swift", Self.isOfTuist(file) {
            tuistManifests.append(file)
        } else if name.hasSuffix(".csproj") {
            dotNetFolders.append(Paths.folder(of: file))
        }
    }

    /// Whether a `project.pbxproj` belongs to a project: it was given by name, or is in an
    /// `.xcodeproj` or in the working directory.
    private func isProject(_ file: String) -> Bool {
        let folder = Paths.folder(of: file)
        return named.contains(file) || folder == "." || folder.hasSuffix(".xcodeproj")
    }

    private static let packageManagers: Set = [
        "Package.swift", "Podfile", "Cartfile", "pubspec.yaml",
    ]
    /// Project generators, which may write other property lists than the present ones.
    private static let generators = Set(["BUILD", "BUILD.bazel", "BUCK"] + ExpoProject.fileNames)

    /// Whether a file is a manifest of Tuist for a project. Source files of apps and of manifest
    /// helpers can have this name too.
    private static func isOfTuist(_ file: String) -> Bool {
        let folders = file.split(separator: "/").dropLast()
        guard !folders.contains("ProjectDescriptionHelpers"),
            let bytes = try? FileTree.read(file, limit: AuditLimits.sourceBytes)
        else { return false }
        return WordFilter(["ProjectDescription"]).finds(in: bytes)
    }

    /// Whether a generator that is not supported may add to the property lists of a folder: there
    /// is one in that folder or above.
    func isGenerated(_ folder: String) -> Bool {
        generators.contains { Paths.contains(Paths.folder(of: $0), folder) }
    }

    /// Whether a folder belongs to a pod.
    func isOfPod(_ folder: String) -> Bool {
        podFolders.contains { Paths.contains($0, folder) }
    }

    /// Whether a project is in or below the folder of the manifest of a pod or a package.
    func isOfLibrary(_ project: String) -> Bool {
        let folder = Self.folder(ofProject: project)
        return (podFolders + packageFolders).contains { Paths.contains($0, folder) }
    }

    /// The configurations of Expo in the folder of one.
    func configurations(beside file: String) -> [String] {
        let folder = Paths.folder(of: file)
        return ExpoProject.fileNames.map { Paths.join(folder, $0) }.filter(generators.contains)
    }

    /// The source files next to the manifests of Tuist, Expo, pods and packages, outside of the
    /// folders of projects.
    var sourcesOfOthers: [String] {
        let folders =
            (tuistManifests + expoApps).map(Paths.folder) + podFolders + packageFolders
        guard !folders.isEmpty else { return [] }
        let read = projectFolders
        return sources.files.filter { file in
            folders.contains { Paths.contains($0, file) }
                && !read.contains { Paths.contains($0, file) }
        }
    }

    /// The folders of the projects.
    var projectFolders: [String] { projects.map(Self.folder(ofProject:)) }

    /// The folder that the paths of a project are relative to.
    static func folder(ofProject project: String) -> String {
        let folder = Paths.folder(of: project)
        return project.hasSuffix(".pbxproj") ? Paths.folder(of: folder) : folder
    }

    /// Whether a manifest of Tuist or an Info.plist of .NET is outside the folder of the only
    /// project: the app is then probably not the one that was read.
    var mayHoldOtherApps: Bool {
        let folders = projectFolders
        let ofDotNet = infoPlists.filter { list in
            dotNetFolders.contains { Paths.contains($0, list) }
        }
        return (unreadManifests + ofDotNet).contains { file in
            !folders.contains { Paths.contains($0, Paths.folder(of: file)) }
        }
    }

    /// The entries of the report for manifests and projects that were not read.
    var unjudged: [AuditReport.Unjudged] {
        let replaced = outdated.map { project, description in
            AuditReport.Unjudged(
                targets: [],
                reason: "\(project) names source files that are not there, and lacks some of "
                    + "\(description), which was judged instead", rules: [])
        }
        let empty = emptyProjects.prefix(1).map { project in
            AuditReport.Unjudged(
                targets: [],
                reason: emptyProjects.count == 1
                    ? "\(project) is empty"
                    : "\(emptyProjects.count) projects, such as \(project), are empty", rules: [])
        }
        guard let first = unreadManifests.first else { return replaced + empty }
        let count = unreadManifests.count
        let manifests =
            count == 1
            ? "\(first) of Tuist was"
            : "\(count) manifests of Tuist, such as \(first), were"
        return replaced + empty + [
            AuditReport.Unjudged(
                targets: [],
                reason: manifests + " not read; run `tuist generate`, and audit what it makes",
                rules: [])
        ]
    }
}
