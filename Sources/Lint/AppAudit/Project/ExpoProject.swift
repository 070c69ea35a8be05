// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// An app of Expo whose project is made at each build (`npx expo prebuild`), by its configuration:
/// `app.json`, and `app.config.js` or `app.config.ts` if its values are literal. Nothing is
/// executed.
///
/// What its plugins add is known of few (<https://docs.expo.dev/config-plugins/introduction/>), so
/// that nothing is certain of what the configuration lacks. Its scripts are not read.
struct ExpoProject {
    /// The names of files with a configuration, the one that decides last.
    static let fileNames = ["app.json", "app.config.js", "app.config.ts"]

    let targets: [XcodeTarget]
    private let folder: String
    private let configuration: ScriptObject

    /// The configuration that decides, among those beside each other: a script gets what
    /// `app.json` has, and need not use it.
    static func deciding(among files: [String]) -> [String] {
        Dictionary(grouping: files, by: Paths.folder).values.compactMap { files in
            fileNames.reversed().lazy.compactMap { name in
                files.first { Paths.name(of: $0) == name }
            }.first
        }
        .sorted()
    }

    /// Reads a configuration; `nil` if it has nothing for iOS, or makes it by code.
    init?(_ path: String, _ library: FileLibrary) {
        folder = Paths.folder(of: path)
        let json = Paths.join(folder, Self.fileNames[0])
        guard var configuration = Self.configuration(path, library) else { return nil }
        if path != json, let base = Self.configuration(json, library) {
            configuration = configuration.spreading(base, named: "config")
        }
        guard let ios = configuration.root["ios"],
            ios["bundleIdentifier"] != nil || ios["infoPlist"] != nil
        else { return nil }
        self.configuration = configuration
        let name =
            ["name", "slug"].lazy.compactMap { configuration.root[$0]?.string }.first
            ?? Paths.name(of: folder)
        let object = [
            "name": AppProperty(.string(name), at: ios.place),
            "productType": AppProperty(
                .string("com.apple.product-type.application"), at: ios.place),
        ]
        targets = [XcodeTarget(id: name, object: AppProperty(.dictionary(object), at: ios.place))]
    }

    /// The object with the configuration in a file; `nil` if there is none, or more than one.
    private static func configuration(
        _ path: String, _ library: FileLibrary
    ) -> ScriptObject? {
        guard
            let bytes = library.optionalBytes(
                path, .xcodeProject, limit: AuditLimits.settingsBytes),
            let found = ScriptObject.all(
                in: bytes, file: path, where: { ($0["expo"] ?? $0)["ios"] != nil }),
            found.count == 1, var object = found.first
        else { return nil }
        object.root = object.root["expo"] ?? object.root
        return object
    }

    private var ios: AppProperty? { configuration.root["ios"] }

    /// The plugins with their options, which are `nil` if there are none.
    private var plugins: [(name: Located<String>, options: AppProperty?)] {
        guard case .array(let elements) = configuration.root["plugins"]?.value else { return [] }
        return elements.compactMap { element in
            var parts = [element]
            if case .array(let list) = element.value { parts = list }
            guard let name = parts.first?.string, let place = parts.first?.place else { return nil }
            return (Located(name, at: place), parts.count > 1 ? parts[1] : nil)
        }
    }

    /// What is in the names of plugins that let pushes wake the app.
    private static let pushWords = [
        "airship", "batch", "braze", "clevertap", "customerio", "iterable", "moengage", "notif",
        "onesignal", "push", "reteno",
    ]

    /// The plugin that lets pushes wake the app; `nil` if none is known to.
    private var pushPlugin: AppPlace? {
        plugins.first { plugin in
            let name = plugin.name.value.lowercased()
            if name == "expo-notifications" {
                return plugin.options?["enableBackgroundRemoteNotifications"]?.isTrue == true
            }
            return Self.pushWords.contains(where: name.contains)
                || Self.isLocal(name)
                    && text(ofLocal: plugin.name.value, has: ["UIBackgroundModes"])
        }?
        .name.place
    }

    private static func isLocal(_ plugin: String) -> Bool {
        plugin.hasPrefix(".") || plugin.hasPrefix("/")
    }

    /// Whether the text of a plugin of the app's own has one of some words, or cannot be read.
    private func text(ofLocal plugin: String, has words: Set<String>) -> Bool {
        let path = Paths.join(folder, plugin)
        let endings = ["", ".js", ".ts", ".cjs", ".mjs", "/index.js", "/index.ts"]
        let bytes = endings.lazy.compactMap { ending in
            try? FileTree.read(path + ending, limit: AuditLimits.sourceBytes)
        }
        .first
        return bytes.map { WordFilter(words).finds(in: $0) } ?? true
    }

    /// What is in the text of plugins that add source text to the app.
    private static let wordsOfSource: Set = [
        "withAppDelegate", "withXcodeProject", "withDangerousMod", "withPodfile",
        "withPodfileProperties", "BGTaskScheduler", "swift",
    ]
}

extension ExpoProject: ProjectDescription {
    func configurations(of target: XcodeTarget) -> [String] { ["Release"] }

    func settings(
        of target: XcodeTarget, in configuration: String, files: SettingsFiles
    ) -> BuildSettings {
        let own = [
            "SDKROOT": AppProperty(.string("iphoneos"), at: target.object.place),
            "PRODUCT_BUNDLE_IDENTIFIER": ios?["bundleIdentifier"],
        ]
        return BuildSettings(
            layers: [own.compactMapValues { $0?.string == nil ? nil : $0 }],
            builtIn: ["CONFIGURATION": configuration, "PRODUCT_NAME": target.name])
    }

    func settingsPlace(of target: XcodeTarget, in configuration: String) -> AppPlace {
        target.object.place
    }

    func path(ofSetting text: String) -> String { Paths.join(folder, text) }

    func dependencies(of target: XcodeTarget) -> [XcodeTarget] { [] }

    func sources(of target: XcodeTarget, tree: FileTree) -> SourceList {
        var list = SourceList()
        list.add(tree.files(below: folder))
        list.removeScripts()
        let modules = PluginManifests.plugins(
            ofAppAbove: Paths.join(folder, "ios"), in: ["package.json"])
        if let modules {
            for (name, uses) in modules { list.addUnread(.package, name, uses: uses) }
        } else {
            list.addUnread(.project, "package.json")
        }
        for plugin in plugins.map(\.name.value)
        where Self.isLocal(plugin) && text(ofLocal: plugin, has: Self.wordsOfSource) {
            list.addUnread(.package, plugin)
        }
        if configuration.root["plugins"].map({ configuration.isOpen(at: $0.place) }) == true {
            list.addUnread(.project, "plugins")
        }
        list.sort()
        return list
    }

    func changesEntitlements(of target: XcodeTarget) -> Bool { true }

    func runsScript(naming word: String, for target: XcodeTarget) -> Bool { true }

    func generated(_ kind: AuditReport.FileKind, of target: XcodeTarget) -> AppProperties? {
        guard kind == .infoPlist, let ios else { return nil }
        guard let info = ios["infoPlist"] else { return AppProperties([:], at: ios.place) }
        guard case .dictionary(var members) = info.value,
            ![ios, info].contains(where: { configuration.isSpread(at: $0.place) }),
            members["UIBackgroundModes"].map({ configuration.isOpen(at: $0.place) }) != true
        else { return nil }
        if let place = pushPlugin {
            var modes: [AppProperty] = []
            if case .array(let own) = members["UIBackgroundModes"]?.value { modes = own }
            modes.append(
                AppProperty(.string(BackgroundMode.remoteNotification.rawValue), at: place))
            members["UIBackgroundModes"] = AppProperty(.array(modes), at: info.place)
        }
        return AppProperties(members, at: info.place)
    }
}
