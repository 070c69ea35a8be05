// SPDX-License-Identifier: Apache-2.0

import PayloadLint
import PayloadRules

/// Finds requests for background tasks in the text of all files of projects, whatever the
/// language: in headers, macros, comments and literals too.
struct TaskRequestSearch {
    /// The files that were searched; `nil` if there are others.
    private var files: Set<String>?
    /// The files that mention requests, their submission or their cancelling.
    private var mentions: Set<String> = []
    /// The modules that files import.
    private var imports: Set<String> = []
    /// The headers that files include, without a folder.
    private var headers: Set<String> = []
    /// The files of Objective-C with macros of their own.
    private var withMacros: Set<String> = []
    private let index: SourceIndex

    /// Files that hold no text.
    private static let media = [
        ".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".heic", ".icns", ".mp3", ".mp4", ".m4a",
        ".mov", ".wav", ".caf", ".aif", ".aiff", ".ttf", ".otf", ".zip", ".md",
    ]
    private static let sources = [
        ".swift", ".m", ".mm", ".h", ".hpp", ".pch", ".inc", ".c", ".cpp",
    ]

    /// Searches the files below some folders.
    init(below folders: [String], _ tree: FileTree) {
        index = tree.index
        let paths = Set(folders.flatMap { tree.files(below: $0) })
        // What the settings exclude may be built all the same.
        guard !tree.isExhausted, tree.settings.configuration.excluded.isEmpty else { return }
        for path in paths {
            let name = path.lowercased()
            guard !Self.media.contains(where: name.hasSuffix) else { continue }
            guard let bytes = try? FileTree.read(path, limit: AuditLimits.filteredBytes) else {
                return
            }
            if Self.mentionsRequest(bytes) { mentions.insert(path) }
            if Self.sources.contains(where: name.hasSuffix) { readLines(bytes, path) }
        }
        files = paths
    }

    /// What is known of the requests of an app with these files, whose mentions of requests have
    /// the names of functions if handlers alone lead there.
    func requests(
        in sources: [(path: String, requests: [Set<String>?])], _ modules: Set<String>
    ) -> AppFacts.Sources.BackgroundRequests {
        guard let files, sources.allSatisfy({ files.contains($0.path) }),
            imports.isSubset(of: modules.union(Self.systemModules)),
            headers.isSubset(of: Set(files.map(Paths.name)).union(modules.map { $0 + "-Swift.h" }))
        else { return .unknown }
        if mentions.isEmpty { return .nowhere }
        let askers = sources.filter { !$0.requests.isEmpty }
        guard !askers.isEmpty, Set(askers.map(\.path)) == mentions,
            withMacros.isDisjoint(with: mentions)
        else { return .unknown }
        for (path, requests) in askers {
            var words: Set<String> = []
            for request in requests {
                guard let request else { return .unknown }
                words.formUnion(request)
            }
            let wanted = index.words(words)
            let areOwn = files.allSatisfy { other in
                other == path || !Self.sources.contains(where: other.hasSuffix)
                    || index.words(wanted, .named, in: other)?.isEmpty == true
            }
            guard areOwn else { return .unknown }
        }
        return .inHandlers
    }

    /// Whether a text has a word such as `BGAppRefreshTaskRequest`, `submitTaskRequest` or
    /// `cancel(taskRequestWithIdentifier:)`.
    private static func mentionsRequest(_ bytes: [UInt8]) -> Bool {
        let word = Array("askRequest".utf8)
        guard bytes.count > word.count else { return false }
        var index = 0
        while index <= bytes.count - word.count {
            if bytes[index] == word[0], bytes[index + 3] == word[3],
                bytes[index..<index + word.count].elementsEqual(word)
            {
                return true
            }
            index += 1
        }
        return false
    }

    /// Reads the lines that import modules, include headers or may use macros.
    private mutating func readLines(_ bytes: [UInt8], _ path: String) {
        for line in bytes.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
            let isLikely = line.contains(UInt8(ascii: "#")) || line.count < 200
            guard isLikely else { continue }
            let text = String(decoding: line, as: UTF8.self)
            if text.contains("import") || text.contains("include") { readImport(text) }
            guard text.contains("#") else { continue }
            if path.hasSuffix(".swift") {
                if Self.usesMacro(text) { imports.insert("#") }
            } else if text.drop(while: { $0 == " " || $0 == "#" }).hasPrefix("define") {
                withMacros.insert(path)
            }
        }
    }

    /// Reads a line such as `@testable import struct Module.Type` or `#import <Module/Header.h>`.
    private mutating func readImport(_ line: String) {
        let words = line.split { " \t;".contains($0) }.map(String.init)
        guard
            let keyword = words.prefix(4).firstIndex(where: { word in
                ["import", "@import", "#import", "#include", "#include_next"].contains(word)
            })
        else {
            // `#import<Module/Header.h>` and `# import` are rare.
            if line.drop(while: { $0 == " " }).hasPrefix("#i"), !line.contains("#if") {
                imports.insert("#")
            }
            return
        }
        let isOwn = words[..<keyword].allSatisfy { word in
            word.hasPrefix("@") || ["public", "internal", "private", "package"].contains(word)
                || word == "#"
        }
        let kinds = ["struct", "class", "enum", "protocol", "func", "let", "var", "typealias"]
        guard isOwn, var name = words[(keyword + 1)...].first(where: { !kinds.contains($0) }) else {
            return
        }
        if name.hasPrefix("\"") {
            headers.insert(Paths.name(of: name.filter { $0 != "\"" }))
        } else if name.hasPrefix("<") {
            name.removeAll { "<>".contains($0) }
            let parts = name.split(separator: "/")
            // Headers of C have no folder, and neither have some of pods.
            imports.insert(parts.count > 1 ? String(parts[0]) : name)
        } else {
            imports.insert(String(name.prefix { $0 != "." }))
        }
    }

    /// Whether a line of Swift has a macro that is not the system's: `#schedule("a.b")`.
    private static func usesMacro(_ line: String) -> Bool {
        line.split(separator: "#", omittingEmptySubsequences: false).dropFirst().contains { part in
            let name = part.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            guard name.first?.isLetter == true, part[name.endIndex...].first == "(" else {
                return false
            }
            return !systemMacros.contains(String(name))
        }
    }

    private static let systemMacros: Set = [
        "available", "unavailable", "selector", "keyPath", "warning", "error", "sourceLocation",
        "colorLiteral", "imageLiteral", "fileLiteral", "Predicate", "Preview", "if", "elseif",
    ]

    /// Modules and headers of the system, which use no names of an app.
    private static let systemModules: Set = [
        "ARKit", "AVFAudio", "AVFoundation", "AVKit", "Accelerate", "Accounts", "ActivityKit",
        "AdSupport", "AddressBook", "AppIntents", "AppKit", "AppTrackingTransparency",
        "AudioToolbox", "AuthenticationServices", "BackgroundTasks", "CFNetwork", "CallKit",
        "Charts", "CloudKit", "Combine", "CommonCrypto", "Contacts", "ContactsUI", "CoreAudio",
        "CoreBluetooth", "CoreData", "CoreFoundation", "CoreGraphics", "CoreHaptics", "CoreImage",
        "CoreLocation", "CoreML", "CoreMedia", "CoreMotion", "CoreNFC", "CoreServices",
        "CoreSpotlight", "CoreTelephony", "CoreText", "CoreTransferable", "CoreVideo",
        "CryptoKit", "CryptoTokenKit", "Darwin", "DeviceCheck", "Dispatch", "EventKit",
        "EventKitUI", "ExternalAccessory", "Foundation", "GameKit", "Glibc", "HealthKit",
        "HealthKitUI", "HomeKit", "ImageIO", "Intents", "IntentsUI", "JavaScriptCore",
        "LinkPresentation", "LocalAuthentication", "MachO", "MapKit", "MediaPlayer", "MessageUI",
        "Messages", "Metal", "MetalKit", "MobileCoreServices", "MultipeerConnectivity",
        "NaturalLanguage", "Network", "NetworkExtension", "ObjectiveC", "Observation", "OSLog",
        "PDFKit", "PackageDescription", "PassKit", "PencilKit", "Photos", "PhotosUI", "PushKit",
        "QuartzCore", "QuickLook", "RealityKit", "ReplayKit", "SafariServices", "SceneKit",
        "Security", "Social", "Speech", "SpriteKit", "StoreKit", "Swift", "SwiftData", "SwiftUI",
        "SystemConfiguration", "Testing", "UIKit", "UniformTypeIdentifiers", "UserNotifications",
        "UserNotificationsUI", "Vision", "VisionKit", "WatchConnectivity", "WatchKit", "WebKit",
        "WidgetKit", "XCTest", "os", "simd", "sqlite3", "SQLite3",
        // Headers.
        "Availability.h", "TargetConditionals.h", "arpa", "assert.h", "dispatch", "errno.h",
        "ifaddrs.h", "limits.h", "mach", "mach-o", "math.h", "net", "netdb.h", "netinet",
        "notify.h",
        "objc", "pthread.h", "sqlite3.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h",
        "stdio.h", "stdlib.h", "string.h", "sys", "time.h", "unistd.h", "zlib.h",
    ]
}
