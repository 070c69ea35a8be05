// SPDX-License-Identifier: Apache-2.0

import PayloadLint
import PayloadRules

/// The manifests of Flutter and React Native. Their plugins are built into the app in the folder
/// `ios` beside them, whose source text does not name them.
struct PluginManifests {
    /// The names in source text of libraries that register for pushes at launch and handle them.
    static let pushPlugins = [
        "firebase_messaging", "FLTFirebaseMessagingPlugin", "RNFBMessaging", "OneSignal",
        "OneSignalFramework", "UAirship", "AirshipCore", "Pushwoosh", "PushwooshFramework",
    ]

    /// The names in source text of frameworks whose app delegate hands on to plugins, and of what
    /// loads further code.
    static let hosts = [
        "FlutterAppDelegate", "FlutterViewController", "FlutterEngine", "RCTAppDelegate",
        "RCTReactNativeFactory", "ExpoAppDelegate", "ExpoModulesCore", "CDVAppDelegate",
        "CDVViewController", "dlopen",
    ]

    /// The same libraries, as manifests name them.
    private static let packages = [
        "pubspec.yaml": ["firebase_messaging:", "onesignal_flutter:"],
        "package.json": ["\"@react-native-firebase/messaging\"", "\"react-native-onesignal\""],
    ]

    private var places: [String: AppPlace?] = [:]

    /// Adds the plugins in the manifests of apps to what their source text shows.
    mutating func addPlugins(to facts: inout [AppFacts]) {
        for index in facts.indices {
            for number in facts[index].bundles.indices {
                let bundle = facts[index].bundles[number]
                guard bundle.role == .app, let file = bundle.info?.place.file,
                    let place = pushPlugin(ofAppWith: file)
                else { continue }
                facts[index].bundles[number].sources?.observations.append(
                    SourceObservation(.pushPlugin, at: place))
            }
        }
    }

    /// The place of a plugin for pushes in a manifest beside the folder `ios` of a file.
    private mutating func pushPlugin(ofAppWith file: String) -> AppPlace? {
        let names = file.split(separator: "/", omittingEmptySubsequences: false)
        guard let ios = names.lastIndex(of: "ios") else { return nil }
        let folder = names[..<ios].map { $0 + "/" }.joined()
        if let known = places[folder] { return known }
        let place = Self.packages.keys.sorted().lazy.compactMap { name in
            Self.pushPlugin(in: folder + name, Self.packages[name] ?? [])
        }.first
        places[folder] = .some(place)
        return place
    }

    /// The manifests that name the plugins of an app.
    static let ofPlugins = ["pubspec.yaml", "package.json"]

    /// A package that a manifest names.
    struct Package: Hashable, Sendable {
        /// What it may do, as far as the manifests tell.
        var uses: ModuleUses
        /// Whether a manifest takes it from a folder.
        var isLocal = false
        /// Its folder `ios` or `darwin`, if it is a plugin of Flutter in a folder that is there.
        var native: String?
    }

    /// What the plugins of an app may do, by their names in a manifest above its folder `ios`;
    /// `nil` if none can be read, if it is of an app without Flutter and React Native, or if it
    /// does not tell which packages are of the same repository. Other packages are among them,
    /// since a manifest does not tell them apart, and what those that are not in the tree bring
    /// along is not.
    ///
    /// The app's own modules beside `ios` are read otherwise, if that is told.
    static func plugins(
        ofAppAbove ios: String, in manifests: [String] = ofPlugins, besidesModules: Bool = false
    ) -> [String: Package]? {
        guard let manifest = manifest(ofAppAbove: ios, in: manifests),
            !holdsOwnPackages(manifest, beside: ios, besidesModules: besidesModules)
        else { return nil }
        return packages(of: manifest, ofAppAbove: ios)
    }

    /// The plugins that the manifests above the folder `ios` take from folders, by their names.
    static func localPlugins(ofAppAbove ios: String) -> [String: Package] {
        // What overrides the manifest's sources is not read.
        let isOverridden = FileTree.kind(of: Paths.join(ios, "../pubspec_overrides.yaml")) != nil
        return manifest(ofAppAbove: ios, in: ofPlugins).map {
            packages(of: $0, ofAppAbove: ios)
                .mapValues { isOverridden ? Package(uses: .all, isLocal: true) : $0 }
                .filter { $1.isLocal }
        } ?? [:]
    }

    /// The packages that an app's manifest names, and those that packages in its folders do.
    private static func packages(
        of manifest: YAMLNode.Mapping, ofAppAbove ios: String
    ) -> [String: Package] {
        var found: [String: Package] = [:]
        /// What is in the folders that manifests name.
        var known: [String: Package] = [:]
        // An override is final for its name.
        let overrides = dependencies(in: manifest, ["dependency_overrides"])
        let overridden = Set(overrides.map(\.name))
        let others = dependencies(in: manifest).filter { !overridden.contains($0.name) }
        var waiting = [(overrides + others, Paths.join(ios, ".."))]
        while let (dependencies, folder) = waiting.popLast() {
            let isApp = known.isEmpty && found.isEmpty
            for (name, source) in dependencies where isApp || !overridden.contains(name) {
                var package = Package(uses: uses(of: name, source), isLocal: isLocal(source))
                if let path = option("path", of: source)?.scalar?.string,
                    case let own = Paths.join(folder, path), !Pods.isAround(ios, path, at: own)
                {
                    if let same = known[own] {
                        package = same
                    } else if known.count < AuditLimits.pluginFolders {
                        if let further = mapping(Paths.join(own, "pubspec.yaml")) {
                            let native = ["ios", "darwin"].map { Paths.join(own, $0) }
                                .filter { FileTree.kind(of: $0) == .folder }
                            // The manifest tells which of two is built, and hooks of a build bring
                            // native code along without these folders.
                            package.native = native.count == 1 ? native[0] : nil
                            let hasHooks = FileTree.kind(of: Paths.join(own, "hook")) != nil
                            if native.isEmpty, !hasHooks { package.uses = [] }
                            waiting.append((Self.dependencies(in: further, ["dependencies"]), own))
                        }
                        known[own] = package
                    }
                }
                if let other = found[name], other != package {
                    // Two sources of one name: it is not known which one is built.
                    package = Package(
                        uses: other.isLocal || package.isLocal
                            ? .all : other.uses.union(package.uses),
                        isLocal: other.isLocal || package.isLocal)
                }
                found[name] = package
            }
        }
        return found
    }

    /// Whether a dependency is taken from a folder.
    private static func isLocal(_ source: YAMLNode) -> Bool {
        let address = source.scalar?.string ?? ""
        return option("path", of: source) != nil
            || ["file:", "link:", "portal:", "workspace:", ".", "/", "~/"]
                .contains(where: address.hasPrefix)
    }

    private static func manifest(
        ofAppAbove ios: String, in manifests: [String]
    ) -> YAMLNode.Mapping? {
        for name in manifests {
            let host = name == "pubspec.yaml" ? "flutter" : "react-native"
            if let manifest = mapping(Paths.join(ios, "../" + name)),
                manifest["dependencies"]?.mapping?[host] != nil
            {
                return manifest
            }
        }
        return nil
    }

    /// The dependencies of a manifest whose native code is built into the app. Most of those for
    /// development are tools.
    private static func dependencies(
        in manifest: YAMLNode.Mapping,
        _ groups: [String] = [
            "dependencies", "dependency_overrides", "optionalDependencies", "devDependencies",
        ]
    ) -> [(name: String, source: YAMLNode)] {
        groups.flatMap { group in
            (manifest[group]?.mapping ?? YAMLNode.Mapping([])).compactMap { key, source in
                guard let name = key.scalar?.string, option("sdk", of: source) == nil,
                    group != "devDependencies"
                        || ["react-native", "expo"].contains(where: name.contains)
                else { return nil }
                return (name, source)
            }
        }
    }

    /// An option of a dependency, which has few: an alias may stand for a large mapping.
    private static func option(_ key: String, of source: YAMLNode) -> YAMLNode? {
        source.mapping?.prefix(16).first { $0.key.scalar?.string == key }?.value
    }

    private static func mapping(_ path: String) -> YAMLNode.Mapping? {
        guard let bytes = try? FileTree.read(path, limit: AuditLimits.settingsBytes),
            let node = try? YAMLNode.parse(String(decoding: bytes, as: UTF8.self))
        else { return nil }
        return node.mapping
    }

    /// Whether an app is one of several packages of a repository, of which a manifest does not tell
    /// which it takes from there, or has native modules of its own beside its folder `ios`.
    private static func holdsOwnPackages(
        _ manifest: YAMLNode.Mapping, beside ios: String, besidesModules: Bool
    ) -> Bool {
        let above = (1...4).map { Paths.join(ios, String(repeating: "../", count: $0)) }
        return manifest["resolution"] != nil
            || !besidesModules && FileTree.kind(of: Paths.join(ios, "../modules")) != nil
            || FileTree.kind(of: Paths.join(ios, "../pubspec_overrides.yaml")) != nil
            || above.contains { folder in
                ["pnpm-workspace.yaml", "melos.yaml", "lerna.json"].contains {
                    FileTree.kind(of: Paths.join(folder, $0)) != nil
                }
                    || mapping(Paths.join(folder, "package.json"))?["workspaces"] != nil
                    || mapping(Paths.join(folder, "pubspec.yaml"))?["workspace"] != nil
            }
    }

    /// The name of the module of JavaScript that npm puts into a folder: `@capacitor/app` at
    /// `../node_modules/@capacitor/app`.
    static func module(at folder: String) -> String? {
        guard let range = folder.ranges(of: "node_modules/").last else { return nil }
        let name = folder[range.upperBound...]
        return name.isEmpty ? nil : String(name)
    }

    /// What a dependency may do. One that is not of the public list may be of the app's makers.
    private static func uses(of name: String, _ source: YAMLNode) -> ModuleUses {
        if let git = option("git", of: source) {
            let address = git.scalar?.string ?? option("url", of: git)?.scalar?.string ?? ""
            return KnownLibraries.uses(of: name, from: address)
        }
        // `{ path: … }`, `{ hosted: … }`, `file:…`, `workspace:*`, `git+ssh://…`, `owner/name`.
        let isElsewhere =
            option("path", of: source) != nil || option("hosted", of: source) != nil
            || source.scalar?.string.contains { ":/".contains($0) } == true
        return isElsewhere ? .all : KnownLibraries.uses(of: name)
    }

    private static func pushPlugin(in manifest: String, _ packages: [String]) -> AppPlace? {
        guard let bytes = try? FileTree.read(manifest, limit: AuditLimits.settingsBytes) else {
            return nil
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        let hasPlugin = lines.contains { line in
            let text = line.drop(while: \.isWhitespace)
            return packages.contains(where: text.hasPrefix)
        }
        return hasPlugin ? AppPlace(file: manifest) : nil
    }
}
