// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The source files of a target, and other inputs of its build.
struct SourceList {
    /// The files in Swift and Objective-C, without duplicates, ordered by path.
    private(set) var files: [String] = []
    /// The scripts, which may be part of an app that a framework runs them in.
    private(set) var scripts: [String] = []
    /// The inputs of the build that were not read.
    private(set) var unread = UnreadSources()
    /// What words show of them.
    private(set) var observations: [SourceObservation] = []
    /// The folders of the projects of Gradle whose Kotlin is among them.
    private(set) var kotlinFolders: Set<String> = []
    /// The names in the manifests of the packages whose files are among them: their modules, and
    /// those of packages that they name, which are unread or known otherwise.
    private(set) var packageNames: Set<String> = []
    private var known: Set<String> = []
    /// The target's own files; `nil` if all are.
    private var own: Set<String>?
    /// The files of pods and plugins, whose code runs if the app asks for it.
    private var ofPods: Set<String> = []

    /// The extensions and names of languages that are not supported.
    private static let foreignLanguages = [
        ".kt": "Kotlin", ".dart": "Dart", ".js": "JavaScript", ".ts": "TypeScript",
        ".tsx": "TypeScript", ".cs": "C#",
    ]

    /// Adds files; other than source files are ignored.
    mutating func add(_ paths: [String]) {
        for path in paths {
            let name = path[(path.lastIndex(of: "/") ?? path.startIndex)...]
            guard let dot = name.lastIndex(of: ".") else { continue }
            let ending = String(name[dot...])
            switch ending {
            case ".swift", ".m", ".mm":
                if known.insert(path).inserted { files.append(path) }
            case ".csproj": unread.isDotNet = true
            default:
                if let language = Self.foreignLanguages[ending], known.insert(path).inserted {
                    unread.languages[language, default: 0] += 1
                    if UnreadSources.scriptLanguages.contains(language) { scripts.append(path) }
                    if Self.isKotlinForIOS(path) { unread.holdsKotlin = true }
                }
            }
        }
    }

    /// Adds the files of a package.
    mutating func add(_ package: SwiftPackage) {
        add(package.files)
        packageNames.formUnion(package.literals)
    }

    /// Whether a file of Kotlin is in a source set that is compiled for iOS, and not for Android
    /// alone: `iosMain`, `commonMain`.
    static func isKotlinForIOS(_ path: String) -> Bool {
        path.hasSuffix(".kt")
            && path.split(separator: "/").contains { folder in
                folder.hasSuffix("Main")
                    && ["ios", "apple", "native", "common"].contains(where: folder.hasPrefix)
            }
    }

    /// Whether Flutter or Expo writes a source file to hand the app to its plugins, which are pods.
    static func isRegistrant(_ path: String) -> Bool {
        ["GeneratedPluginRegistrant", "ExpoModulesProvider"].contains(Paths.stem(of: path))
    }

    /// Whether a tool writes a source file, by its name: `GeneratedPluginRegistrant.m`,
    /// `R.generated.swift`, `api.pb.swift`.
    static func isGenerated(_ path: String) -> Bool {
        let name = Paths.stem(of: path).lowercased()
        return name.contains("generated") || name.hasSuffix(".pb") || name.hasSuffix(".grpc")
    }

    /// Marks the files that are added from now on as shared with other targets: packages and
    /// frameworks.
    mutating func beginShared() { own = own ?? Set(files) }

    /// Whether a file is shared with other targets.
    func isShared(_ path: String) -> Bool {
        ofPods.contains(path) || own.map { !$0.contains(path) } ?? false
    }

    /// Records a package, a framework or similar that was not read, unless it does nothing that
    /// rules ask for.
    mutating func addUnread(
        _ kind: UnreadSources.Kind, _ name: String, uses: ModuleUses = .all
    ) {
        guard !uses.isEmpty else { return }
        unread.modules[kind, default: [:]][name, default: []].formUnion(uses)
    }

    /// Records a library that Gradle builds of Kotlin, by what words show of it.
    mutating func addKotlin(
        _ kind: UnreadSources.Kind, _ name: String, around folder: String, _ tree: FileTree
    ) {
        let kotlin = tree.kotlinSources(around: folder)
        addUnread(kind, name, uses: kotlin?.uses ?? .all)
        observations += kotlin?.observations ?? []
        if let kotlin { kotlinFolders.insert(kotlin.folder) }
    }

    /// Adds the files of the pods beside the project, and records those that are not known, or that
    /// there are pods if nothing lists them.
    mutating func add(_ pods: Pods?, _ tree: FileTree) {
        guard let pods else {
            addUnread(.project, "Pods")
            return
        }
        for (name, uses) in pods.uses {
            add(.pod, name, uses: uses, in: pods.folders[name], tree, besides: pods.names)
        }
        add(pods.plugins ?? [:], tree)
    }

    /// Adds the files of the plugins in the tree, and records the others.
    mutating func add(_ plugins: [String: PluginManifests.Package], _ tree: FileTree) {
        let names = Set(plugins.keys)
        for (name, plugin) in plugins {
            add(.package, name, uses: plugin.uses, in: plugin.native, tree, besides: names)
        }
    }

    /// Adds the files of a pod in a folder, or records it as unread.
    private mutating func add(
        _ kind: UnreadSources.Kind, _ name: String, uses: ModuleUses, in folder: String?,
        _ tree: FileTree, besides names: Set<String>
    ) {
        guard let folder else {
            addUnread(kind, name, uses: uses)
            return
        }
        guard let pod = Pods.Local(in: folder, tree) else {
            if tree.files(below: folder).contains(where: { $0.hasSuffix(".kt") }) {
                addKotlin(kind, name, around: folder, tree)
            } else {
                addUnread(kind, name, uses: uses)
            }
            return
        }
        ofPods.formUnion(pod.files.filter { !known.contains($0) })
        add(pod.files)
        for address in pod.packages {
            let package = address.split(separator: "/").last.map(String.init) ?? address
            addUnread(
                .package, package, uses: KnownLibraries.uses(ofProduct: nil, of: address))
        }
        for other in pod.dependencies where !names.contains(other) {
            addUnread(.pod, other, uses: KnownLibraries.uses(of: other))
        }
    }

    /// Adds to the number of files that belong to no known target.
    mutating func addStrays(_ count: Int) { unread.strays += count }

    /// A copy without files.
    var unreadOnly: SourceList {
        var list = SourceList()
        list.unread = unread
        return list
    }

    /// Records that a manifest names a framework that runs the scripts.
    mutating func noteScriptFramework() { unread.runsScripts = true }

    /// Leaves out scripts, which are no part of the app.
    mutating func removeScripts() {
        scripts = []
        for language in UnreadSources.scriptLanguages { unread.languages[language] = nil }
    }

    /// Sorts the files.
    mutating func sort() { files.sort() }
}

/// The inputs of a target's build that were not read.
struct UnreadSources: Hashable, Sendable {
    /// The kind of a module that was not read.
    enum Kind: String, Hashable, Sendable, Comparable, CaseIterable {
        case package
        case framework
        case pod
        case project
        /// A folder or a file that a description of a project names, and that is not there.
        case source

        static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    /// The languages that are not compiled.
    static let scriptLanguages: Set = ["JavaScript", "TypeScript"]

    /// The number of files by language.
    var languages: [String: Int] = [:]
    /// Whether there is a project of .NET, which builds C# for iOS.
    var isDotNet = false
    /// Whether a manifest names a framework that runs the scripts.
    var runsScripts = false
    /// Whether there is Kotlin that is compiled for iOS.
    var holdsKotlin = false
    /// The number of files that may belong to any target.
    var strays = 0
    /// What the modules may do, by kind and name.
    var modules: [Kind: [String: ModuleUses]] = [:]

    /// The rules that find something in the text of a file itself, as far as files that were not
    /// read may hide it.
    var hiddenRules: [RuleID] {
        let isNative = isDotNet && languages["C#"] != nil || holdsKotlin
        let holdsScripts =
            languages["Dart"] != nil
            || runsScripts && !Self.scriptLanguages.isDisjoint(with: languages.keys)
        // A script asks for no time in the background, and the files of a podspec were read.
        let mayAskForTime =
            strays > 0
            || modules.values.joined().contains {
                $0.value.contains(.time) && !$0.key.hasSuffix(".podspec")
            }
        return AppRules.table.filter { rule in
            isNative && rule.readsSources || holdsScripts && rule.readsScripts
                || mayAskForTime && rule.id == "CF045"
        }
        .map(\.id)
    }

    /// What may be in it. A file of any language may do anything.
    var uses: ModuleUses {
        if strays > 0 || !languages.isEmpty { return .all }
        return modules.values.joined().reduce(into: []) { $0.formUnion($1.value) }
    }

    /// The names in source text of the modules that are not likely to have background tasks.
    var idleModules: Set<String> {
        Set(
            modules.values.joined().filter { !$0.value.contains(.likelyTasks) }
                .map { $0.key.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined() })
    }

    /// Whether everything was read.
    var isEmpty: Bool { languages.isEmpty && modules.isEmpty && strays == 0 }

    /// Whether nothing was left unread but packages, frameworks and projects, and scripts, which
    /// iOS does not call.
    var isOfModulesOnly: Bool {
        strays == 0 && languages.keys.allSatisfy(Self.scriptLanguages.contains)
    }

    /// "12 Dart files and 3 packages (Alamofire, Kingfisher, Realm) were not read".
    var description: String {
        var parts = languages.sorted { $0.key < $1.key }.map { language, count in
            "\(count) \(language) file\(count == 1 ? "" : "s")"
        }
        for (kind, names) in modules.sorted(by: { $0.key < $1.key }) {
            let listed = names.keys.sorted().prefix(5).joined(separator: ", ")
            let more = names.count > 5 ? ", …" : ""
            parts.append(
                "\(names.count) \(kind.rawValue)\(names.count == 1 ? "" : "s") (\(listed)\(more))")
        }
        let wasOne = parts.count == 1 && parts[0].hasPrefix("1 ")
        var sentences: [String] = []
        if strays > 0 {
            sentences.append("\(strays) file\(strays == 1 ? " is" : "s are") of no known target")
        }
        if let last = parts.popLast() {
            let list = parts.isEmpty ? last : parts.joined(separator: ", ") + " and " + last
            sentences.append("\(list) \(wasOne ? "was" : "were") not read")
        }
        return sentences.joined(separator: ", and ")
    }

}
