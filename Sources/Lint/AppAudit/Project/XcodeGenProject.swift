// SPDX-License-Identifier: Apache-2.0

import PayloadLint
import PayloadRules

/// A `project.yml`, from which XcodeGen generates an Xcode project.
struct XcodeGenProject {
    /// The maximum depth of included files.
    private static let maximumDepth = 8
    /// The maximum depth of target templates.
    private static let maximumTemplates = 8

    /// The path of the file.
    let file: String
    /// The folder that paths are relative to.
    let folder: String
    /// The targets that are built from sources, without tests.
    private(set) var targets: [XcodeTarget] = []
    private let name: String
    private let sourceRoot: String
    private var specifications: [(name: String, node: Specification)] = []
    private var templates: [String: Specification] = [:]
    private var groups: [String: Specification] = [:]
    private var settings: [Specification] = []
    /// The version of iOS for the targets that name none.
    private var deploymentTarget: Specification?
    private var configFiles: [String: String] = [:]
    private var configurationNames: [String] = []
    private var packages: [String: Specification] = [:]

    /// A node of the specification, with its file and folder.
    struct Specification {
        let node: YAMLNode
        let file: String
        let folder: String

        subscript(key: String) -> Specification? {
            guard let node = node.mapping?[key] else { return nil }
            return Specification(node: node, file: file, folder: folder)
        }

        var text: String? { node.scalar?.string }

        var place: AppPlace {
            AppPlace(file: file, line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
        }

        /// The members of a mapping, in order.
        var members: [(key: String, value: Specification)] {
            (node.mapping ?? YAMLNode.Mapping([])).compactMap { key, value in
                guard let name = key.scalar?.string else { return nil }
                return (name, Specification(node: value, file: file, folder: folder))
            }
        }

        /// The elements of a list; a single value is a list with one element.
        var elements: [Specification] {
            guard let sequence = node.sequence else { return node.scalar == nil ? [] : [self] }
            return sequence.map { Specification(node: $0, file: file, folder: folder) }
        }

        /// The value as a property.
        var property: AppProperty {
            let value: AppProperty.Value
            switch node {
            case .scalar(let scalar):
                switch scalar.string {
                case _ where scalar.style == .text:
                    value = .string(scalar.string)
                case "true", "YES", "yes": value = .boolean(true)
                case "false", "NO", "no": value = .boolean(false)
                default:
                    value =
                        Int64(scalar.string).map(AppProperty.Value.integer)
                        ?? .string(scalar.string)
                }
            case .sequence: value = .array(elements.map(\.property))
            case .mapping:
                value = .dictionary(
                    Dictionary(members.map { ($0.key, $0.value.property) }) { $1 })
            }
            return AppProperty(value, at: place)
        }
    }

    /// Reads a file and its included files; `nil` if it does not describe a project.
    init?(_ path: String, _ library: FileLibrary) {
        file = path
        folder = Paths.folder(of: path)
        sourceRoot = Paths.join(FileTree.currentFolder, folder)
        guard let root = Self.read(path, library) else { return nil }
        name = root["name"]?.text ?? Paths.name(of: folder)
        guard root["targets"] != nil || root["include"] != nil else { return nil }
        var seen: Set<String> = []
        add(root, library, &seen, depth: 0)
        guard !specifications.isEmpty else { return nil }
        if configurationNames.isEmpty { configurationNames = ["Debug", "Release"] }
        targets = findTargets()
    }

    private static func read(_ path: String, _ library: FileLibrary) -> Specification? {
        guard
            let bytes = library.optionalBytes(
                path, .xcodeProject, limit: AuditLimits.settingsBytes)
        else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        let node: YAMLNode
        do throws(YAMLFailure) {
            guard let read = try YAMLNode.parse(text), read.mapping != nil else { return nil }
            node = read
        } catch {
            // A file of another program may have this name, and need not be YAML.
            guard text.contains("targets:") else { return nil }
            let place = AppPlace(
                file: path, line: error.mark?.line ?? 1, column: error.mark?.column ?? 1)
            library.note(ReadingFailure(place: place, message: error.clause))
            return nil
        }
        guard !YAMLAliases.areTooMany(in: node) else {
            library.note(
                ReadingFailure(place: AppPlace(file: path), message: YAMLAliases.problem))
            return nil
        }
        return Specification(node: node, file: path, folder: Paths.folder(of: path))
    }

    private mutating func add(
        _ root: Specification, _ library: FileLibrary, _ seen: inout Set<String>, depth: Int
    ) {
        guard depth < Self.maximumDepth, seen.insert(root.file).inserted else { return }
        for include in root["include"]?.elements ?? [] {
            guard let name = include.text ?? include["path"]?.text,
                let other = Self.read(Paths.join(root.folder, name), library)
            else { continue }
            let isRelative = include["relativePaths"]?.text != "false"
            let folder = isRelative ? other.folder : root.folder
            add(
                Specification(node: other.node, file: other.file, folder: folder), library, &seen,
                depth: depth + 1)
        }
        for (name, node) in root["targets"]?.members ?? [] {
            // What an included file says of the target too is merged into it.
            let place = specifications.firstIndex { $0.name == name }
            specifications.insert((name, node), at: place ?? specifications.endIndex)
        }
        for (name, node) in root["targetTemplates"]?.members ?? [] { templates[name] = node }
        for (name, node) in root["settingGroups"]?.members ?? [] { groups[name] = node }
        for (name, node) in root["packages"]?.members ?? [] { packages[name] = node }
        if let node = root["settings"] { settings.append(node) }
        if let version = root["options"]?["deploymentTarget"]?["iOS"] { deploymentTarget = version }
        for (name, path) in root["configFiles"]?.members ?? [] {
            configFiles[name] = path.text.map { Paths.join(path.folder, $0) }
        }
        for (name, _) in root["configs"]?.members ?? [] where !configurationNames.contains(name) {
            configurationNames.append(name)
        }
    }

    /// The node of a target and those of its templates; the first one with a value takes
    /// precedence.
    private func layers(of target: XcodeTarget) -> [Specification] {
        var layers = specifications.filter { $0.name == target.id }.map(\.node)
        var index = 0
        while index < layers.count, layers.count < Self.maximumTemplates {
            let names = layers[index]["templates"]?.elements.compactMap(\.text) ?? []
            layers += names.compactMap { templates[$0] }
            index += 1
        }
        return layers
    }

    private func value(_ key: String, of target: XcodeTarget) -> Specification? {
        layers(of: target).lazy.compactMap { $0[key] }.first
    }
}

extension XcodeGenProject: ProjectDescription {
    private func findTargets() -> [XcodeTarget] {
        var seen: Set<String> = []
        return specifications.filter { seen.insert($0.name).inserted }.compactMap { name, node in
            let layers = layers(of: XcodeTarget(id: name, object: node.property))
            let type = layers.lazy.compactMap { $0["type"]?.text }.first ?? ""
            let place = node.place
            let object = AppProperty(
                .dictionary([
                    "name": AppProperty(.string(name), at: place),
                    "productType": AppProperty(
                        .string("com.apple.product-type." + type), at: place),
                ]), at: place)
            let target = XcodeTarget(id: name, object: object)
            return target.isTest ? nil : target
        }
    }

    func configurations(of target: XcodeTarget) -> [String] { configurationNames }

    func settings(
        of target: XcodeTarget, in configuration: String, files: SettingsFiles
    ) -> BuildSettings {
        var layers: [[String: AppProperty]] = []
        if let version = deploymentTarget, let text = version.text {
            layers.append([
                "IPHONEOS_DEPLOYMENT_TARGET": AppProperty(.string(text), at: version.place)
            ])
        }
        if let path = configFiles[configuration] { layers.append(files.settings(in: path)) }
        layers += settings.map { self.settings($0, configuration, depth: 0) }
        if let path = value("configFiles", of: target)?[configuration],
            let name = path.text
        {
            layers.append(files.settings(in: Paths.join(path.folder, name)))
        }
        for layer in self.layers(of: target).reversed() {
            var own: [String: AppProperty] = [:]
            if let path = layer["info"]?["path"] {
                own["INFOPLIST_FILE"] = AppProperty(
                    .string(absolute(path)), at: path.place)
            }
            if let path = layer["entitlements"]?["path"] {
                own["CODE_SIGN_ENTITLEMENTS"] = AppProperty(
                    .string(absolute(path)), at: path.place)
            }
            if let platform = layer["platform"]?.elements.first {
                own["SDKROOT"] = AppProperty(
                    .string(Self.kits[platform.text ?? ""] ?? "auto"), at: platform.place)
            }
            if let version = layer["deploymentTarget"].map({ $0["iOS"] ?? $0 }),
                let text = version.text
            {
                own["IPHONEOS_DEPLOYMENT_TARGET"] = AppProperty(.string(text), at: version.place)
            }
            layers.append(own)
            if let node = layer["settings"] {
                layers.append(settings(node, configuration, depth: 0))
            }
        }
        return BuildSettings(
            layers: layers,
            builtIn: [
                "CONFIGURATION": configuration, "TARGET_NAME": target.name,
                "TARGETNAME": target.name, "target_name": target.name, "PROJECT": name,
                "PROJECT_NAME": name, "SRCROOT": sourceRoot, "SOURCE_ROOT": sourceRoot,
                "PROJECT_DIR": sourceRoot, "PRODUCT_NAME": target.name,
            ])
    }

    private static let kits = [
        "iOS": "iphoneos", "macOS": "macosx", "watchOS": "watchos", "tvOS": "appletvos",
        "visionOS": "xros",
    ]

    /// The absolute path of a node's value, relative to the node's file.
    private func absolute(_ path: Specification) -> String {
        Paths.join(Paths.join(FileTree.currentFolder, path.folder), path.text ?? "")
    }

    /// Settings as a mapping, or with `groups`, `base` and `configs`.
    private func settings(
        _ node: Specification, _ configuration: String, depth: Int
    ) -> [String: AppProperty] {
        guard depth < Self.maximumTemplates else { return [:] }
        let isStructured = ["base", "configs", "groups"].contains { node[$0] != nil }
        guard isStructured else { return texts(node) }
        var result: [String: AppProperty] = [:]
        for group in node["groups"]?.elements.compactMap(\.text) ?? [] {
            guard let node = groups[group] else { continue }
            result.merge(settings(node, configuration, depth: depth + 1)) { $1 }
        }
        if let base = node["base"] { result.merge(texts(base)) { $1 } }
        for (name, own) in node["configs"]?.members ?? []
        where name.lowercased() == configuration.lowercased() {
            result.merge(texts(own)) { $1 }
        }
        return result
    }

    /// The settings as texts: YAML's `yes` is Xcode's YES.
    private func texts(_ node: Specification) -> [String: AppProperty] {
        var result: [String: AppProperty] = [:]
        for (name, value) in node.members {
            var property = value.property
            if case .boolean(let flag) = property.value {
                property.value = .string(flag ? "YES" : "NO")
            } else if let text = value.text {
                property.value = .string(text)
            }
            result[name] = property
        }
        return result
    }

    func settingsPlace(of target: XcodeTarget, in configuration: String) -> AppPlace {
        target.object.place
    }

    func path(ofSetting text: String) -> String {
        let path = Paths.join(sourceRoot, text)
        let current = FileTree.currentFolder
        return !file.hasPrefix("/") && path.hasPrefix(current + "/")
            ? String(path.dropFirst(current.count + 1)) : path
    }

    func dependencies(of target: XcodeTarget) -> [XcodeTarget] {
        let names = layers(of: target).flatMap { $0["dependencies"]?.elements ?? [] }
            .compactMap { $0["target"]?.text }
        return targets.filter { names.contains($0.name) }
    }

    func sources(of target: XcodeTarget, tree: FileTree) -> SourceList {
        var list = SourceList()
        var pending = [target]
        var seen: Set<String> = [target.id]
        while let next = pending.popLast() {
            for source in layers(of: next).flatMap({ $0["sources"]?.elements ?? [] }) {
                add(source, to: &list, tree)
            }
            list.beginShared()
            for dependency in layers(of: next).flatMap({ $0["dependencies"]?.elements ?? [] }) {
                addDependency(dependency, to: &list, tree)
            }
            for dependency in dependencies(of: next)
            where dependency.role == .other && seen.insert(dependency.id).inserted {
                pending.append(dependency)
            }
        }
        if runsScript(naming: "gradlew", for: target) {
            list.addKotlin(.project, "Gradle", around: folder, tree)
        }
        if FileTree.kind(of: Paths.join(folder, "Podfile")) == .file {
            list.add(Pods(besideProjectIn: folder), tree)
        }
        list.sort()
        return list
    }

    private func add(_ source: Specification, to list: inout SourceList, _ tree: FileTree) {
        guard let name = source.text ?? source["path"]?.text else { return }
        let path = Paths.join(source.folder, name)
        let kind = FileTree.kind(of: path)
        guard kind == .folder else {
            // XcodeGen makes no project without a folder or a file that is not said to be optional.
            if kind == nil, source["optional"]?.text != "true" { list.addUnread(.source, name) }
            list.add([path])
            return
        }
        let patterns = (source["excludes"]?.elements ?? []).compactMap(\.text).map {
            GlobPattern($0)
        }
        let files = tree.files(below: path).filter { file in
            let relative = String(file.dropFirst(path == "." ? 0 : path.count + 1))
            return !patterns.contains { $0.covers(relative) }
        }
        list.add(files)
    }

    private func addDependency(
        _ dependency: Specification, to list: inout SourceList, _ tree: FileTree
    ) {
        if let name = dependency["package"]?.text {
            guard let path = packages[name]?["path"], let text = path.text,
                let package = SwiftPackage(Paths.join(path.folder, text), tree: tree)
            else {
                let products = dependency["products"]?.elements.compactMap(\.text) ?? []
                for product in products.isEmpty ? [dependency["product"]?.text ?? name] : products {
                    list.addUnread(.package, product, uses: uses(of: product, packages[name]))
                }
                return
            }
            list.add(package)
            for (name, uses) in package.remote { list.addUnread(.package, name, uses: uses) }
        } else if let name = dependency["framework"]?.text ?? dependency["carthage"]?.text {
            list.addUnread(.framework, Paths.stem(of: name))
        } else if let name = dependency["target"]?.text, name.contains("/") {
            list.addUnread(.project, name)
        }
    }

    /// What a product of a package from elsewhere may do.
    private func uses(of product: String, _ package: Specification?) -> ModuleUses {
        let address =
            package?["url"]?.text ?? package?["github"]?.text.map { "https://github.com/" + $0 }
        return address.map { KnownLibraries.uses(ofProduct: product, of: $0) } ?? .all
    }

    func changesEntitlements(of target: XcodeTarget) -> Bool {
        runsScript(naming: "entitlements", for: target)
    }

    func runsScript(naming word: String, for target: XcodeTarget) -> Bool {
        let layers = layers(of: target)
        return ["preBuildScripts", "postCompileScripts", "postBuildScripts"].contains { key in
            layers.flatMap { $0[key]?.elements ?? [] }.contains { script in
                script.members.contains {
                    $0.value.text?.lowercased().contains(word) == true
                }
            }
        }
    }

    func generated(_ kind: AuditReport.FileKind, of target: XcodeTarget) -> AppProperties? {
        let key = kind == .entitlements ? "entitlements" : "info"
        let lists = layers(of: target).compactMap { $0[key]?["properties"] }
        guard let nearest = lists.first else { return nil }
        var members: [String: AppProperty] = [:]
        var replaced: Set<String> = []
        for (key, value) in lists.flatMap(\.members) {
            let replaces = key.hasSuffix(Self.replacement)
            let name = replaces ? String(key.dropLast(Self.replacement.count)) : key
            guard !replaced.contains(name) else { continue }
            members[name] = members[name].map { Self.merged($0, value.property) } ?? value.property
            if replaces { replaced.insert(name) }
        }
        return AppProperties(members, at: nearest.place)
    }

    /// The end of the name of a value that what it is merged onto has no part in.
    private static let replacement = ":REPLACE"

    /// A value with what it is merged onto: XcodeGen joins lists.
    private static func merged(_ near: AppProperty, _ far: AppProperty) -> AppProperty {
        guard case .array(let own) = near.value, case .array(let others) = far.value else {
            return near
        }
        return AppProperty(.array(others + own), at: near.place)
    }
}
