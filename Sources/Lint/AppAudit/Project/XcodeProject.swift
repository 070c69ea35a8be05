// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A `project.pbxproj`: objects that refer to each other by id.
struct XcodeProject {
    /// The maximum length of chains of groups and objects.
    private static let maximumSteps = 64

    /// The path of the file.
    let file: String
    /// The folder that relative paths start from: the one that contains the `.xcodeproj`.
    let folder: String
    /// Its absolute path, for build settings.
    private let sourceRoot: String
    /// The name of the project: that of its `.xcodeproj`.
    let name: String
    private let objects: [String: AppProperty]
    private let root: AppProperty
    /// The group that contains an object.
    private let parents: [String: String]
    /// The targets by the file that each builds.
    let targetsByProduct: [String: XcodeTarget]
    /// The ids of the folders whose files belong to targets without being listed, in order.
    let synchronizedGroups: [String]
    /// The folders of local Swift packages.
    private(set) var localPackages: [String] = []
    let memory = Memory()
    let schemes: SharedSchemes

    /// Cached results, because a project refers to the same files for many targets.
    final class Memory {
        var paths: [String: String?] = [:]
        var packages: [String: SwiftPackage?] = [:]
        var strays: [String]?
        var pods: [String: Pods?] = [:]
    }

    /// Creates a project from the contents of a file. `folder` contains the `.xcodeproj`.
    init(
        _ list: AppProperties, file: String, folder: String, name: String
    ) throws(ReadingFailure) {
        self.file = file
        self.name = name
        schemes = SharedSchemes(in: Paths.folder(of: file))
        guard case .dictionary(let objects)? = list["objects"]?.value,
            let rootID = list["rootObject"]?.string, let root = objects[rootID]
        else {
            throw ReadingFailure(
                place: list.place, message: "the file holds no objects of an Xcode project")
        }
        self.objects = objects
        self.root = root
        let subfolder = root["projectDirPath"]?.string ?? ""
        self.folder = subfolder.isEmpty ? folder : Paths.join(folder, subfolder)
        sourceRoot = Paths.join(FileTree.currentFolder, self.folder)
        var parents: [String: String] = [:]
        for (id, object) in objects {
            for child in object["children"]?.strings ?? [] { parents[child.value] = id }
        }
        self.parents = parents
        synchronizedGroups =
            objects.filter { $0.value["isa"]?.string == "PBXFileSystemSynchronizedRootGroup" }
            .keys.sorted()
        var targetsByProduct: [String: XcodeTarget] = [:]
        for (id, object) in objects {
            guard let product = object["productReference"]?.string else { continue }
            targetsByProduct[product] = XcodeTarget(id: id, object: object)
        }
        self.targetsByProduct = targetsByProduct
        localPackages = findLocalPackages()
    }

    /// The packages that the project refers to, and the folders in the project that contain one.
    private func findLocalPackages() -> [String] {
        var folders = objects(root, "packageReferences").compactMap { reference -> String? in
            guard reference["isa"]?.string == "XCLocalSwiftPackageReference" else { return nil }
            return (reference["relativePath"]?.string).map { Paths.join(folder, $0) }
        }
        for (id, object) in objects.sorted(by: { $0.key < $1.key }) {
            let type = object["lastKnownFileType"]?.string
            guard type == "wrapper" || type == "folder" || type == "text",
                let path = path(ofFile: id), !folders.contains(path),
                FileTree.kind(of: Paths.join(path, "Package.swift")) == .file
            else { continue }
            folders.append(path)
        }
        return folders
    }

    /// The package in a folder; read once.
    func package(_ folder: String, _ tree: FileTree) -> SwiftPackage? {
        if let known = memory.packages[folder] { return known }
        let package = SwiftPackage(folder, tree: tree)
        memory.packages[folder] = .some(package)
        return package
    }

    /// The targets that are built from sources, in the project's order, without tests.
    var targets: [XcodeTarget] {
        (root["targets"]?.strings ?? []).compactMap { id in
            guard let object = objects[id.value], object["isa"]?.string == "PBXNativeTarget" else {
                return nil
            }
            let target = XcodeTarget(id: id.value, object: object)
            return target.isTest ? nil : target
        }
    }

    /// The names of a target's build configurations, in order.
    func configurations(of target: XcodeTarget) -> [String] {
        configurationObjects(of: target.object).compactMap { $0["name"]?.string }
    }

    /// The object with this id.
    func object(_ id: String?) -> AppProperty? { id.flatMap { objects[$0] } }

    /// The objects that a member refers to.
    func objects(_ object: AppProperty, _ member: String) -> [AppProperty] {
        (object[member]?.strings ?? []).compactMap { objects[$0.value] }
    }

    /// The settings of a target in this configuration, which override those of the project.
    func settings(
        of target: XcodeTarget, in configuration: String, files: SettingsFiles
    ) -> BuildSettings {
        var layers: [[String: AppProperty]] = []
        for owner in [root, target.object] {
            let object = configurationObjects(of: owner).first {
                $0["name"]?.string == configuration
            }
            guard let object else { continue }
            if let path = path(ofFile: object["baseConfigurationReference"]?.string)
                ?? anchoredPath(of: object)
            {
                layers.append(files.settings(in: path))
            }
            if case .dictionary(let settings)? = object["buildSettings"]?.value {
                layers.append(settings)
            }
        }
        return BuildSettings(
            layers: layers,
            builtIn: [
                "CONFIGURATION": configuration, "TARGET_NAME": target.name,
                "TARGETNAME": target.name,
                "PROJECT": name, "PROJECT_NAME": name, "SRCROOT": sourceRoot,
                "SOURCE_ROOT": sourceRoot, "PROJECT_DIR": sourceRoot,
                "PRODUCT_NAME": target.name, "PRODUCT_MODULE_NAME": target.name,
            ])
    }

    /// The path of a file in a build setting: relative to the project's folder, or absolute. One
    /// that starts with `$(SRCROOT)` is shown as a relative path.
    func path(ofSetting text: String) -> String {
        let path = Paths.join(sourceRoot, text)
        let start = sourceRoot == "/" ? "/" : sourceRoot + "/"
        return path.hasPrefix(start)
            ? Paths.join(folder, String(path.dropFirst(start.count))) : path
    }

    /// The place of a target's settings in this configuration.
    func settingsPlace(of target: XcodeTarget, in configuration: String) -> AppPlace {
        configurationObjects(of: target.object).first { $0["name"]?.string == configuration }?[
            "buildSettings"]?.place ?? target.object.place
    }

    /// The path of a settings file in a folder that the project lists as a whole.
    private func anchoredPath(of configuration: AppProperty) -> String? {
        guard let relative = configuration["baseConfigurationReferenceRelativePath"]?.string,
            let anchor = path(ofFile: configuration["baseConfigurationReferenceAnchor"]?.string)
        else { return nil }
        return Paths.join(anchor, relative)
    }

    func configurationObjects(of owner: AppProperty) -> [AppProperty] {
        guard let list = object(owner["buildConfigurationList"]?.string) else { return [] }
        return objects(list, "buildConfigurations")
    }

    // MARK: Paths

    /// The path of a file or folder of the project; `nil` for products and files of an SDK.
    func path(ofFile id: String?) -> String? {
        guard let id else { return nil }
        if let known = memory.paths[id] { return known }
        let path = findPath(ofFile: id)
        memory.paths[id] = .some(path)
        return path
    }

    private func findPath(ofFile id: String) -> String? {
        var parts: [String] = []
        var next: String? = id
        var steps = 0
        while let id = next, let object = objects[id], steps < Self.maximumSteps {
            steps += 1
            let part = object["path"]?.string
            switch object["sourceTree"]?.string {
            case "<absolute>":
                guard let part else { return nil }
                return parts.reversed().reduce(part, Paths.join)
            case "SOURCE_ROOT":
                if let part { parts.append(part) }
                next = nil
            case "<group>":
                if let part { parts.append(part) }
                next = parents[id]
            default: return nil
            }
        }
        guard !parts.isEmpty else { return nil }
        return parts.reversed().reduce(folder, Paths.join)
    }
}

/// A target of an Xcode project.
struct XcodeTarget {
    /// Its object's id.
    let id: String
    /// Its object.
    let object: AppProperty

    /// Its name.
    var name: String { object["name"]?.string ?? id }

    private var productType: String { object["productType"]?.string ?? "" }

    /// Whether it is a test target.
    var isTest: Bool {
        productType.hasSuffix(".unit-test") || productType.hasSuffix("ui-testing")
    }

    /// Whether it is an app that nobody gets, in which tests run: `Sync Test Host`.
    var isTestHost: Bool {
        role == .app
            && name.filter { $0 != " " && $0 != "-" && $0 != "_" }.lowercased()
                .hasSuffix("testhost")
    }

    /// Whether it builds a framework or a library.
    var isLibrary: Bool {
        productType.contains(".framework") || productType.contains(".library.")
    }

    /// Whether it builds an App Clip.
    var isAppClip: Bool { productType.hasSuffix(".application.on-demand-install-capable") }

    /// The product. A separate WatchKit extension has the background modes of its app, so that it
    /// counts as the app (Apple, UIBackgroundModes).
    var role: AppFacts.Bundle.Role {
        let prefix = "com.apple.product-type."
        guard productType.hasPrefix(prefix) else { return .other }
        switch productType.dropFirst(prefix.count) {
        case "application", "application.on-demand-install-capable", "watchkit2-extension":
            return .app
        case "app-extension", "extensionkit-extension", "tv-app-extension",
            "app-extension.messages", "app-extension.intents-service":
            return .appExtension
        default: return .other
        }
    }
}
