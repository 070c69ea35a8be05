// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The parts of an app of React Native, Expo or Capacitor that no project of Xcode names: its
/// scripts with work in the background, and the configuration that Expo makes a project of.
struct UnreadScripts {
    /// The entries of the report.
    let unjudged: [AuditReport.Unjudged]

    /// What scripts have that work in the background, or get pushes there.
    private static let work = [
        "defineTask", "expo-background-fetch", "expo-background-task", "expo-task-manager",
        "react-native-background-fetch", "react-native-background-actions",
        "react-native-voip-push-notification", "setBackgroundMessageHandler",
        "capacitor-background-fetch", "@capacitor/background-runner",
    ]

    /// The names of files with Expo's configuration of an app.
    private static let configurations: Set = ["app.json", "app.config.js", "app.config.ts"]
    /// What such a file has for iOS.
    private static let keys = ["bundleIdentifier", "infoPlist", "UIBackgroundModes"]

    /// Finds them among some files. Without targets all scripts were named as unread already.
    init(of found: FoundFiles, hasTargets: Bool) {
        let scripts = hasTargets ? Self.scripts(of: found) : nil
        unjudged = [scripts, Self.configuration(of: found)].compactMap { $0 }
    }

    /// The scripts beside the folder `ios` of a project that do work in the background.
    private static func scripts(of found: FoundFiles) -> AuditReport.Unjudged? {
        let folders = found.projectFolders.filter { Paths.name(of: $0) == "ios" }.map(Paths.folder)
        guard !folders.isEmpty else { return nil }
        let files = found.sources.scripts
            .filter { file in folders.contains { Paths.contains($0, file) } }
            .mapInParallel { file in holds(work, file, besides: wordsOfWork) ? file : nil }
            .compactMap(\.self)
        guard !files.isEmpty else { return nil }
        let names = files.prefix(3).joined(separator: ", ") + (files.count > 3 ? ", …" : "")
        let count = files.count == 1 ? "1 script" : "\(files.count) scripts"
        return AuditReport.Unjudged(
            targets: [],
            reason: "\(count) with work in the background (\(names)) "
                + "\(files.count == 1 ? "was" : "were") not read",
            rules: AppRules.table.filter(\.readsScripts).map(\.id))
    }

    /// Expo's configurations, if what it makes of them is not there.
    private static func configuration(of found: FoundFiles) -> AuditReport.Unjudged? {
        let made = found.projectFolders + found.infoPlists.map(Paths.folder)
        let files = found.generators.filter { file in
            guard configurations.contains(Paths.name(of: file)), holds(keys, file) else {
                return false
            }
            let folder = Paths.join(Paths.folder(of: file), "ios")
            return !made.contains { Paths.contains(folder, $0) }
        }
        guard !files.isEmpty else { return nil }
        let rules = AppRules.table.filter { $0.needsInfo || $0.needsEntitlements }
        return AuditReport.Unjudged(
            targets: [],
            reason: "\(files.sorted().joined(separator: ", ")) of Expo "
                + "\(files.count == 1 ? "was" : "were") not read; run `npx expo prebuild`, and "
                + "audit what it makes",
            rules: rules.map(\.id))
    }

    /// Whether a file has one of some texts, which few files do: each with one has one of `words`.
    private static func holds(
        _ texts: [String], _ file: String, besides words: WordFilter? = nil
    ) -> Bool {
        guard let bytes = try? FileTree.read(file, limit: AuditLimits.sourceBytes),
            words?.finds(in: bytes) != false
        else { return false }
        return texts.contains { bytes.firstRange(of: Array($0.utf8)) != nil }
    }

    /// The longest word of each text in ``work``, which is found much faster than the text.
    private static let wordsOfWork = WordFilter(
        Set(
            work.map { text in
                let words = text.split { !$0.isLetter }
                return String(words.max { $0.count < $1.count } ?? "")
            }))
}
