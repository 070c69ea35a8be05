// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The parts of an app of React Native, NativeScript, Expo, Capacitor or Cordova that no project of
/// Xcode names: its scripts with work in the background, those that ask for a device token, and the
/// configuration that Expo makes a project of.
struct UnreadScripts {
    /// The entries of the report.
    let unjudged: [AuditReport.Unjudged]

    /// What scripts have that work in the background, or get pushes there, and the rules about it
    /// besides those of all scripts.
    private static let work: [ScriptSign] =
        [
            "defineTask", "expo-background-fetch", "expo-task-manager",
            "react-native-background-actions", "react-native-voip-push-notification",
            "setBackgroundMessageHandler", "@capacitor/background-runner",
        ]
        .map { ScriptSign($0) }
        + [
            "react-native-background-fetch", "capacitor-background-fetch",
            "cordova-plugin-background-fetch", "BackgroundFetch.finish",
            "BackgroundFetch.scheduleTask", "BGTaskScheduler", "BGAppRefreshTaskRequest",
            "BGProcessingTaskRequest",
        ]
        .map { ScriptSign($0, ["CF020", "CF035", "CF037", "CF038", "CF050", "CF055"]) }
        + [
            // Its identifier must be permitted; it ends its tasks itself.
            ScriptSign("expo-background-task", ["CF020"]),
            ScriptSign("beginBackgroundTaskWithExpirationHandler", ["CF045"]),
            ScriptSign("beginBackgroundTaskWithNameExpirationHandler", ["CF045"]),
        ]

    /// What scripts have that ask for a device token.
    private static let tokens: [ScriptSign] = [
        "registerForRemoteNotifications", "registerRemoteNotifications",
        "registerDeviceForRemoteMessages", "getDevicePushTokenAsync", "getExpoPushTokenAsync",
        "PushNotificationIOS.requestPermissions", "react-native-push-notification",
        "@capacitor/push-notifications",
    ]
    .map { ScriptSign($0, ["CF005"]) }

    /// The longest word of each sign: a file without all of them is looked at no further.
    private static let words = WordFilter(Set((work + tokens).map(\.word)))

    /// What a configuration of Expo has for iOS.
    private static let keys = ["bundleIdentifier", "infoPlist", "UIBackgroundModes"]

    /// Finds them among some files. Without targets all scripts were named as unread already.
    /// `mayLackEntitlement` tells whether an app would have to ask for a token to be told of.
    init(_ found: FoundFiles, _ hasTargets: Bool, mayLackEntitlement: Bool) {
        let scripts = Self.scripts(
            of: found, hasTargets: hasTargets, mayLackEntitlement: mayLackEntitlement)
        unjudged = scripts + Self.configurations(of: found)
    }

    /// The scripts beside the folder `ios` of a project that do work in the background, and those
    /// that ask for a token.
    private static func scripts(
        of found: FoundFiles, hasTargets: Bool, mayLackEntitlement: Bool
    ) -> [AuditReport.Unjudged] {
        let folders =
            found.projectFolders.compactMap(folderOfScripts)
            + found.expoApps.map(Paths.folder)
        guard !folders.isEmpty || !hasTargets else { return [] }
        let files = found.sources.scripts.filter { file in
            !hasTargets || folders.contains { Paths.contains($0, file) }
        }
        let rules = files.mapInParallel { rulesOpened(by: $0) }
        func entry(
            _ kind: String, besides named: Set<RuleID>,
            _ own: (Set<RuleID>) -> Set<RuleID>?
        ) -> AuditReport.Unjudged? {
            let seen = zip(files, rules).compactMap { file, rules in
                rules.flatMap(own).map { (file: file, rules: $0) }
            }
            let open = seen.reduce(into: named) { $0.formUnion($1.rules) }
            guard !seen.isEmpty, !open.isEmpty else { return nil }
            let names = seen.prefix(3).map(\.file).joined(separator: ", ")
            let more = seen.count > 3 ? ", …" : ""
            let verb = seen.count == 1 ? "was" : "were"
            return AuditReport.Unjudged(
                targets: [],
                reason: (seen.count == 1 ? "1 script" : "\(seen.count) scripts")
                    + " with \(kind) (\(names)\(more)) \(verb) not read",
                rules: open.sorted())
        }
        let ofAll = AppRules.table.filter { hasTargets && $0.readsScripts }.map(\.id)
        let work = entry("work in the background", besides: Set(ofAll)) { rules in
            rules == ["CF005"] ? nil : rules.subtracting(["CF005"])
        }
        let token = entry("a request for a device token", besides: []) { rules in
            mayLackEntitlement && rules.contains("CF005") ? ["CF005"] : nil
        }
        return [work, token].compactMap { $0 }
    }

    /// The folder of the scripts of a project: that of `ios`, `ios/App` and `platforms/ios`.
    private static func folderOfScripts(_ project: String) -> String? {
        let parent = Paths.folder(of: project)
        let isInside = Paths.name(of: parent) == "ios"
        guard isInside || Paths.name(of: project) == "ios" else { return nil }
        let folder = isInside ? Paths.folder(of: parent) : parent
        return Paths.name(of: folder) == "platforms" ? Paths.folder(of: folder) : folder
    }

    /// The rules that a script with work in the background, or a request for a token, leaves open
    /// besides those of all scripts; `nil` for other scripts.
    private static func rulesOpened(by file: String) -> Set<RuleID>? {
        guard let bytes = try? FileTree.read(file, limit: AuditLimits.sourceBytes) else {
            return nil
        }
        let found = words.words(in: bytes)
        guard !found.isEmpty else { return nil }
        let signs = (work + tokens).filter { found.contains($0.word) && $0.isIn(bytes) }
        return signs.isEmpty ? nil : signs.reduce(into: []) { $0.formUnion($1.rules) }
    }

    /// Expo's configurations, as far as what it makes of them is not there.
    private static func configurations(of found: FoundFiles) -> [AuditReport.Unjudged] {
        let read = found.readConfigurations
        let unread = found.expoConfigurations.filter { !read.contains($0) }
            .map(found.configurations(beside:)).filter { $0.contains { holds(keys, $0) } }
            .flatMap { $0 }
        func entry(
            _ files: [String], _ what: String, _ isOpen: (AppRule) -> Bool
        ) -> AuditReport.Unjudged? {
            guard !files.isEmpty else { return nil }
            return AuditReport.Unjudged(
                targets: [],
                reason: "\(files.joined(separator: ", ")) of Expo "
                    + "\(files.count == 1 ? "was" : "were") \(what); run `npx expo prebuild`, and "
                    + "audit what it makes",
                rules: AppRules.table.filter(isOpen).map(\.id))
        }
        return [
            entry(unread, "not read") { $0.needsInfo || $0.needsEntitlements },
            // What plugins may add to Info.plist is not told as missing there.
            entry(read, "read without what its plugins add") { rule in
                rule.needsEntitlements || ["CF020", "CF051"].contains(rule.id.rawValue)
            },
        ]
        .compactMap { $0 }
    }

    /// Whether a file has one of some texts.
    private static func holds(_ texts: [String], _ file: String) -> Bool {
        guard let bytes = try? FileTree.read(file, limit: AuditLimits.sourceBytes) else {
            return false
        }
        return texts.contains { bytes.firstRange(of: Array($0.utf8)) != nil }
    }
}

/// A text that shows what a script is about.
private struct ScriptSign {
    /// The longest word of the text, which is found much faster than the text.
    let word: String
    /// The rules about its subject.
    let rules: Set<RuleID>
    private let text: [UInt8]

    init(_ text: String, _ rules: Set<RuleID> = []) {
        let words = text.split { !$0.isLetter }
        word = String(words.max { $0.count < $1.count } ?? "")
        self.rules = rules
        self.text = Array(text.utf8)
    }

    /// Whether a text that has the word has the whole of it. Many have a word such as `manager`,
    /// and `firstRange(of:)` takes many times as long.
    func isIn(_ bytes: [UInt8]) -> Bool {
        if text.count == word.utf8.count { return true }
        guard let first = text.first, bytes.count >= text.count else { return false }
        for start in 0...bytes.count - text.count where bytes[start] == first {
            var length = 1
            while length < text.count, bytes[start + length] == text[length] { length += 1 }
            if length == text.count { return true }
        }
        return false
    }
}
