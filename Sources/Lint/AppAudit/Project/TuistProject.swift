// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A Tuist `Project.swift` with literal targets.
struct TuistProject {
    /// The path of the manifest.
    let file: String
    /// The targets that are built from sources, without tests.
    let targets: [XcodeTarget]
    private let folder: String
    private let sourceRoot: String
    private let manifest: TuistManifest

    /// Reads a manifest; `nil` if a helper creates its targets.
    init?(_ path: String, _ library: FileLibrary) {
        guard
            let bytes = library.optionalBytes(path, .xcodeProject, limit: AuditLimits.sourceBytes),
            let manifest = TuistManifest(bytes, path: path)
        else { return nil }
        self.manifest = manifest
        file = path
        folder = Paths.folder(of: path)
        sourceRoot = Paths.join(FileTree.currentFolder, folder)
        targets = manifest.targets.enumerated().compactMap { index, target in
            let type = Self.types[target.product] ?? target.product
            let object = AppProperty(
                .dictionary([
                    "name": AppProperty(.string(target.name), at: target.place),
                    "productType": AppProperty(
                        .string("com.apple.product-type." + type), at: target.place),
                ]), at: target.place)
            return target.product.hasSuffix("Tests")
                ? nil : XcodeTarget(id: String(index), object: object)
        }
    }

    /// Xcode's product types by Tuist's names.
    private static let types = [
        "app": "application", "appClip": "application.on-demand-install-capable",
        "appExtension": "app-extension", "watch2Extension": "watchkit2-extension",
        "tvTopShelfExtension": "tv-app-extension", "messagesExtension": "app-extension.messages",
        "extensionKitExtension": "extensionkit-extension", "watch2App": "application.watchapp2",
    ]

    private func written(_ target: XcodeTarget) -> TuistManifest.Target? {
        Int(target.id).map { manifest.targets[$0] }
    }
}

extension TuistProject: ProjectDescription {
    func configurations(of target: XcodeTarget) -> [String] { ["Debug", "Release"] }

    func settings(
        of target: XcodeTarget, in configuration: String, files: SettingsFiles
    ) -> BuildSettings {
        guard let target = written(target) else { return BuildSettings(layers: []) }
        var own: [String: AppProperty] = [:]
        own["PRODUCT_BUNDLE_IDENTIFIER"] = manifest.string("bundleId", of: target)
        if case .file(let path) = manifest.list("infoPlist", of: target) {
            own["INFOPLIST_FILE"] = path
        }
        if case .file(let path) = manifest.list("entitlements", of: target) {
            own["CODE_SIGN_ENTITLEMENTS"] = path
        }
        let words = Set(["platform", "destinations"].flatMap { manifest.words($0, of: target) })
        if let kit = Self.kits.first(where: { words.contains($0.word) })?.kit {
            own["SDKROOT"] = AppProperty(.string(kit), at: target.place)
        }
        for label in ["deploymentTarget", "deploymentTargets"] {
            guard manifest.words(label, of: target).contains("iOS"),
                let version = manifest.strings(label, of: target).first
            else { continue }
            own["IPHONEOS_DEPLOYMENT_TARGET"] = AppProperty(.string(version), at: target.place)
        }
        return BuildSettings(
            layers: [own],
            builtIn: [
                "CONFIGURATION": configuration, "TARGET_NAME": target.name,
                "PRODUCT_NAME": target.name, "SRCROOT": sourceRoot, "PROJECT_DIR": sourceRoot,
            ])
    }

    private static let kits: [(word: String, kit: String)] = [
        ("iOS", "iphoneos"), ("iPhone", "iphoneos"), ("iPad", "iphoneos"),
        ("macOS", "macosx"), ("mac", "macosx"), ("watchOS", "watchos"), ("appleWatch", "watchos"),
        ("tvOS", "appletvos"), ("appleTv", "appletvos"), ("visionOS", "xros"),
        ("appleVision", "xros"),
    ]

    func settingsPlace(of target: XcodeTarget, in configuration: String) -> AppPlace {
        target.object.place
    }

    func path(ofSetting text: String) -> String { Paths.join(folder, text) }

    func dependencies(of target: XcodeTarget) -> [XcodeTarget] {
        guard let target = written(target) else { return [] }
        let names = manifest.calls("dependencies", of: target).filter { $0.name == "target" }
            .flatMap(\.texts)
        return targets.filter { names.contains($0.name) }
    }

    func sources(of target: XcodeTarget, tree: FileTree) -> SourceList {
        var list = SourceList()
        var pending = [target]
        var seen: Set<String> = [target.id]
        while let next = pending.popLast() {
            guard let target = written(next) else { continue }
            add(target, to: &list, tree)
            list.beginShared()
            for dependency in manifest.calls("dependencies", of: target) {
                switch dependency.name {
                case "target", "sdk": continue
                case "package", "external":
                    list.addUnread(.package, dependency.texts.first ?? "Package.swift")
                case "framework", "xcframework", "xcFramework", "library":
                    list.addUnread(.framework, dependency.texts.first.map(Paths.stem) ?? "?")
                default: list.addUnread(.project, dependency.texts.first ?? dependency.name)
                }
            }
            for dependency in dependencies(of: next)
            where dependency.role == .other && seen.insert(dependency.id).inserted {
                pending.append(dependency)
            }
        }
        if manifest.buildsKotlin { list.addKotlin(.project, "Gradle", around: folder, tree) }
        list.sort()
        return list
    }

    /// Adds the files in the folders of a target's source patterns.
    private func add(
        _ target: TuistManifest.Target, to list: inout SourceList, _ tree: FileTree
    ) {
        let patterns = ["sources", "buildableFolders"].flatMap {
            manifest.strings($0, of: target)
        }
        if patterns.isEmpty, manifest.has("sources", target) {
            list.addUnread(.project, Paths.name(of: file))
        }
        for pattern in patterns {
            let folders = pattern.split(separator: "/").prefix { !$0.contains("*") }
            let path = Paths.join(folder, folders.joined(separator: "/"))
            list.add(FileTree.kind(of: path) == .folder ? tree.files(below: path) : [path])
        }
    }

    func runsScript(naming word: String, for target: XcodeTarget) -> Bool { false }

    func changesEntitlements(of target: XcodeTarget) -> Bool {
        guard let target = written(target) else { return true }
        switch manifest.list("entitlements", of: target) {
        case .unknown: return true
        case .none: return manifest.hasSettingsFiles || manifest.has("settings", target)
        case .file, .written: return false
        }
    }

    func generated(_ kind: AuditReport.FileKind, of target: XcodeTarget) -> AppProperties? {
        guard let target = written(target) else { return nil }
        switch manifest.list(kind == .entitlements ? "entitlements" : "infoPlist", of: target) {
        case .written(let list): return list
        case .none:
            // Tuist's default has no entitlements; build settings may add some.
            return kind == .entitlements || manifest.hasSettingsFiles
                ? nil : AppProperties([:], at: target.place)
        case .file, .unknown: return nil
        }
    }
}
