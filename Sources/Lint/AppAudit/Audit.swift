// SPDX-License-Identifier: Apache-2.0

package import PayloadLint
public import PayloadRules

/// Audits the app's side of pushes: finds its files, reads them, and asks the rules.
///
/// It reads Info.plists and entitlements, Xcode projects and those of XcodeGen and Tuist with their
/// build settings, sources in Swift and Objective-C, and signed apps. It writes nothing and starts
/// nothing. Runs where it is called; it may take seconds for a large project.
public struct Audit: Sendable {
    /// Files and folders to look at.
    public var paths: [String]
    /// The server's pushes; empty if not specified. It is meant for the iOS apps that show a sign
    /// of such pushes.
    public var sends: Set<ServerPush>
    /// What the server sends to single targets.
    public var sendsByTarget: [String: Set<ServerPush>]
    /// The storefronts that the app is offered in, by ISO 3166-1 alpha-3 code.
    public var storefronts: Set<String>
    /// The targets of Xcode projects to look at; empty for all.
    public var targets: Set<String>
    /// The build configurations to look at; empty for all.
    public var configurations: Set<String>
    /// The settings, which say what files and folders are passed over.
    package var settings: SettingsSearch.Found = SettingsSearch.Found()

    /// Will look at these paths.
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

    /// Examines everything and returns the findings. `progress` gets, at intervals, how many source
    /// files were examined, and how many there may be.
    ///
    /// - Throws: ``AuditFailure`` where there is nothing to look at. A file that cannot be
    ///   understood is a problem in the report.
    public func report(
        progress: ((_ examined: Int, _ total: Int) -> Void)? = nil
    ) throws(AuditFailure) -> AuditReport {
        let library = FileLibrary(isChosen: !targets.isEmpty, progress)
        library.tree.settings = settings
        var found = try FoundFiles(paths, library.tree)
        library.expectedCount = found.sources.files.count
        var facts: [AppFacts] = []
        var known = (targets: Set<String>(), configurations: Set<String>())
        var scopes: [Int] = []
        var librarySources: [String] = []
        for (index, path) in (found.projects + found.tuistManifests).enumerated() {
            guard let reader = ProjectReader(path, library) else { continue }
            found.noteRead(path)
            known.targets.formUnion(reader.targetNames)
            known.configurations.formUnion(reader.configurationNames)
            facts += reader.facts(targets: targets, configurations: configurations)
            scopes += Array(repeating: index, count: facts.count - scopes.count)
            if targets.isEmpty, reader.targetNames.isEmpty || found.isOfLibrary(path) {
                librarySources += reader.librarySources
            }
        }
        try checkNames(known)
        // What no target names is not built, where there are targets.
        if known.targets.isEmpty {
            facts += BundleReader(found, library).facts()
            scopes += Array(repeating: -1, count: facts.count - scopes.count)
        }
        // The manifests that were not read have targets of these, and so do pods and packages; the
        // apps of others are built with libraries.
        if !known.targets.isEmpty,
            let strays = library.bundle(
                ofStrays: (found.sourcesOfOthers + librarySources)
                    .filter { !library.wasExamined($0) })
        {
            facts.append(AppFacts(bundles: [strays]))
            scopes.append(-1)
        }
        library.noteUnreadableFolders()
        guard !facts.isEmpty || !library.problems.isEmpty else { throw .nothingToAudit }
        var recipients = Recipients(facts, scopes)
        recipients.mayBeOthers = !known.targets.isEmpty && found.mayHoldOtherApps
        recipients.apply(
            sends, sendsByTarget, isChosen: !targets.isEmpty,
            areNamed: !paths.contains(where: isFolder))
        var findings: [AppFinding] = []
        for var facts in recipients.facts {
            facts.storefronts = storefronts
            findings += AppRules.findings(in: facts)
        }
        var report = library.report(
            AppFinding.merged(findings),
            configurationCount: Set(facts.compactMap(\.configuration)).count)
        report.unjudged += recipients.unjudged + found.unjudged
        return report
    }

    /// Whether a path is a folder that may hold anything, and not an app or a project.
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

/// Which apps the server's pushes are meant for.
struct Recipients {
    private(set) var facts: [AppFacts]
    private(set) var unjudged: [AuditReport.Unjudged] = []
    /// Whether there may be apps beside those that were read.
    var mayBeOthers = false
    private let scopes: [Int]

    /// An app in all of its configurations.
    private struct App: Hashable {
        let scope: Int
        let name: String?
    }

    /// `scopes` distinguishes the projects.
    init(_ facts: [AppFacts], _ scopes: [Int]) {
        self.facts = facts
        self.scopes = scopes
    }

    /// Says of each app what the server sends to it. Without names that is every iOS app that shows
    /// a sign of such pushes; the only one needs none, though nothing is certain of it then, and
    /// neither do targets that were chosen.
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
            // Each app that takes pushes may be silently woken; which of several takes calls, only
            // a sign can say.
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
    /// Whether a server's pushes can be meant for this: an iOS app that is not part of another.
    fileprivate var canReceive: Bool {
        role == .app && host == nil && (platform == .iOS || platform == nil)
    }

    /// Whether it has the mode for calls, which alone is no sign that pushes bring them.
    fileprivate var hasCallMode: Bool {
        info?["UIBackgroundModes"]?.strings.contains { $0.value.lowercased() == "voip" } == true
    }

    /// What an app shows a sign of; empty for one that has nothing to do with pushes.
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

/// The files that the paths of an audit lead to.
struct FoundFiles {
    private(set) var projects: [String] = []
    private(set) var infoPlists: [String] = []
    private(set) var entitlements: [String] = []
    /// The files of source text.
    private(set) var sources = SourceList()
    /// The property lists that were named themselves, whatever they are called.
    private(set) var named: Set<String> = []
    /// The files by which other tools build or fetch what no Info.plist speaks of.
    private(set) var otherBuilds: Set<String> = []
    /// The manifests of Tuist that no project beside them was made from.
    private(set) var tuistManifests: [String] = []
    /// Those of them that were not understood.
    private var unreadManifests: [String] = []
    private var specifications: [String] = []
    /// The folders of pods.
    private var podFolders: [String] = []
    /// The files by which generators that are not read make projects.
    private var generators: [String] = []
    /// The folders of Swift packages.
    private var packageFolders: [String] = []
    /// The folders of projects of .NET.
    private var dotNetFolders: [String] = []

    /// Looks at these paths.
    init(_ paths: [String], _ tree: FileTree) throws(AuditFailure) {
        var seen: Set<String> = []
        for path in paths.map(Paths.normalised) {
            guard let kind = FileTree.kind(of: path) else { throw .missing(path: path) }
            let files = kind == .file ? [path] : tree.files(below: path)
            if kind == .file { named.insert(path) }
            for file in files where seen.insert(file).inserted { sort(file) }
            sources.add(files)
        }
        sources.sort()
        // The project that a description was made into says more than it.
        let made = Set(projects.map { Paths.folder(of: Paths.folder(of: $0)) })
        projects += specifications.filter {
            named.contains($0) || !made.contains(Paths.folder(of: $0))
        }
        tuistManifests.removeAll { made.contains(Paths.folder(of: $0)) }
        generators += tuistManifests
        if !tuistManifests.isEmpty { otherBuilds.insert("Project.swift") }
        unreadManifests = tuistManifests
        projects.sort()
    }

    /// Notes that a project's description was understood.
    mutating func noteRead(_ path: String) { unreadManifests.removeAll { $0 == path } }

    private mutating func sort(_ file: String) {
        let name = Paths.name(of: file)
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
            // A pod is built with others that it names.
            otherBuilds.insert(name)
            podFolders.append(Paths.folder(of: file))
        } else if name == "Project.swift", Self.isOfTuist(file) {
            tuistManifests.append(file)
        } else if name.hasSuffix(".csproj") {
            dotNetFolders.append(Paths.folder(of: file))
        }
    }

    /// Whether a `project.pbxproj` is that of a project: one that is named, or the file of an
    /// `.xcodeproj`, and no note of the same name elsewhere.
    private func isProject(_ file: String) -> Bool {
        let folder = Paths.folder(of: file)
        return named.contains(file) || folder == "." || folder.hasSuffix(".xcodeproj")
    }

    private static let packageManagers: Set = ["Package.swift", "Podfile", "Cartfile"]
    /// What makes projects, and may write other property lists than those that are there.
    private static let generators: Set = [
        "BUILD", "BUILD.bazel", "BUCK", "app.json", "app.config.js", "app.config.ts",
    ]

    /// Whether a file is a manifest of Tuist, which makes a project: apps and the helpers of
    /// manifests have files of that name too.
    private static func isOfTuist(_ file: String) -> Bool {
        let folders = file.split(separator: "/").dropLast()
        guard !folders.contains("ProjectDescriptionHelpers"),
            let bytes = try? FileTree.read(file, limit: AuditLimits.sourceBytes)
        else { return false }
        return WordFilter(["ProjectDescription"]).finds(in: bytes)
    }

    /// Whether a generator that is not read may add to the property lists of a folder: one in that
    /// folder or above.
    func isGenerated(_ folder: String) -> Bool {
        generators.contains { Paths.contains(Paths.folder(of: $0), folder) }
    }

    /// Whether a folder is part of a pod.
    func isOfPod(_ folder: String) -> Bool {
        podFolders.contains { Paths.contains($0, folder) }
    }

    /// Whether a project is beside the manifest of a pod or a package, or below it.
    func isOfLibrary(_ project: String) -> Bool {
        let folder = Self.folder(ofProject: project)
        return (podFolders + packageFolders).contains { Paths.contains($0, folder) }
    }

    /// The source files beside the manifests of Tuist, of pods and of packages, outside of the
    /// projects' folders.
    var sourcesOfOthers: [String] {
        let folders = tuistManifests.map(Paths.folder) + podFolders + packageFolders
        guard !folders.isEmpty else { return [] }
        let read = projectFolders
        return sources.files.filter { file in
            folders.contains { Paths.contains($0, file) }
                && !read.contains { Paths.contains($0, file) }
        }
    }

    private var projectFolders: [String] { projects.map(Self.folder(ofProject:)) }

    private static func folder(ofProject project: String) -> String {
        let folder = Paths.folder(of: project)
        return project.hasSuffix(".pbxproj") ? Paths.folder(of: folder) : folder
    }

    /// Whether there is a manifest of Tuist, or an Info.plist of .NET, outside of the only
    /// project's folder: the app is then more likely its than the one that was read.
    var mayHoldOtherApps: Bool {
        let folders = projectFolders
        let ofDotNet = infoPlists.filter { list in
            dotNetFolders.contains { Paths.contains($0, list) }
        }
        return (unreadManifests + ofDotNet).contains { file in
            !folders.contains { Paths.contains($0, Paths.folder(of: file)) }
        }
    }

    /// What is said of the manifests that are not read.
    var unjudged: [AuditReport.Unjudged] {
        guard let first = unreadManifests.first else { return [] }
        let count = unreadManifests.count
        let manifests =
            count == 1
            ? "\(first) of Tuist was"
            : "\(count) manifests of Tuist, such as \(first), were"
        return [
            AuditReport.Unjudged(
                targets: [],
                reason: manifests + " not read; run `tuist generate`, and audit what it makes",
                rules: [])
        ]
    }
}
