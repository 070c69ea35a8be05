// SPDX-License-Identifier: Apache-2.0

import PayloadLint
import PayloadRules

/// Finds requests for background tasks in the text of all files of projects, whatever the
/// language: in headers, macros, comments and literals too.
struct TaskRequestSearch {
    /// The files that were searched; `nil` if there are others.
    private var files: Set<String>?
    /// What was found in them.
    private var found = Found()
    /// Those of them that may be compiled.
    private var sourceFiles: [String] = []
    private let index: SourceIndex

    /// The most files that a thread searches before it takes the next ones.
    private static let filesInPart = 256

    /// Files that hold no text.
    private static let media: Set = [
        "png", "jpg", "jpeg", "gif", "webp", "pdf", "heic", "icns", "mp3", "mp4", "m4a",
        "mov", "wav", "caf", "aif", "aiff", "ttf", "otf", "zip", "md",
    ]
    private static let sources: Set = ["swift", "m", "mm", "h", "hpp", "pch", "inc", "c", "cpp"]

    /// Searches the files below some folders.
    init(below folders: [String], _ tree: FileTree) {
        index = tree.index
        let paths = Self.files(below: folders, tree)
        // What the settings exclude may be built all the same.
        guard !tree.isExhausted, tree.settings.configuration.excluded.isEmpty else { return }
        let texts = paths.filter { !Self.media.contains(Self.ending(of: $0)) }
        // In a small project each thread has parts too.
        let count = max(1, min(Self.filesInPart, texts.count / (4 * AuditLimits.threads)))
        let parts = stride(from: 0, to: texts.count, by: count).map { start in
            Array(texts[start..<min(texts.count, start + count)])
        }
        for part in parts.mapInParallel(Found.init) { found.add(part) }
        guard found.isWhole else { return }
        found.lines.leaveOutHeaders(of: paths)
        sourceFiles = paths.filter(Self.isSource)
        files = Set(paths)
    }

    /// What some files have.
    private struct Found: Sendable {
        /// The files that mention requests, their submission or their cancelling.
        private(set) var mentions: Set<String> = []
        /// The files that may register a task.
        private(set) var registrars: Set<String> = []
        /// What they import and include.
        var lines = Lines()
        /// Whether each could be read.
        private(set) var isWhole = true

        /// Nothing, to which others are added.
        init() {}

        /// Reads each file once.
        init(_ paths: [String]) {
            for path in paths {
                guard let bytes = try? FileTree.read(path, limit: AuditLimits.filteredBytes) else {
                    isWhole = false
                    return
                }
                // `BGAppRefreshTaskRequest`, `submitTaskRequest`,
                // `cancel(taskRequestWithIdentifier:)`
                if bytes.offset(of: "askRequest", by: 5) != nil { mentions.insert(path) }
                if TaskRequestSearch.registers(bytes, path) { registrars.insert(path) }
                if TaskRequestSearch.isSource(path) { lines.read(bytes, path) }
            }
            lines.forget()
        }

        /// Adds what others have.
        mutating func add(_ other: Found) {
            mentions.formUnion(other.mentions)
            registrars.formUnion(other.registrars)
            lines.add(other.lines)
            isWhole = isWhole && other.isWhole
        }
    }

    /// What is known of the requests of an app with these files, whose mentions of requests have
    /// the names of functions if handlers alone lead there.
    func requests(
        in sources: [(path: String, requests: [Set<String>?])], _ modules: Set<String>
    ) -> AppFacts.Sources.BackgroundRequests {
        guard files != nil else { return .unknown }
        let askers = sources.filter { !$0.requests.isEmpty }
        let mentions = found.mentions
        guard mentions.isEmpty || !askers.isEmpty && Set(askers.map(\.path)) == mentions,
            let lines = lines(usedBy: sources.map(\.path), modules)
        else { return .unknown }
        if mentions.isEmpty { return .nowhere }
        guard lines.withMacros.isDisjoint(with: mentions) else { return .unknown }
        for (path, requests) in askers {
            var words: Set<String> = []
            for request in requests {
                guard let request else { return .unknown }
                words.formUnion(request)
            }
            let wanted = index.words(words)
            let areOwn = sourceFiles.allSatisfy { other in
                other == path || index.words(wanted, .named, in: other)?.isEmpty == true
            }
            guard areOwn else { return .unknown }
        }
        return .inHandlers
    }

    /// Whether only some source files mention requests, and none of them has macros, so that each
    /// request of the project is in their text.
    func areOnly(in sources: [String], _ modules: Set<String>) -> Bool {
        guard found.mentions.isSubset(of: sources), let lines = lines(usedBy: sources, modules)
        else { return false }
        return lines.withMacros.isDisjoint(with: found.mentions)
    }

    /// Whether only some source files register tasks, and none of them has macros, so that each
    /// registration of the project is in their text.
    func areRegistrationsOnly(in sources: [String], _ modules: Set<String>) -> Bool {
        guard found.registrars.isSubset(of: sources), let lines = lines(usedBy: sources, modules)
        else { return false }
        return lines.withMacros.isDisjoint(with: found.registrars)
    }

    /// The lines of all files, if these hold all that some source files use; `nil` otherwise.
    private func lines(usedBy sources: [String], _ modules: Set<String>) -> Lines? {
        guard let files, sources.allSatisfy(files.contains),
            Self.areIdle(found.lines.imports, modules),
            found.lines.headers.isSubset(of: modules.map { $0 + "-Swift.h" })
        else { return nil }
        return found.lines
    }

    /// Whether a source file uses no modules but those of the system and of the projects, and
    /// known libraries.
    static func knowsModules(of path: String, _ modules: Set<String>) -> Bool {
        areKnown(Lines(of: path).imports, modules)
    }

    /// Whether imported modules are of the system or of the projects, or known to ask for no task.
    private static func areKnown(_ imports: Set<String>, _ modules: Set<String>) -> Bool {
        others(among: imports, modules).isEmpty
    }

    /// The imported modules that may ask for tasks.
    private static func others(
        among imports: Set<String>, _ modules: Set<String>
    ) -> Set<String> {
        imports.subtracting(modules.union(systemModules))
            .filter { KnownLibraries.uses(ofModule: $0).contains(.tasks) }
    }

    /// Whether imported modules are known, or not likely to have background tasks by their names.
    private static func areIdle(_ imports: Set<String>, _ modules: Set<String>) -> Bool {
        others(among: imports, modules).allSatisfy { name in
            name.first?.isLetter == true
                && !KnownLibraries.presumedUses(of: name).contains(.likelyTasks)
        }
    }

    /// Whether a file may be compiled, by its name.
    private static func isSource(_ path: String) -> Bool {
        sources.contains(ending(of: path))
    }

    /// What is behind the last dot of a path, in lowercase.
    private static func ending(of path: String) -> String {
        guard let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) else { return "" }
        return String(path[path.utf8.index(after: dot)...]).lowercased()
    }

    /// The files below some folders, each once.
    private static func files(below folders: [String], _ tree: FileTree) -> [String] {
        guard folders.count > 1 else { return folders.first.map(tree.files) ?? [] }
        return Array(Set(folders.flatMap { tree.files(below: $0) }))
    }

    /// Whether a file may register a task: `register(forTaskWithIdentifier:)`, or SwiftUI's
    /// `.backgroundTask(`.
    private static func registers(_ bytes: [UInt8], _ path: String) -> Bool {
        bytes.offset(of: "askWithIdentifier", by: 3) != nil
            || path.hasSuffix(".swift") && bytes.offset(of: ".backgroundTask(", by: 11) != nil
    }

    /// Modules and headers of the system, which use no names of an app.
    static let systemModules: Set = [
        "ARKit", "AVFAudio", "AVFoundation", "AVKit", "Accelerate", "Accounts", "ActivityKit",
        "AdSupport", "AddressBook", "AppIntents", "AppKit", "AppTrackingTransparency",
        "AudioToolbox", "AuthenticationServices", "BackgroundTasks", "CFNetwork", "CallKit",
        "Charts", "CloudKit", "Combine", "CommonCrypto", "Contacts", "ContactsUI", "CoreAudio",
        "CoreBluetooth", "CoreData", "CoreFoundation", "CoreGraphics", "CoreHaptics", "CoreImage",
        "CoreLocation", "CoreMIDI", "CoreML", "CoreMedia", "CoreMotion", "CoreNFC", "CoreServices",
        "CoreSpotlight", "CoreTelephony", "CoreText", "CoreTransferable", "CoreVideo", "CryptoKit",
        "CryptoTokenKit", "Darwin", "DeviceActivity", "DeviceCheck", "Dispatch", "EventKit",
        "EventKitUI", "ExternalAccessory", "FamilyControls", "Foundation", "FoundationModels",
        "GLKit", "GameController", "GameKit", "GameplayKit", "Glibc", "GroupActivities",
        "HealthKit", "HealthKitUI", "HomeKit", "IdentityLookup", "ImageIO", "Intents", "IntentsUI",
        "JavaScriptCore", "JournalingSuggestions", "LinkPresentation", "LiveCommunicationKit",
        "LocalAuthentication", "MachO", "ManagedSettings", "MapKit", "MediaPlayer", "MessageUI",
        "Messages", "Metal", "MetalKit", "MobileCoreServices", "ModelIO", "MultipeerConnectivity",
        "MusicKit", "NaturalLanguage", "NearbyInteraction", "Network", "NetworkExtension", "OSLog",
        "ObjectiveC", "Observation", "PDFKit", "PackageDescription", "PassKit", "PencilKit",
        "Photos", "PhotosUI", "PushKit", "PushToTalk", "QuartzCore", "QuickLook", "RealityKit",
        "ReplayKit", "RoomPlan", "SQLite3", "SafariServices", "SceneKit", "Security", "SensorKit",
        "ShazamKit", "Social", "SoundAnalysis", "Speech", "SpriteKit", "StoreKit", "Swift",
        "SwiftData", "SwiftUI", "Synchronization", "SystemConfiguration", "Testing", "TipKit",
        "Translation", "UIKit", "UniformTypeIdentifiers", "UserNotifications",
        "UserNotificationsUI", "VideoToolbox", "Vision", "VisionKit", "WatchConnectivity",
        "WatchKit", "WeatherKit", "WebKit", "WidgetKit", "XCTest", "os", "simd", "sqlite3",
        // Headers.
        "Availability.h", "TargetConditionals.h", "arpa", "assert.h", "dispatch", "errno.h",
        "ifaddrs.h", "limits.h", "mach", "mach-o", "math.h", "net", "netdb.h", "netinet",
        "notify.h",
        "objc", "pthread.h", "sqlite3.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h",
        "stdio.h", "stdlib.h", "string.h", "sys", "time.h", "unistd.h", "zlib.h",
    ]
}
