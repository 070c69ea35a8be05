// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The files in Kotlin that are compiled for iOS, in a project of Gradle around an app. They name
/// what they use of the system as the system does, so that words show what they may do.
struct KotlinSources {
    /// What they, and the libraries that they name, may do.
    let uses: ModuleUses
    /// The background tasks that they name, and their faults.
    let observations: [SourceObservation]
    /// The folder of their project.
    let folder: String

    private static let settings = ["settings.gradle.kts", "settings.gradle"]
    /// The most folders from an app to the project around it.
    private static let depth = 4

    private static let subjects: [String: SourceObservation.Subject] = [
        "BGAppRefreshTaskRequest": .backgroundWork(.appRefresh),
        "BGAppRefreshTask": .backgroundWork(.appRefresh),
        "BGProcessingTaskRequest": .backgroundWork(.processing),
        "BGProcessingTask": .backgroundWork(.processing),
        "BGContinuedProcessingTaskRequest": .backgroundWork(.continued),
        "BGHealthResearchTaskRequest": .backgroundWork(.healthResearch),
    ]
    /// The older fetch, and libraries for tasks.
    private static let otherTaskWords: Set = [
        "setMinimumBackgroundFetchInterval", "performFetchWithCompletionHandler", "kmpworkmanager",
        "brewkits",
    ]
    private static let pushWords: Set = [
        "didReceiveRemoteNotification", "kmpnotifier", "NotifierManager", "gitlive", "FIRMessaging",
        "FirebaseMessaging", "onesignal", "OneSignal",
    ]
    /// Those of code that handles silent pushes by itself: the others get them of the app delegate.
    private static let handlerWords: Set = [
        "didReceiveRemoteNotification", "onesignal", "OneSignal",
    ]
    private static let callWords: Set = ["PKPushRegistry", "CXProvider", "PushKit", "CallKit"]
    private static let filter = WordFilter(
        [
            otherTaskWords, pushWords, callWords, ["submitTaskRequest", "endBackgroundTask"],
            Set(subjects.keys),
        ]
        .reduce(into: []) { $0.formUnion($1) })

    /// Reads those of the project of Gradle around a folder; `nil` if there is none, or it has no
    /// such files, or one cannot be read.
    init?(around app: String, _ tree: FileTree) {
        let above = (0...Self.depth).map {
            Paths.join(app, String(repeating: "../", count: $0))
        }
        let root = above.first { folder in
            Self.settings.contains { FileTree.kind(of: Paths.join(folder, $0)) == .file }
        }
        let files = root.map(tree.files)?.filter(Self.mayBeForIOS) ?? []
        guard let root, !files.isEmpty, !Self.includesOthers(root) else { return nil }
        var words: Set<String> = []
        var observations: [SourceObservation] = []
        for file in files {
            guard let bytes = try? FileTree.read(file, limit: AuditLimits.sourceBytes) else {
                return nil
            }
            let found = Self.filter.words(in: bytes)
            words.formUnion(found)
            let named =
                found.isDisjoint(with: Self.subjects.keys) ? [] : Self.used(in: bytes)
            for subject in Set(named.compactMap { Self.subjects[$0] }) {
                observations.append(SourceObservation(subject, at: AppPlace(file: file)))
            }
            guard found.contains("submitTaskRequest") else { continue }
            observations += Self.droppedErrors(in: bytes, of: file).map {
                SourceObservation(.fault(.droppedSubmitError), at: $0)
            }
        }
        var uses = ModuleUses.all
        if !words.contains("endBackgroundTask") { uses.remove(.endsOfTime) }
        if words.isDisjoint(with: Self.otherTaskWords) { uses.remove(.likelyTasks) }
        if words.isDisjoint(with: Self.pushWords) { uses.remove(.likelyPushes) }
        if words.isDisjoint(with: Self.handlerWords) { uses.remove(.likelyHandlers) }
        if words.isDisjoint(with: Self.callWords) { uses.remove(.likelyCalls) }
        self.uses = uses
        folder = root
        self.observations = observations
    }

    /// The words of a file that are not only in an import without another name, or in comments that
    /// begin a line. In a file with raw texts, which may hold what looks like comments, all count.
    private static func used(in bytes: [UInt8]) -> Set<String> {
        let text = String(decoding: bytes, as: UTF8.self)
        guard !text.contains("\"\"\"") else { return filter.words(in: bytes) }
        var isComment = false
        let lines = text.split(whereSeparator: \.isNewline).filter { line in
            let code = line.drop(while: \.isWhitespace)
            if code.hasPrefix("/*") { isComment = true }
            guard isComment else {
                let isImport = code.hasPrefix("import platform.BackgroundTasks.")
                let path = code.split(separator: "//").first ?? ""
                return !code.hasPrefix("//") && (!isImport || path.contains(" as "))
            }
            guard let end = code.firstRange(of: "*/") else { return false }
            isComment = false
            // Code may stand behind a comment.
            return !code[end.upperBound...].allSatisfy(\.isWhitespace)
        }
        return filter.words(in: Array(lines.joined(separator: "\n").utf8))
    }

    /// Whether a file is in a source set that may be compiled for iOS: `iosMain`, `mobileMain`.
    private static func mayBeForIOS(_ path: String) -> Bool {
        let others = ["android", "jvm", "js", "wasm", "desktop", "linux", "mingw", "macos", "web"]
        return path.hasSuffix(".kt")
            && path.split(separator: "/").contains { folder in
                folder.hasSuffix("Main") && !others.contains(where: folder.hasPrefix)
            }
    }

    /// Whether the build takes a part from outside of its folder: `includeBuild("../core")`.
    private static func includesOthers(_ root: String) -> Bool {
        settings.contains { name in
            guard
                let bytes = try? FileTree.read(
                    Paths.join(root, name), limit: AuditLimits.settingsBytes)
            else { return false }
            return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
                .contains { $0.contains("includeBuild") && $0.contains("..") }
        }
    }
}
