// SPDX-License-Identifier: Apache-2.0

package import PayloadLint
public import PayloadRules

/// Audits an app's configuration for pushes: finds its files, reads them, and checks the rules.
///
/// It reads Info.plists and entitlements, projects of Xcode, XcodeGen and Tuist with their build
/// settings, configurations of Expo, sources in Swift and Objective-C, and signed apps. It writes
/// no file and starts no process. It blocks the calling thread, for seconds on a large project.
public struct Audit: Sendable {
    /// The files and folders to audit.
    public var paths: [String]
    /// The server's pushes; empty if not specified. They apply to the iOS apps that show a sign of
    /// such pushes.
    public var sends: Set<ServerPush>
    /// The server's pushes to single targets.
    public var sendsByTarget: [String: Set<ServerPush>]
    /// Whether settings say what the server sends, which may name targets of other projects too; a
    /// name that no target has is an error otherwise.
    public var sendsAreSettings = false
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
        var places: [(folder: String, target: String)] = []
        var librarySources: [String] = []
        var readers: [ProjectReader] = []
        let descriptions = found.projects + found.tuistManifests + found.expoConfigurations
        for (index, path) in descriptions.enumerated() {
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
            found.noteRead(path, knowsInfo: reader.knowsInfo)
            if reader.targetNames.isEmpty {
                found.infoPlistsOfLibraries.formUnion(reader.libraryInfoPlists)
            }
            known.targets.formUnion(reader.targetNames)
            places += reader.targetNames.map { (FoundFiles.folder(ofProject: path), $0) }
            known.configurations.formUnion(reader.configurationNames)
            facts += reader.facts(targets: targets, configurations: configurations)
            scopes += Array(repeating: index, count: facts.count - scopes.count)
            if targets.isEmpty, !reader.holdsApps || found.isOfLibrary(path) {
                librarySources += reader.librarySources
            }
        }
        let strangers = try checkNames(known, places)
        let hasTargets = !known.targets.isEmpty
        // If there are targets, only files of targets are built. An app of Expo says nothing of
        // others.
        let isOfExpo = hasTargets && readers.allSatisfy { $0.isOfExpo || $0.targetNames.isEmpty }
        if !hasTargets || isOfExpo && !found.holdsExpoOnly && targets.isEmpty {
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
        guard !facts.isEmpty || !library.problems.isEmpty else {
            if let project = descriptions.first { throw .noApp(project: project) }
            throw library.tree.excludedPlaces.isEmpty ? .nothingToAudit : .allExcluded
        }
        var recipients = Recipients(
            facts, scopes, descriptions.map(FoundFiles.folder(ofProject:)))
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
        if !strangers.isEmpty {
            report.unjudged.append(
                AuditReport.Unjudged(
                    targets: [],
                    reason: "sends of the settings was not applied to "
                        + strangers.map { Self.named($0, among: known.targets) }
                        .joined(separator: ", ") + ", for lack of such a target here",
                    rules: []))
        }
        let all = library.tree.excludedPlaces.union(excluded).subtracting(found.named)
        let left = all.filter { path in
            !path.indices.contains { path[$0] == "/" && all.contains(String(path[..<$0])) }
        }
        .sorted()
        if !left.isEmpty {
            report.say(
                notJudged: "the settings exclude \(left.count) "
                    + (left.count == 1 ? "file or folder" : "files or folders")
                    + " (\(left.prefix(5).joined(separator: ", "))\(left.count > 5 ? ", …" : ""))")
        }
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

    /// A name that no target has, with the one that may be meant.
    private static func named(_ name: String, among targets: Set<String>) -> String {
        let meant = Nearest.name(to: name, among: targets.sorted())
        return name + (meant.map { " (was \($0) meant?)" } ?? "")
    }

    /// Throws for a name that no target has. Returns those of settings, which may be for other
    /// parts of their folder.
    private func checkNames(
        _ known: (targets: Set<String>, configurations: Set<String>),
        _ places: [(folder: String, target: String)]
    ) throws(AuditFailure) -> [String] {
        let strangers = sendsByTarget.keys.filter { name in
            !known.targets.isEmpty && !known.targets.contains(name)
                && !places.contains {
                    $0.target == Paths.name(of: name) && Recipients.isIn($0.folder, name)
                }
        }
        let wrong = targets.subtracting(known.targets).union(sendsAreSettings ? [] : strangers)
        if let name = wrong.min() {
            let many = Dictionary(grouping: places, by: \.target)
            let names = places.map { place in
                many[place.target]?.count == 1
                    ? place.target : Paths.join(place.folder, place.target)
            }
            throw .unknownTarget(name, known: Set(names).sorted())
        }
        if let name = configurations.subtracting(known.configurations).min() {
            throw .unknownConfiguration(name, known: known.configurations.sorted())
        }
        return sendsAreSettings ? strangers.sorted() : []
    }
}

/// Assigns the server's pushes to apps.
struct Recipients {
    private(set) var facts: [AppFacts]
    private(set) var unjudged: [AuditReport.Unjudged] = []
    /// Whether there may be other apps than those that were read.
    var mayBeOthers = false
    private let scopes: [Int]
    private let projects: [String]

    /// An app in all its configurations.
    private struct App: Hashable {
        let scope: Int
        let name: String?
    }

    /// Creates recipients. `scopes` distinguishes projects, whose folders are `projects`.
    init(_ facts: [AppFacts], _ scopes: [Int], _ projects: [String]) {
        self.facts = facts
        self.scopes = scopes
        self.projects = projects
    }

    /// Whether a name is that of a target with the end of the folder of its project before it,
    /// which tells it from others of its name: `shop/ios/Runner`.
    static func isIn(_ project: String, _ name: String) -> Bool {
        let folder = name.split(separator: "/").dropLast().filter { $0 != "." }
        // The settings may be in a folder around the working directory.
        let parts = Paths.join(FileTree.currentFolder, project).split(separator: "/")
        return !folder.isEmpty && parts.suffix(folder.count).elementsEqual(folder)
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
        var withoutSign: Set<ServerPush> = []
        for push in sends.sorted(by: { $0.rawValue < $1.rawValue }) {
            var showing = receivers.filter { signs[$0]?.contains(push) == true }
            if showing.isEmpty, push == .voip { showing = receivers.filter(withCalls.contains) }
            // Every app with pushes may get silent ones. If there are several apps, only a sign
            // shows which one gets calls.
            let canBeAny = isChosen || receivers.count == 1 || [.alert, .background].contains(push)
            let meant = showing.isEmpty && canBeAny || isChosen ? receivers : showing
            if showing.isEmpty, !isChosen, !areNamed { withoutSign.insert(push) }
            for app in meant { pushes[app, default: []].insert(push) }
            note(
                push,
                receivers.filter {
                    !meant.contains($0) && named($0.name, $0.scope, in: byTarget) == nil
                })
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
                let named = named(bundle.name, scopes[index], in: byTarget)
                facts[index].bundles[place].sends = named ?? pushes[app] ?? []
                if named == nil { facts[index].bundles[place].sendsWithoutSign = withoutSign }
                facts[index].bundles[place].isOnlyAssumed =
                    named == nil && !isChosen && !areNamed && signs[app]?.isEmpty != false
            }
        }
    }

    /// The facts of a bundle by its name, or by the folder that identifies it.
    private func named(
        _ name: String?, _ scope: Int, in byTarget: [String: Set<ServerPush>]
    ) -> Set<ServerPush>? {
        guard let name else { return byTarget.count == 1 ? byTarget.first?.value : nil }
        if projects.indices.contains(scope) {
            let own = byTarget.keys.filter {
                Self.isIn(projects[scope], $0) && Paths.name(of: $0) == name
            }
            if let nearest = own.max(by: { $0.count < $1.count }) { return byTarget[nearest] }
        }
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
