// SPDX-License-Identifier: Apache-2.0

/// Frameworks that run scripts in an app: without one, scripts belong to a server or a page.
enum ScriptFrameworks {
    /// The names of files that list the packages of scripts.
    static let manifests: Set = [
        "package.json", "config.xml", "tiapp.xml", "capacitor.config.json",
    ]

    /// What manifests have of such a framework.
    private static let packages = [
        "react-native", "\"expo\"", "@capacitor/", "cordova", "nativescript", "titanium",
        "@ionic/",
    ]
    /// What source text has of one.
    private static let words: Set = [
        "React", "RCTBridge", "RCTRootView", "RCTAppDelegate", "RCTReactNativeFactory", "Expo",
        "ExpoModulesCore", "Capacitor", "CAPBridgeViewController", "Cordova", "CDVAppDelegate",
        "CDVViewController", "NativeScript", "TitaniumKit", "JavaScriptCore", "JSContext",
        "WKWebView", "UIWebView",
    ]

    /// Whether source files, or manifests beside or above them, name one.
    static func areUsed(in sources: SourceList, _ manifests: [String], _ tree: FileTree) -> Bool {
        guard !UnreadSources.scriptLanguages.isDisjoint(with: sources.unread.languages.keys) else {
            return true
        }
        if areNamed(for: sources, manifests) { return true }
        let words = tree.index.words(words)
        // What cannot be read may name one.
        return sources.files.contains { path in
            tree.index.words(words, .named, in: path)?.isEmpty != true
        }
    }

    /// Whether manifests beside or above some source files name one.
    static func areNamed(for sources: SourceList, _ manifests: [String]) -> Bool {
        let folder = sources.files.first.map(Paths.folder) ?? "."
        let above = (1...4).map { Paths.join(folder, String(repeating: "../", count: $0)) }
            .map { Paths.join($0, "package.json") }
        return (manifests + above).contains { path in
            guard let bytes = try? FileTree.read(path, limit: AuditLimits.sourceBytes) else {
                return false
            }
            return packages.contains { bytes.firstRange(of: Array($0.utf8)) != nil }
        }
    }
}
