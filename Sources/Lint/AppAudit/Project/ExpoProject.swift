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
    /// Whether the script may change the values of its object.
    private let changesValues: Bool
    /// The plugins with their options, which are `nil` if there are none.
    private let plugins: [(name: Located<String>, options: AppProperty?)]
    /// The plugins of the app's own.
    private let localPlugins: [Located<String>]

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
        if path != json {
            let base = Self.configuration(json, library)
            if base != nil || FileTree.kind(of: json) == nil {
                configuration = configuration.spreading(base, named: Self.base)
            }
            changesValues = Self.changesValues(path, configuration)
        } else {
            changesValues = false
        }
        guard let ios = configuration.root["ios"],
            ios["bundleIdentifier"] != nil || ios["infoPlist"] != nil
        else { return nil }
        self.configuration = configuration
        plugins = Self.plugins(in: configuration)
        localPlugins = plugins.map(\.name).filter { [".", "/"].contains($0.value.prefix(1)) }
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

    /// The object with the configuration in a file: the only one with `ios`, or that takes all of
    /// `app.json`; `nil` if there is none.
    private static func configuration(
        _ path: String, _ library: FileLibrary
    ) -> ScriptObject? {
        guard
            let bytes = library.optionalBytes(
                path, .xcodeProject, limit: AuditLimits.settingsBytes),
            let found = ScriptObject.all(
                in: bytes, file: path,
                where: { object in
                    let root = object.root["expo"] ?? object.root
                    return root["ios"] != nil || object.spreads(base, at: root.place)
                }),
            found.count == 1, var object = found.first
        else { return nil }
        object.root = object.root["expo"] ?? object.root
        return object
    }

    /// Whether a script sets or adds to values, `config.ios.infoPlist.UIBackgroundModes.push(…)`,
    /// or hands the object to a function, as for plugins: `withTasks({ … })`.
    private static func changesValues(_ path: String, _ configuration: ScriptObject) -> Bool {
        guard let bytes = try? FileTree.read(path, limit: AuditLimits.settingsBytes) else {
            return true
        }
        var before = bytes.prefix(configuration.start)
        func takeBlanks() { while before.last.map({ $0 <= 0x20 }) == true { before.removeLast() } }
        func ends(with text: String) -> Bool {
            before.suffix(text.utf8.count).elementsEqual(text.utf8)
        }
        takeBlanks()
        if ends(with: "(") {
            before.removeLast()
            takeBlanks()
            guard ["=>", "return", "default", "="].contains(where: ends) else { return true }
        } else if !["=", "return", "default"].contains(where: ends) {
            return true
        }
        let text = String(decoding: bytes, as: UTF8.self)
        if callsWrapper(text) { return true }
        let values = [".ios", ".infoPlist", ".plugins", ".UIBackgroundModes"]
        return text.contains("Object.assign") || text.contains("merge(")
            || text.split(whereSeparator: \.isNewline).contains { line in
                guard values.contains(where: line.contains) else { return false }
                let plain = ["==", "=>", "!=", "<=", ">="].reduce(String(line)) {
                    $0.replacing($1, with: "")
                }
                let left = plain.prefix { $0 != "=" }
                return plain.contains("=") && values.contains(where: left.contains)
                    || [".push(", ".unshift(", ".splice(", ".concat("].contains(
                        where: line.contains)
            }
    }

    /// Whether a script exports what a function returns, or calls one for plugins:
    /// `module.exports = applyModes(config)`, `withTasks(config)`.
    private static func callsWrapper(_ text: String) -> Bool {
        let words = text.split { !$0.isLetter && !$0.isNumber && $0 != "(" }
        let wraps = words.contains { word in
            word.split(separator: "(", omittingEmptySubsequences: false).dropLast().contains {
                $0.hasPrefix("with") && $0.dropFirst(4).first?.isUppercase == true
            }
        }
        return wraps
            || ["module.exports =", "export default"].contains { start in
                guard let range = text.firstRange(of: start) else { return false }
                let rest = text[range.upperBound...].drop(while: \.isWhitespace)
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
                return !name.isEmpty && !["function", "async"].contains(name)
                    && rest.dropFirst(name.count).first == "("
            }
    }

    /// The name that scripts have for what `app.json` has.
    private static let base = "config"

    private var ios: AppProperty? { configuration.root["ios"] }

    private static func plugins(
        in configuration: ScriptObject
    ) -> [(name: Located<String>, options: AppProperty?)] {
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
        "airship", "batch", "braze", "clevertap", "customerio", "intercom", "iterable", "moengage",
        "notif", "onesignal", "push", "reteno",
    ]

    /// What is in the names of plugins for calls.
    private static let callWords = ["call", "sinch", "stream", "twilio", "voip"]

    /// The modes that plugins are known to add, or likely to.
    private var modesOfPlugins: [AppProperty] {
        plugins.flatMap { plugin, options in
            let name = plugin.value.lowercased()
            var modes: [BackgroundMode] = []
            if name == "expo-notifications" {
                if options?["enableBackgroundRemoteNotifications"]?.isTrue == true {
                    modes = [.remoteNotification]
                }
            } else if Self.pushWords.contains(where: name.contains) {
                modes = [.remoteNotification]
            }
            if Self.callWords.contains(where: name.contains) { modes.append(.voip) }
            return modes.map { AppProperty(.string($0.rawValue), at: plugin.place) }
        }
    }

    /// Whether the list of plugins is written out.
    private var knowsPlugins: Bool {
        configuration.root["plugins"].map { !configuration.isOpen(at: $0.place) } ?? true
    }

    /// The most plugins of an app's own that are read: there are few in any app.
    private static let localPluginLimit = 32

    /// Whether the text of a plugin of the app's own has one of some words, names further files, or
    /// cannot be read.
    private func mayHave(_ words: Set<String>, _ plugin: String) -> Bool {
        let path = Paths.join(folder, plugin)
        let endings = ["", ".js", ".ts", ".cjs", ".mjs", "/index.js", "/index.ts"]
        guard plugin.hasPrefix("./"), Paths.contains(folder, path),
            localPlugins.count <= Self.localPluginLimit,
            let file = endings.lazy.map({ path + $0 })
                .first(where: { FileTree.kind(of: $0) == .file }),
            let bytes = try? FileTree.read(file, limit: AuditLimits.sourceBytes)
        else { return true }
        let parts = ["'./", "\"./", "'../", "\"../"]
        return WordFilter(words).finds(in: bytes)
            || parts.contains { bytes.firstRange(of: Array($0.utf8)) != nil }
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
        // The app's own modules in native code. The scripts of one are no part of it.
        list.add(
            tree.files(below: Paths.join(folder, "modules")).filter { file in
                [".swift", ".m", ".mm"].contains(where: file.hasSuffix)
            })
        let modules = PluginManifests.plugins(
            ofAppAbove: Paths.join(folder, "ios"), in: ["package.json"], besidesModules: true)
        if let modules {
            list.add(modules, tree)
        } else {
            list.addUnread(.project, "package.json")
        }
        for plugin in localPlugins where mayHave(Self.wordsOfSource, plugin.value) {
            list.addUnread(.package, plugin.value)
        }
        if !knowsPlugins { list.addUnread(.project, "plugins") }
        list.sort()
        return list
    }

    func changesEntitlements(of target: XcodeTarget) -> Bool { true }

    func runsScript(naming word: String, for target: XcodeTarget) -> Bool { true }

    func generated(_ kind: AuditReport.FileKind, of target: XcodeTarget) -> AppProperties? {
        guard kind == .infoPlist, let ios, knowsPlugins, !changesValues else { return nil }
        let info = ios["infoPlist"]
        let isSpread = [configuration.root, ios, info].compactMap { $0 }
            .contains { configuration.isSpread(at: $0.place) }
        var members: [String: AppProperty] = [:]
        switch info?.value {
        case .dictionary(let own): members = own
        case nil: break
        default: return nil
        }
        guard !isSpread,
            !localPlugins.contains(where: { mayHave(["UIBackgroundModes"], $0.value) }),
            members["UIBackgroundModes"].map({ configuration.isOpen(at: $0.place) }) != true
        else { return nil }
        let place = info?.place ?? ios.place
        let added = modesOfPlugins
        if !added.isEmpty {
            var modes: [AppProperty] = []
            if case .array(let own) = members["UIBackgroundModes"]?.value { modes = own }
            let known = Set(modes.compactMap(\.string))
            modes += added.filter { !known.contains($0.string ?? "") }
            members["UIBackgroundModes"] = AppProperty(.array(modes), at: place)
        }
        return AppProperties(members, at: place)
    }
}
