// SPDX-License-Identifier: Apache-2.0

package import PayloadLint
public import PayloadRules

/// Audits an app's configuration for pushes: finds its files, reads them, and checks the rules.
///
/// It reads Info.plists and entitlements, projects of Xcode, XcodeGen and Tuist with their build
/// settings, sources in Swift and Objective-C, and signed apps. It writes no file and starts no
/// process. It blocks the calling thread, for seconds on a large project.
public struct Audit: Sendable {
    /// The files and folders to audit.
    public var paths: [String]
    /// The server's pushes; empty if not specified. They apply to the iOS apps that show a sign of
    /// such pushes.
    public var sends: Set<ServerPush>
    /// The server's pushes to single targets.
    public var sendsByTarget: [String: Set<ServerPush>]
    /// The storefronts of the app, by ISO 3166-1 alpha-3 code.
    public var storefronts: Set<String>
    /// The targets of Xcode projects to audit; empty for all.
    public var targets: Set<String>
    /// The build configurations to audit; empty for all.
    public var configurations: Set<String>
    /// The settings, which can exclude files and folders.
    package var settings: SettingsSearch.Found = SettingsSearch.Found()

    /// Creates an audit of these paths.
    public init(
        paths: [String], sends: Set<ServerPush> = [], storefronts: Set<String> = [],
        targets: Set<String> = [], configurations: Set<String> = [],
        sendsByTarget: [String: Set<ServerPush>] = [:]
    ) {
        self.paths = paths
        self.sends = sends
        self.storefronts = storefronts
        self.targets = targets
        self.configurations = configurations
        self.sendsByTarget = sendsByTarget
    }

    /// Runs the audit. `progress` gets, at intervals, the number of examined source files and the
    /// expected number.
    ///
    /// - Throws: ``AuditFailure`` if there is nothing to audit. A file that cannot be read is a
    ///   problem in the report.
    public func report(
        progress: ((_ examined: Int, _ total: Int) -> Void)? = nil
    ) throws(AuditFailure) -> AuditReport {
        let library = FileLibrary(isChosen: !targets.isEmpty, progress)
        library.tree.settings = settings
        var found = try FoundFiles(paths, library.tree)
        library.expectedCount = found.sources.files.count
        library.folders = found.projectFolders + found.folders
        var facts: [AppFacts] = []
        var known = (targets: Set<String>(), configurations: Set<String>())
        var scopes: [Int] = []
        var librarySources: [String] = []
        var readers: [ProjectReader] = []
        for (index, path) in (found.projects + found.tuistManifests).enumerated() {
            let before = library.problems.count
            guard var reader = ProjectReader(path, library) else {
                if !targets.isEmpty { library.setAsideProblems(from: before) }
                continue
            }
            if let newer = reader.successor(among: found.leftOutDescriptions) {
                reader = newer.reader
                found.noteOutdated(path, by: newer.path)
            }
            if !targets.isEmpty, targets.isDisjoint(with: reader.targetNames) {
                library.setAsideProblems(from: before)
            }
            readers.append(reader)
            library.modules.formUnion(reader.moduleNames)
            found.noteRead(path)
            if reader.targetNames.isEmpty {
                found.infoPlistsOfLibraries.formUnion(reader.libraryInfoPlists)
            }
            known.targets.formUnion(reader.targetNames)
            known.configurations.formUnion(reader.configurationNames)
            facts += reader.facts(targets: targets, configurations: configurations)
            scopes += Array(repeating: index, count: facts.count - scopes.count)
            if targets.isEmpty, !reader.holdsApps || found.isOfLibrary(path) {
                librarySources += reader.librarySources
            }
        }
        try checkNames(known)
        let hasTargets = !known.targets.isEmpty
        // If there are targets, only files of targets are built.
        if !hasTargets {
            facts += BundleReader(found, library).facts()
            scopes += Array(repeating: -1, count: facts.count - scopes.count)
        }
        // Manifests that were not read, pods and packages have targets with these files; the apps
        // of others are built with libraries.
        if hasTargets,
            let strays = library.bundle(
                ofStrays: (found.sourcesOfOthers + librarySources)
                    .filter { !library.wasExamined($0) })
        {
            facts.append(AppFacts(bundles: [strays]))
            scopes.append(-1)
        }
        let leftOut =
            !hasTargets || !targets.isEmpty
            ? nil
            : LeftOutSources(
                among: found.sources.files, below: found.projectFolders, library,
                built: { readers.reduce(into: []) { $0.formUnion($1.builtSources) } })
        library.noteUnreadableFolders()
        var manifests = PluginManifests()
        manifests.addPlugins(to: &facts)
        guard !facts.isEmpty || !library.problems.isEmpty else { throw .nothingToAudit }
        var recipients = Recipients(facts, scopes)
        recipients.mayBeOthers = hasTargets && found.mayHoldOtherApps
        recipients.apply(
            sends, sendsByTarget, isChosen: !targets.isEmpty,
            areNamed: !paths.contains(where: isFolder))
        var findings: [AppFinding] = []
        var undecided: [String: Set<RuleID>] = [:]
        var open = OpenHandlers()
        for var facts in recipients.facts {
            facts.storefronts = storefronts
            let found = AppRules.findings(in: facts)
            undecided.merge(AppRules.undecided(in: facts, besides: found)) { $0.union($1) }
            findings += found
            library.noteUnknownTarget(of: AppRules.appsWithUnjudgedFetch(in: facts))
            open.add(facts, besides: found)
        }
        let excluded = Set(findings.map(\.file)).subtracting(found.named)
            .filter { library.tree.excludes($0) }
        findings.removeAll { excluded.contains($0.file) }
        var report = library.report(
            AppFinding.merged(findings), undecided: undecided,
            configurationCount: Set(facts.compactMap(\.configuration)).count)
        report.unjudged += open.unjudged + recipients.unjudged + found.unjudged
        let mayLack = AppRules.mayLackPushEntitlement(recipients.facts, besides: findings)
        report.unjudged += UnreadScripts(found, hasTargets, mayLackEntitlement: mayLack).unjudged
        if let sentence = leftOut?.unjudged { report.unjudged.append(sentence) }
        return report
    }

    /// Whether a path is a folder, but not an app or a project.
    private func isFolder(_ path: String) -> Bool {
        FileTree.kind(of: path) == .folder
            && ![".xcodeproj", ".app", ".appex"].contains(where: path.hasSuffix)
    }

    private func checkNames(
        _ known: (targets: Set<String>, configurations: Set<String>)
    ) throws(AuditFailure) {
        let named = known.targets.isEmpty ? targets : targets.union(sendsByTarget.keys)
        if let name = named.subtracting(known.targets).min() {
            throw .unknownTarget(name, known: known.targets.sorted())
        }
        if let name = configurations.subtracting(known.configurations).min() {
            throw .unknownConfiguration(name, known: known.configurations.sorted())
        }
    }
}

/// Assigns the server's pushes to apps.
struct Recipients {
    private(set) var facts: [AppFacts]
    private(set) var unjudged: [AuditReport.Unjudged] = []
    /// Whether there may be other apps than those that were read.
    var mayBeOthers = false
    private let scopes: [Int]

    /// An app in all its configurations.
    private struct App: Hashable {
        let scope: Int
        let name: String?
    }

    /// Creates recipients. `scopes` distinguishes projects.
    init(_ facts: [AppFacts], _ scopes: [Int]) {
        self.facts = facts
        self.scopes = scopes
    }

    /// Assigns pushes to each app. Without names these are all iOS apps that show a sign of such
    /// pushes. A single app needs no sign, but findings about it are then less certain; chosen
    /// targets need none either.
    mutating func apply(
        _ sends: Set<ServerPush>, _ byTarget: [String: Set<ServerPush>], isChosen: Bool,
        areNamed: Bool
    ) {
        var apps: [App] = []
        var signs: [App: Set<ServerPush>] = [:]
        var withCalls: Set<App> = []
        for (facts, scope) in zip(facts, scopes) {
            for bundle in facts.bundles where bundle.canReceive {
                let app = App(scope: scope, name: bundle.name)
                if signs[app] == nil { apps.append(app) }
                signs[app, default: []].formUnion(bundle.signsOfPush)
                if bundle.hasCallMode { withCalls.insert(app) }
            }
        }
        let isAlone = apps.count == 1 && !mayBeOthers
        let receivers = apps.filter { isChosen || isAlone || signs[$0]?.isEmpty == false }
        var pushes: [App: Set<ServerPush>] = [:]
        for push in sends.sorted(by: { $0.rawValue < $1.rawValue }) {
            var showing = receivers.filter { signs[$0]?.contains(push) == true }
            if showing.isEmpty, push == .voip { showing = receivers.filter(withCalls.contains) }
            // Every app with pushes may get silent ones. If there are several apps, only a sign
            // shows which one gets calls.
            let canBeAny = isChosen || receivers.count == 1 || [.alert, .background].contains(push)
            let meant = showing.isEmpty && canBeAny || isChosen ? receivers : showing
            for app in meant { pushes[app, default: []].insert(push) }
            note(push, receivers.filter { !meant.contains($0) && byTarget[$0.name ?? ""] == nil })
        }
        if !sends.isEmpty, receivers.isEmpty, byTarget.isEmpty {
            unjudged.append(
                AuditReport.Unjudged(
                    targets: [],
                    reason: "--sends was applied to no app: there is no iOS app that shows a sign "
                        + "of push; name one, as in --sends App=background", rules: []))
        }
        for index in facts.indices {
            for place in facts[index].bundles.indices where facts[index].bundles[place].role == .app
            {
                let bundle = facts[index].bundles[place]
                let app = App(scope: scopes[index], name: bundle.name)
                let named = Self.named(bundle.name, in: byTarget)
                facts[index].bundles[place].sends = named ?? pushes[app] ?? []
                facts[index].bundles[place].isOnlyAssumed =
                    named == nil && !isChosen && !areNamed && signs[app]?.isEmpty != false
            }
        }
    }

    /// The facts of a bundle by its name, or by the folder that identifies it.
    private static func named(
        _ name: String?, in byTarget: [String: Set<ServerPush>]
    ) -> Set<ServerPush>? {
        guard let name else { return byTarget.count == 1 ? byTarget.first?.value : nil }
        return byTarget[name] ?? byTarget[Paths.stem(of: name)]
    }

    private mutating func note(_ push: ServerPush, _ apps: [App]) {
        let names = apps.compactMap(\.name)
        guard let first = names.first else { return }
        unjudged.append(
            AuditReport.Unjudged(
                targets: names,
                reason: "--sends \(push) was not applied, for lack of a sign of such pushes; name "
                    + "the target, as in --sends \(first)=\(push)", rules: []))
    }
}

extension AppFacts.Bundle {
    /// Whether it can get a server's pushes: an iOS app that is not part of another one.
    fileprivate var canReceive: Bool {
        role == .app && host == nil && (platform == .iOS || platform == nil)
    }

    /// Whether it has the mode for calls, which alone is not a sign of VoIP pushes.
    fileprivate var hasCallMode: Bool {
        info?["UIBackgroundModes"]?.strings.contains { $0.value.lowercased() == "voip" } == true
    }

    /// The kinds of pushes that an app shows a sign of; empty if there is none.
    fileprivate var signsOfPush: Set<ServerPush> {
        var signs: Set<ServerPush> = []
        let seen = (sources?.observations ?? []).filter { !$0.isShared }
        let subjects = Set(seen.map(\.subject))
        let modes = (info?["UIBackgroundModes"]?.strings ?? []).map { $0.value.lowercased() }
        let isRegistered = subjects.contains { subject in
            switch subject {
            case .remoteNotificationRegistration: true
            default: false
            }
        }
        if hasPushEntitlement || isRegistered { signs.insert(.alert) }
        let wakes = subjects.contains { subject in
            switch subject {
            case .remoteNotificationHandler: true
            default: false
            }
        }
        if wakes || modes.contains(where: { $0.hasPrefix("remote") }) { signs.insert(.background) }
        let takesCalls = subjects.contains { subject in
            switch subject {
            case .voipRegistration, .voipHandler: true
            default: false
            }
        }
        // An app that makes calls without pushes has the mode for CallKit.
        if takesCalls || (modes.contains("voip") && hasPushEntitlement) { signs.insert(.voip) }
        if modes.contains("push-to-talk") { signs.insert(.pushToTalk) }
        if info?["NSSupportsLiveActivities"] != nil {
            signs.formUnion([.liveActivity, .broadcast])
        }
        return signs
    }

    private var hasPushEntitlement: Bool {
        guard case .known(let list) = entitlements else { return false }
        return list["aps-environment"] != nil
    }
}

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
    /// The files that name the packages of scripts.
    private var manifests: [String] = []
    /// The folders of pods.
    private var podFolders: [String] = []
    /// The files of project generators that are not supported.
    private(set) var generators: [String] = []
    /// The folders of Swift packages.
    private var packageFolders: [String] = []
    /// The folders of .NET projects.
    private var dotNetFolders: [String] = []

    /// Finds the files at these paths. Throws if there is nothing at a path.
    init(_ paths: [String], _ tree: FileTree) throws(AuditFailure) {
        var seen: Set<String> = []
        for path in paths.map(Paths.normalised) {
            guard let kind = FileTree.kind(of: path) else { throw .missing(path: path) }
            let files = kind == .file ? [path] : tree.files(below: path)
            if kind == .file { named.insert(path) } else { folders.append(path) }
            for file in files where seen.insert(file).inserted { sort(file) }
            sources.add(files)
        }
        if !ScriptFrameworks.areUsed(in: sources, manifests, tree) { sources.removeScripts() }
        if ScriptFrameworks.areNamed(for: sources, manifests) { sources.noteScriptFramework() }
        sources.sort()
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
    }

    /// Records that a description of a project was read.
    mutating func noteRead(_ path: String) { unreadManifests.removeAll { $0 == path } }

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
    private static let generators: Set = [
        "BUILD", "BUILD.bazel", "BUCK", "app.json", "app.config.js", "app.config.ts",
    ]

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

    /// The source files next to the manifests of Tuist, pods and packages, outside the folders of
    /// projects.
    var sourcesOfOthers: [String] {
        let folders = tuistManifests.map(Paths.folder) + podFolders + packageFolders
        guard !folders.isEmpty else { return [] }
        let read = projectFolders
        return sources.files.filter { file in
            folders.contains { Paths.contains($0, file) }
                && !read.contains { Paths.contains($0, file) }
        }
    }

    /// The folders of the projects.
    var projectFolders: [String] { projects.map(Self.folder(ofProject:)) }

    private static func folder(ofProject project: String) -> String {
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
        guard let first = unreadManifests.first else { return replaced }
        let count = unreadManifests.count
        let manifests =
            count == 1
            ? "\(first) of Tuist was"
            : "\(count) manifests of Tuist, such as \(first), were"
        return replaced + [
            AuditReport.Unjudged(
                targets: [],
                reason: manifests + " not read; run `tuist generate`, and audit what it makes",
                rules: [])
        ]
    }
}
