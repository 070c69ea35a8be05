// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads files outside Xcode projects: those of a project generator, or of a built app. Each
/// Info.plist is a bundle, whose files are in its folder.
struct BundleReader {
    private let found: FoundFiles
    private let library: FileLibrary

    /// Creates a reader of these files.
    init(_ found: FoundFiles, _ library: FileLibrary) {
        self.found = found
        self.library = library
    }

    private struct Piece {
        let folder: String
        let info: AppProperties
        let role: AppFacts.Bundle.Role
    }

    /// The facts: one app with its embedded bundles, or none.
    func facts() -> [AppFacts] {
        let pieces = found.infoPlists.compactMap(piece)
        // The Info.plist of a pod or a framework does not belong to an app.
        guard pieces.contains(where: { $0.role != .other }) else { return factsWithoutInfo() }
        let apps = pieces.filter { $0.role == .app }
        let lists = entitlements(of: pieces)
        let sources = sources(of: pieces, apps)
        var unread = found.sources.unreadOnly
        unread.addStrays(sources.strays.count)
        for name in found.otherBuilds { unread.addUnread(.project, name) }
        var bundles = pieces.indices.map { index in
            let piece = pieces[index]
            let known = pieces.count == 1 ? nil : piece.folder
            var bundle = AppFacts.Bundle(
                name: known, role: piece.role, platform: Self.platform(piece.info),
                identifier: piece.info["CFBundleIdentifier"].flatMap(Self.located),
                deploymentTarget: Self.deploymentTarget(piece.info), info: piece.info,
                entitlements: lists[index].map { .known($0) } ?? .unknown,
                host: piece.role == .appExtension ? host(of: piece, apps) : nil)
            var list = unread
            list.add(sources.paths[index])
            bundle.sources =
                sources.paths[index].isEmpty
                ? nil : library.facts(of: list, isWhole: piece.role == .app)
            bundle.sources?.name(nil)
            if piece.role == .app { library.noteUnread(unread.unread, target: known ?? "") }
            addSignature(to: &bundle, piece)
            bundle.mayBeIncomplete = !isBuilt(piece.folder) && found.isGenerated(piece.folder)
            return bundle
        }
        // The app that the extensions are for is not there.
        if apps.isEmpty { library.noteUnread(unread.unread, target: "") }
        if let strays = library.bundle(ofStrays: sources.strays) { bundles.append(strays) }
        return [AppFacts(bundles: bundles)]
    }

    private func piece(_ path: String) -> Piece? {
        let before = library.problems.count
        guard let info = library.properties(path, .infoPlist) else {
            // No rule needs the one of a framework.
            if found.infoPlistsOfLibraries.contains(path), !found.named.contains(path) {
                library.setAsideProblems(from: before)
            }
            return nil
        }
        // Other files have such names too, such as GoogleService-Info.plist.
        let prefixes = ["CFBundle", "UI", "NS", "LS", "BGTask", "WK"]
        let isInfo =
            found.named.contains(path)
            || info.members.keys.contains { key in prefixes.contains(where: key.hasPrefix) }
        guard isInfo else { return nil }
        let folder = Paths.folder(of: path)
        let isOfPod = info["CFBundlePackageType"]?.string != "APPL" && found.isOfPod(folder)
        return Piece(folder: folder, info: info, role: isOfPod ? .other : Self.role(info))
    }

    private static func role(_ info: AppProperties) -> AppFacts.Bundle.Role {
        if info["NSExtension"] != nil || info["EXAppExtensionAttributes"] != nil {
            return .appExtension
        }
        switch info["CFBundlePackageType"]?.string {
        case "FMWK", "BNDL", "XPC!": return .other
        case "APPL": return .app
        default:
            // The Info.plist of a framework has no keys of a user interface.
            let prefixes = ["UI", "LS", "BGTask", "WK"]
            let isApp = info.members.keys.contains { key in
                prefixes.contains(where: key.hasPrefix)
                    || key.hasPrefix("NS") && key.hasSuffix("UsageDescription")
            }
            return isApp ? .app : .other
        }
    }

    /// The facts for entitlements or source text without an Info.plist.
    private func factsWithoutInfo() -> [AppFacts] {
        var bundle = AppFacts.Bundle()
        var list = found.sources
        for name in found.otherBuilds { list.addUnread(.project, name) }
        var sources = library.facts(of: list)
        sources?.name(nil)
        bundle.sources = sources
        library.noteUnread(list.unread, target: "")
        // A library has none, and who names single files asks for no more.
        if found.otherBuilds.isEmpty, list.files.contains(where: { !found.named.contains($0) }) {
            library.noteNoInfo()
        }
        var bundles: [AppFacts.Bundle] = []
        let pushNames = ["aps-environment", "com.apple.developer.aps-environment"]
        let lists = found.entitlements.compactMap { path in
            library.properties(path, .entitlements).map { (path, $0) }
        }
        // Sources that ask for a token are probably those of the bundle that may get one.
        let receivers = lists.filter { _, list in pushNames.contains { list[$0] != nil } }
        for (path, list) in lists {
            bundle.entitlements = .known(list)
            bundle.sources =
                receivers.isEmpty || receivers.contains { $0.0 == path } ? sources : nil
            bundle.mayBeIncomplete =
                found.entitlements.count > 1 || found.isGenerated(Paths.folder(of: path))
            bundle.name = found.entitlements.count == 1 ? nil : Paths.stem(of: path)
            bundle.role = Self.isOfExtension(path) ? .appExtension : .app
            bundles.append(bundle)
        }
        if found.entitlements.isEmpty, bundle.sources != nil { bundles.append(bundle) }
        return bundles.isEmpty ? [] : [AppFacts(bundles: bundles)]
    }

    /// Whether an entitlements file belongs to an extension, by its name.
    private static func isOfExtension(_ path: String) -> Bool {
        let name = Paths.stem(of: path).lowercased()
        return ["extension", "widget", "service"].contains { name.contains($0) }
    }

    // MARK: Files of bundles

    /// The entitlements in a bundle's folder, or the only ones for the only app.
    private func entitlements(of pieces: [Piece]) -> [AppProperties?] {
        var left = found.entitlements
        var lists = pieces.map { piece -> AppProperties? in
            let here = left.filter { Paths.folder(of: $0) == piece.folder }
            guard here.count == 1, let path = here.first else { return nil }
            left.removeAll { $0 == path }
            return library.properties(path, .entitlements)
        }
        let apps = pieces.indices.filter { pieces[$0].role == .app }
        if apps.count == 1, left.count == 1, lists[apps[0]] == nil {
            lists[apps[0]] = library.properties(left[0], .entitlements)
        }
        return lists
    }

    /// Assigns source files: each one belongs to the bundle whose folder contains it, or to the
    /// only app. Strays may belong to any bundle.
    private func sources(
        of pieces: [Piece], _ apps: [Piece]
    ) -> (paths: [[String]], strays: [String]) {
        var strays: [String] = []
        var paths = [[String]](repeating: [], count: pieces.count)
        let app = apps.count == 1 ? pieces.firstIndex { $0.role == .app } : nil
        for file in found.sources.files {
            let owner = pieces.indices.filter { file.hasPrefix(pieces[$0].folder + "/") }
                .max { pieces[$0].folder.utf8.count < pieces[$1].folder.utf8.count }
            // The code of a framework is built into the app.
            let isLibrary = owner.map { pieces[$0].role == .other } ?? true
            guard let index = isLibrary ? app : owner else {
                strays.append(file)
                continue
            }
            paths[index].append(file)
        }
        return (paths, strays)
    }

    /// The app that contains an extension, or the only one.
    private func host(of piece: Piece, _ apps: [Piece]) -> String? {
        let around = apps.filter { piece.folder.hasPrefix($0.folder + "/") }
        return (around.first ?? (apps.count == 1 ? apps.first : nil))?.folder
    }

    /// Whether a folder is a built app, so that its files are complete.
    private func isBuilt(_ folder: String) -> Bool {
        [".app", ".appex", "/Contents"].contains(where: folder.hasSuffix)
    }

    /// Reads the entitlements of a built app from its code signature.
    private func addSignature(to bundle: inout AppFacts.Bundle, _ piece: Piece) {
        guard case .unknown = bundle.entitlements, piece.role != .other,
            let name = piece.info["CFBundleExecutable"]?.string
        else { return }
        let folder = piece.folder
        let isBuiltForMac = folder.hasSuffix("/Contents")
        guard isBuilt(folder), !name.contains("/") else { return }
        let path = Paths.join(folder, isBuiltForMac ? "MacOS/" + name : name)
        guard FileTree.kind(of: path) == .file,
            let list = CodeSignature.entitlements(ofProgram: path, library)
        else { return }
        bundle.entitlements = .known(list)
        // Only a development signature allows a debugger to attach.
        bundle.isExported = list["get-task-allow"]?.isTrue != true
    }

    // MARK: Single values

    private static func located(_ property: AppProperty) -> Located<String>? {
        property.string.map { Located($0, at: property.place) }
    }

    private static func platform(_ info: AppProperties) -> AppPlatform? {
        if info["WKApplication"] != nil || info["WKWatchKitApp"] != nil { return .watchOS }
        for platform in info["CFBundleSupportedPlatforms"]?.strings ?? [] {
            switch platform.value {
            case "iPhoneOS", "iPhoneSimulator": return .iOS
            case "MacOSX": return .macOS
            case "AppleTVOS": return .tvOS
            case "WatchOS": return .watchOS
            case "XROS": return .visionOS
            default: continue
            }
        }
        if info["LSRequiresIPhoneOS"]?.isTrue == true { return .iOS }
        return info["LSMinimumSystemVersion"] != nil ? .macOS : nil
    }

    private static func deploymentTarget(_ info: AppProperties) -> Located<SystemVersion>? {
        guard let text = info["MinimumOSVersion"].flatMap(located),
            let version = SystemVersion(text.value)
        else { return nil }
        return Located(version, at: text.place)
    }
}
