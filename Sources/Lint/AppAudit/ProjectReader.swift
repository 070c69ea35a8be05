// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Determines the facts about a project's apps, for each build configuration.
struct ProjectReader {
    private let project: any ProjectDescription
    private let library: FileLibrary

    /// Reads a `project.pbxproj`, a `project.yml` of XcodeGen, a `Project.swift` of Tuist or a
    /// configuration of Expo. On failure returns `nil` and records a problem, except for what only
    /// Tuist or Expo can evaluate.
    init?(_ path: String, _ library: FileLibrary) {
        self.library = library
        if ExpoProject.fileNames.contains(Paths.name(of: path)) {
            guard let project = ExpoProject(path, library) else { return nil }
            self.project = project
            return
        }
        if path.hasSuffix(".swift") {
            guard let project = TuistProject(path, library) else { return nil }
            self.project = project
            return
        }
        if !path.hasSuffix(".pbxproj") {
            guard let project = XcodeGenProject(path, library) else { return nil }
            self.project = project
            return
        }
        guard let list = library.properties(path, .xcodeProject) else { return nil }
        let bundle = Paths.folder(of: path)
        do throws(ReadingFailure) {
            project = try XcodeProject(
                list, file: path, folder: Paths.folder(of: bundle), name: Paths.stem(of: bundle))
        } catch {
            library.note(error)
            return nil
        }
    }

    private var targets: [XcodeTarget] { project.targets.filter { $0.role != .other } }

    /// Whether its Info.plist is known, as far as the configuration of an app of Expo tells it;
    /// always true of other projects, whose files tell it.
    var knowsInfo: Bool {
        !isOfExpo || targets.contains { project.generated(.infoPlist, of: $0) != nil }
    }

    /// Whether it is an app of Expo.
    var isOfExpo: Bool { project is ExpoProject }

    /// The names of the app and extension targets.
    var targetNames: [String] { targets.map(\.name) }

    /// The names of the modules of all targets.
    var moduleNames: Set<String> {
        Set(project.targets.map { String($0.name.map { $0.isLetter || $0.isNumber ? $0 : "_" }) })
    }

    /// Whether it has apps or extensions, and not only the hosts of its tests.
    var holdsApps: Bool { targets.contains { !$0.isTestHost } }

    /// The source files of the project's frameworks and libraries.
    var librarySources: [String] {
        project.targets.filter(\.isLibrary).flatMap { target in
            let list = project.sources(of: target, tree: library.tree)
            return list.files.filter { !list.isShared($0) }
        }
    }

    /// The source files of all targets.
    var builtSources: Set<String> {
        Set(project.targets.flatMap { project.sources(of: $0, tree: library.tree).files })
    }

    /// The property lists of the project's frameworks and libraries, and of the hosts of its tests.
    var libraryInfoPlists: Set<String> {
        var paths: Set<String> = []
        for target in project.targets where target.isLibrary || target.isTestHost {
            for configuration in project.configurations(of: target) {
                let settings = project.settings(
                    of: target, in: configuration, files: library.settingsFiles)
                if let file = settings.text("INFOPLIST_FILE"),
                    !AppProperty.namesBuildSetting(file.value)
                {
                    paths.insert(project.path(ofSetting: file.value))
                }
            }
        }
        return paths
    }

    /// The description of this Xcode project, if the project was not generated again since: it
    /// cannot be built without the files that are gone, and lacks files that the description has.
    func successor(among descriptions: [String]) -> (path: String, reader: ProjectReader)? {
        guard let project = project as? XcodeProject else { return nil }
        let near = descriptions.filter { path in
            Paths.folder(of: path) == project.folder
                && ["project.yml", "project.yaml"].contains(Paths.name(of: path))
        }
        guard near.count == 1, let path = near.first else { return nil }
        let files = ownSources
        let isGone = files.contains { file in
            FileTree.kind(of: FileTree.place(of: file)) == nil
                && !file.lowercased().contains("generated") && !SourceList.isGenerated(file)
        }
        guard isGone, let reader = ProjectReader(path, library),
            Set(reader.targetNames) == Set(targetNames),
            !reader.ownSources.isSubset(of: files)
        else { return nil }
        return (path, reader)
    }

    /// The source files of all targets, without those of packages.
    private var ownSources: Set<String> {
        project.targets.reduce(into: []) { files, target in
            let list = project.sources(of: target, tree: library.tree)
            files.formUnion(list.files.filter { !list.isShared($0) })
        }
    }

    /// The names of the build configurations, without duplicates, in order.
    var configurationNames: [String] {
        var names: [String] = []
        for target in targets {
            for name in project.configurations(of: target) where !names.contains(name) {
                names.append(name)
            }
        }
        return names
    }

    /// The facts in each configuration. Empty sets select all, but for the hosts of tests.
    func facts(targets wanted: Set<String>, configurations: Set<String>) -> [AppFacts] {
        let chosen = targets.filter {
            wanted.isEmpty ? !$0.isTestHost : wanted.contains($0.name)
        }
        var sources: [String: AppFacts.Sources] = [:]
        var identifiers: [String: String] = [:]
        for target in chosen {
            identifiers[target.id] = identifier(of: target)
            let list = project.sources(of: target, tree: library.tree)
            if target.role == .app { library.noteUnread(list.unread, target: target.name) }
            sources[target.id] = library.facts(of: list, isWhole: target.role == .app)
        }
        return configurationNames.filter {
            configurations.isEmpty || configurations.contains($0)
        }
        .map { configuration in
            let bundles = chosen.filter {
                let all = project.configurations(of: $0)
                guard all.contains(configuration) else { return false }
                guard configurations.isEmpty, project.passesOver(configuration, of: all, for: $0)
                else { return true }
                library.noteUnknown(
                    "no shared scheme builds the configuration \(configuration)", target: $0.name,
                    [])
                return false
            }
            .compactMap { bundle($0, configuration, sources[$0.id], identifiers[$0.id]) }
            return AppFacts(configuration: configuration, bundles: bundles)
        }
    }

    /// The bundle of a target; `nil` for the Mac Catalyst variant of an iOS app.
    private func bundle(
        _ target: XcodeTarget, _ configuration: String, _ sources: AppFacts.Sources?,
        _ identifier: String?
    ) -> AppFacts.Bundle? {
        let settings = project.settings(
            of: target, in: configuration, files: library.settingsFiles)
        let place = project.settingsPlace(of: target, in: configuration)
        let platform = Self.platform(target, settings)
        guard !Self.isCatalyst(target, configuration, settings, platform) else { return nil }
        let info = info(of: target, settings, place)
        let hosts = hosts(of: target)
        var bundle = AppFacts.Bundle(
            name: target.name, role: target.role, platform: platform,
            identifier: settings.text("PRODUCT_BUNDLE_IDENTIFIER")
                ?? info?["CFBundleIdentifier"].flatMap { property in
                    property.string.map { Located($0, at: property.place) }
                },
            deploymentTarget: Self.deploymentTarget(settings, platform), info: info,
            entitlements: entitlements(of: target, settings, place), host: hosts.first,
            sources: platform == .macOS ? sources?.forMac : sources)
        let own = info?["CFBundleIdentifier"]?.string ?? identifier
        bundle.sources?.name(own == identifier ? identifier : nil)
        // A script may write the modes into the built file.
        bundle.mayBeIncomplete = project.runsScript(naming: "uibackgroundmodes", for: target)
        bundle.mayGetKeys =
            isOfExpo
            || ["plistbuddy", "plutil"].contains { project.runsScript(naming: $0, for: target) }
        bundle.isAppClip = target.isAppClip
        bundle.hosts = hosts
        return bundle
    }

    /// The identifier of a target, if it is known and the same in all configurations.
    private func identifier(of target: XcodeTarget) -> String? {
        let all = Set(
            project.configurations(of: target).map { configuration -> String? in
                let settings = project.settings(
                    of: target, in: configuration, files: library.settingsFiles)
                return settings.isComplete
                    ? settings.text("PRODUCT_BUNDLE_IDENTIFIER")?.value : nil
            })
        guard all.count == 1, let only = all.first, let only, !AppProperty.namesBuildSetting(only)
        else { return nil }
        return only
    }

    /// The apps that embed a target.
    private func hosts(of target: XcodeTarget) -> [String] {
        targets.filter { other in
            other.role == .app
                && project.dependencies(of: other).contains { $0.id == target.id }
        }
        .map(\.name)
    }

    // MARK: Info.plist and entitlements

    /// The Info.plist, with the keys that Xcode adds; `nil` if it cannot be read.
    private func info(
        of target: XcodeTarget, _ settings: BuildSettings, _ place: AppPlace
    ) -> AppProperties? {
        if let stated = project.generated(.infoPlist, of: target) {
            return overlaid(stated, settings.text("INFOPLIST_FILE")?.value, .infoPlist, settings)
        }
        let isGenerated = settings.text("GENERATE_INFOPLIST_FILE")?.value == "YES"
        var info = AppProperties([:], at: place)
        if let file = settings.text("INFOPLIST_FILE") {
            // A setting that only Xcode can resolve, so that the file is unknown.
            guard !AppProperty.namesBuildSetting(file.value) else {
                noteUnknown(file.value, in: "INFOPLIST_FILE", of: target) { $0.needsInfo }
                return nil
            }
            let path = FileTree.place(of: project.path(ofSetting: file.value))
            // A preprocessor may change the text of the file.
            let isOptional = settings.text("INFOPLIST_PREPROCESS")?.value == "YES"
            guard let list = library.properties(path, .infoPlist, isOptional: isOptional) else {
                return nil
            }
            info = AppProperties(list.members.mapValues { $0.expanded(settings) }, at: list.place)
        } else if !isGenerated {
            return nil
        }
        // A missing file of settings may hold the modes.
        let modes = info["UIBackgroundModes"]?.strings ?? []
        if !settings.isComplete,
            let mode = modes.first(where: { AppProperty.namesBuildSetting($0.value) })
        {
            noteUnknown(mode.value, in: "UIBackgroundModes", of: target) { $0.needsInfo }
            return nil
        }
        guard isGenerated else { return info }
        let prefix = "INFOPLIST_KEY_"
        for name in settings.names(withPrefix: prefix) {
            let key = String(name.dropFirst(prefix.count))
            guard let property = Self.generated(key, name, settings) else { continue }
            info.members[key] = property.appended(to: info.members[key])
        }
        return info
    }

    /// Records that the references to build settings in a value cannot be resolved: one that many
    /// values have is named once.
    private func noteUnknown(
        _ value: String, in place: String, of target: XcodeTarget, affects: (AppRule) -> Bool
    ) {
        let names = AppProperty.buildSettings(in: value)
        library.noteUnknown(
            names.count == 1
                ? "the build setting \(names[0]) in \(place) is not known"
                : "the build settings \(names.joined(separator: ", ")) in \(place) are not known",
            target: target.name, AppRules.table.filter(affects).map(\.id))
    }

    /// The keys with list values, whose elements a build setting separates by spaces.
    private static let listKeys: Set = [
        "UIBackgroundModes", "BGTaskSchedulerPermittedIdentifiers",
    ]

    private static func generated(
        _ key: String, _ name: String, _ settings: BuildSettings
    ) -> AppProperty? {
        guard let text = settings.text(name) else { return nil }
        guard listKeys.contains(key) else {
            return AppProperty(.string(text.value), at: text.place)
        }
        let elements = settings.list(name).map { AppProperty(.string($0.value), at: $0.place) }
        return AppProperty(.array(elements), at: text.place)
    }

    /// The values in a description, which override those of the generated file.
    private func overlaid(
        _ stated: AppProperties, _ file: String?, _ kind: AuditReport.FileKind,
        _ settings: BuildSettings
    ) -> AppProperties {
        var members: [String: AppProperty] = [:]
        if let file {
            let path = project.path(ofSetting: file)
            if FileTree.kind(of: path) == .file,
                let list = library.properties(path, kind, isOptional: true)
            {
                members = list.members
            }
        }
        members.merge(stated.members) { $1 }
        return AppProperties(members.mapValues { $0.expanded(settings) }, at: stated.place)
    }

    private func entitlements(
        of target: XcodeTarget, _ settings: BuildSettings, _ place: AppPlace
    ) -> AppFacts.Entitlements {
        guard !project.changesEntitlements(of: target) else { return .unknown }
        if let stated = project.generated(.entitlements, of: target) {
            let file = settings.text("CODE_SIGN_ENTITLEMENTS")?.value
            return .known(overlaid(stated, file, .entitlements, settings))
        }
        guard let file = settings.text("CODE_SIGN_ENTITLEMENTS") else {
            return settings.isComplete ? .none(place) : .unknown
        }
        guard !AppProperty.namesBuildSetting(file.value) else {
            noteUnknown(file.value, in: "CODE_SIGN_ENTITLEMENTS", of: target) {
                $0.needsEntitlements
            }
            return .unknown
        }
        let path = FileTree.place(of: project.path(ofSetting: file.value))
        guard let list = library.properties(path, .entitlements) else { return .unknown }
        return .known(
            AppProperties(list.members.mapValues { $0.expanded(settings) }, at: list.place))
    }

    // MARK: Platform

    private static func platform(_ target: XcodeTarget, _ settings: BuildSettings) -> AppPlatform? {
        let platforms = settings.platforms
        // A multi-platform target counts as an iOS app, which pushes wake.
        if platforms.contains("iphoneos") {
            let isOfMac =
                platforms.contains("macosx") && settings.text("SDKROOT")?.value == "macosx"
                && says(["mac", "macos", "osx"], target, settings)
            return isOfMac ? .macOS : .iOS
        }
        for name in platforms + [settings.text("SDKROOT")?.value ?? ""] {
            switch name {
            case "iphoneos", "iphonesimulator": return .iOS
            case "macosx": return .macOS
            case "watchos", "watchsimulator": return .watchOS
            case "appletvos", "appletvsimulator": return .tvOS
            case "xros", "xrsimulator": return .visionOS
            default: continue
            }
        }
        return nil
    }

    /// Whether what is built is the Mac Catalyst variant of an iOS app alone: the name of the
    /// target or its files say so, so that another target builds the iOS app, macOS is all that it
    /// supports, or a configuration is for Developer ID, which signs macOS apps.
    private static func isCatalyst(
        _ target: XcodeTarget, _ configuration: String, _ settings: BuildSettings,
        _ platform: AppPlatform?
    ) -> Bool {
        let isPossible = settings.text("SUPPORTS_MACCATALYST")?.value == "YES"
        switch platform {
        case .iOS:
            return configuration.lowercased().filter(\.isLetter).contains("developerid")
                || isPossible && says(["catalyst", "maccatalyst"], target, settings)
        case .macOS: return isPossible && settings.text("SDKROOT")?.value == "iphoneos"
        default: return false
        }
    }

    /// Whether the name of a target or its files have one of some words, in lowercase letters.
    private static func says(
        _ words: Set<String>, _ target: XcodeTarget, _ settings: BuildSettings
    ) -> Bool {
        let files = ["INFOPLIST_FILE", "CODE_SIGN_ENTITLEMENTS"].compactMap {
            settings.text($0)?.value
        }
        return ([target.name] + files).flatMap { $0.split { !$0.isLetter } }.contains { part in
            words.contains(part.lowercased())
                || !words.isDisjoint(with: SourceReader.nameParts(String(part)))
        }
    }

    private static func deploymentTarget(
        _ settings: BuildSettings, _ platform: AppPlatform?
    ) -> Located<SystemVersion>? {
        let name: String
        switch platform {
        case .iOS: name = "IPHONEOS_DEPLOYMENT_TARGET"
        case .macOS: name = "MACOSX_DEPLOYMENT_TARGET"
        case .watchOS: name = "WATCHOS_DEPLOYMENT_TARGET"
        case .tvOS: name = "TVOS_DEPLOYMENT_TARGET"
        case .visionOS: name = "XROS_DEPLOYMENT_TARGET"
        case nil: return nil
        }
        guard let text = settings.text(name), let version = SystemVersion(text.value) else {
            return nil
        }
        return Located(version, at: text.place)
    }
}

extension AppFacts.Sources {
    /// What a Mac app compiles of them: the SDK for macOS has no background tasks and no location
    /// updates in the background, which are there for the apps of other systems.
    fileprivate var forMac: AppFacts.Sources {
        var own = self
        own.observations.removeAll { seen in
            switch seen.subject {
            case .registeredTask, .requestedTask, .sceneTask, .backgroundWork, .backgroundLocation:
                true
            default: false
            }
        }
        return own
    }
}

extension AppProperty {
    /// The value that a build setting gives a key of the file: Xcode appends the elements of a list
    /// to those of the file (swift-build, InfoPlistProcessorTaskAction).
    fileprivate func appended(to own: AppProperty?) -> AppProperty {
        guard case .array(let elements) = value, let own, case .array(let others) = own.value else {
            return self
        }
        let known = Set(others.compactMap(\.string))
        let new = elements.filter { $0.string.map(known.contains) != true }
        return AppProperty(.array(others + new), at: own.place)
    }

    /// The value with all references to build settings resolved.
    fileprivate func expanded(_ settings: BuildSettings) -> AppProperty {
        var result = self
        switch value {
        case .string(let text) where text.contains("$"):
            result.value = .string(settings.expanded(text))
        case .array(let elements):
            result.value = .array(elements.map { $0.expanded(settings) })
        case .dictionary(let members):
            result.value = .dictionary(members.mapValues { $0.expanded(settings) })
        default: break
        }
        return result
    }
}
