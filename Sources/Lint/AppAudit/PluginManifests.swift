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

    /// What the plugins of an app may do, by their names in the manifest above its folder `ios`;
    /// `nil` if it cannot be read, or is of an app without Flutter and React Native. Other packages
    /// are among them, since a manifest does not tell them apart.
    static func plugins(ofAppAbove ios: String) -> [String: ModuleUses]? {
        for (name, host) in [("pubspec.yaml", "flutter"), ("package.json", "react-native")] {
            let path = Paths.join(ios, "../" + name)
            guard let bytes = try? FileTree.read(path, limit: AuditLimits.settingsBytes),
                let manifest = try? YAMLNode.parse(String(decoding: bytes, as: UTF8.self)),
                let dependencies = manifest.mapping?["dependencies"]?.mapping,
                dependencies[host] != nil
            else { continue }
            var uses: [String: ModuleUses] = [:]
            for (key, value) in dependencies {
                guard let plugin = key.scalar?.string, value.mapping?["sdk"] == nil else {
                    continue
                }
                uses[plugin] = isLocal(value) ? .all : KnownLibraries.uses(of: plugin)
            }
            return uses
        }
        return nil
    }

    /// Whether a manifest takes a dependency from a folder, which may hold code of the app itself.
    private static func isLocal(_ dependency: YAMLNode) -> Bool {
        let address = dependency.scalar?.string ?? ""
        return dependency.mapping?["path"] != nil
            || ["file:", "link:", "workspace:", "portal:", "."].contains(where: address.hasPrefix)
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
