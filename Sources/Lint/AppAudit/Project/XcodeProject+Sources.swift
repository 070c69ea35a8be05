// SPDX-License-Identifier: Apache-2.0

import PayloadRules

extension XcodeProject {
    /// The source files of a target, of the frameworks in the same project that it depends on, and
    /// of local packages.
    func sources(of target: XcodeTarget, tree: FileTree) -> SourceList {
        var list = SourceList()
        var pending = [target]
        var seen: Set<String> = [target.id]
        var products: [AppProperty] = []
        while let next = pending.popLast() {
            addSources(of: next, to: &list, tree)
            list.beginShared()
            products += objects(next.object, "packageProductDependencies")
            var needed = dependencies(of: next)
            addFrameworks(of: next, to: &list, &needed, &products, tree)
            noteOthers(of: next, in: &list, tree)
            for dependency in needed
            where dependency.role == .other && seen.insert(dependency.id).inserted {
                pending.append(dependency)
            }
        }
        addPackages(products, to: &list, tree)
        if list.unread.isEmpty { list.addStrays(strays(namedIn: list, tree)) }
        list.sort()
        return list
    }

    /// The number of files in the project's folder that are in no target, although a target names
    /// their types: it cannot be built without them.
    private func strays(namedIn list: SourceList, _ tree: FileTree) -> Int {
        let strays = strays(tree)
        guard !strays.isEmpty else { return 0 }
        let known = Set(list.files)
        let own = Set(list.files.map(Paths.stem))
        let left = strays.filter { !known.contains($0) && !own.contains(Paths.stem(of: $0)) }
        let types = tree.index.words(Set(left.map(Paths.stem)))
        var named: Set<String> = []
        var declared: Set<String> = []
        for path in list.files {
            named.formUnion(tree.index.words(types, .named, in: path) ?? [])
            declared.formUnion(tree.index.words(types, .declared, in: path) ?? [])
        }
        let missing = named.subtracting(declared)
        return left.count { missing.contains(Paths.stem(of: $0)) }
    }

    /// The files in the project's folder that are in no target, and contain a word that a rule
    /// looks for.
    private func strays(_ tree: FileTree) -> [String] {
        if let known = memory.strays { return known }
        var built = SourceList()
        for target in targets { addSources(of: target, to: &built, tree) }
        let known = Set(built.files)
        var strays = tree.files(below: folder).filter { path in
            path.hasSuffix(".swift") && !known.contains(path)
        }
        if !strays.isEmpty {
            let own = Set(built.files.map(Paths.stem))
            strays.removeAll { path in
                own.contains(Paths.stem(of: path)) || (try? tree.index.mayMatter(path)) != true
            }
        }
        memory.strays = strays
        return strays
    }

    /// The targets that a target embeds or links.
    func dependencies(of target: XcodeTarget) -> [XcodeTarget] {
        objects(target.object, "dependencies").compactMap { dependency in
            guard let id = dependency["target"]?.string, let object = object(id) else { return nil }
            return XcodeTarget(id: id, object: object)
        }
    }

    /// Adds the frameworks that a target links: those of the project, of packages, and those that
    /// cannot be read. System frameworks are skipped.
    private func addFrameworks(
        of target: XcodeTarget, to list: inout SourceList, _ needed: inout [XcodeTarget],
        _ products: inout [AppProperty], _ tree: FileTree
    ) {
        for phase in objects(target.object, "buildPhases")
        where phase["isa"]?.string == "PBXFrameworksBuildPhase" {
            for file in objects(phase, "files") {
                if let product = object(file["productRef"]?.string) {
                    products.append(product)
                    continue
                }
                guard let id = file["fileRef"]?.string, let reference = object(id) else { continue }
                if let made = targetsByProduct[id] {
                    needed.append(made)
                    continue
                }
                let path = reference["path"]?.string ?? reference["name"]?.string ?? ""
                let sourceTree = reference["sourceTree"]?.string
                let isOfSystem =
                    sourceTree == "SDKROOT" || sourceTree == "DEVELOPER_DIR"
                    || path.hasPrefix("System/") || path.contains("/System/Library/")
                    || path.hasPrefix("usr/")
                    || path.hasSuffix(".tbd") || path.hasSuffix(".dylib")
                // The pods as one framework or library: Pods_App.framework, libPods-App.a.
                let name = Paths.stem(of: path)
                if name == "Pods" || ["Pods_", "Pods-", "libPods"].contains(where: name.hasPrefix) {
                    list.add(pods(of: target), tree)
                } else if reference["isa"]?.string == "PBXReferenceProxy" {
                    list.addUnread(.project, name)
                } else if !isOfSystem, !path.isEmpty {
                    list.addUnread(
                        .framework, name,
                        uses: Self.isOthers(path, in: sourceTree)
                            ? uses(ofFramework: path) : .all)
                }
            }
        }
    }

    /// Whether a framework is probably other people's: what another project or a script builds,
    /// and a library, may be the app's own.
    private static func isOthers(_ path: String, in sourceTree: String?) -> Bool {
        let isMade = ["build/", "Build/", "$(", "../", "App.framework", "App.xcframework"]
            .contains(where: path.contains)
        return path.contains("Carthage/")
            || sourceTree != "BUILT_PRODUCTS_DIR" && !isMade
                && [".framework", ".xcframework"].contains(where: path.hasSuffix)
    }

    /// What a framework may do that is there already: that of a known library, if Carthage builds
    /// it from its repository, or what its name tells.
    private func uses(ofFramework path: String) -> ModuleUses {
        let name = Paths.stem(of: path)
        let presumed = KnownLibraries.presumedUses(of: name)
        guard path.contains("Carthage/") else { return presumed }
        for file in ["Cartfile.resolved", "Cartfile"].map({ Paths.join(folder, $0) }) {
            guard let bytes = try? FileTree.read(file, limit: AuditLimits.settingsBytes) else {
                continue
            }
            for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
                let parts = line.split(separator: "\"")
                guard parts.count > 1, parts[0].hasPrefix("github ") else { continue }
                let uses = KnownLibraries.uses(of: name, from: "github.com/" + parts[1])
                if uses != presumed { return uses }
            }
        }
        return presumed
    }

    /// Records the inputs that CocoaPods, Flutter or Kotlin add, which only the project's settings
    /// and scripts show.
    private func noteOthers(of target: XcodeTarget, in list: inout SourceList, _ tree: FileTree) {
        if runsScript(naming: "gradlew", for: target) {
            list.addKotlin(.project, "Gradle", around: folder, tree)
        }
        if podfileFolder(naming: target) != nil { list.add(pods(of: target), tree) }
        for configuration in configurationObjects(of: target.object) {
            guard
                let path = path(ofFile: configuration["baseConfigurationReference"]?.string)
            else { continue }
            let name = Paths.name(of: path)
            if name.hasPrefix("Pods-") || path.contains("/Pods/") || path.hasPrefix("Pods/") {
                list.add(pods(of: target), tree)
            }
            // The plugins of Flutter are pods, or packages.
            guard path.hasSuffix("Flutter/\(name)") else { continue }
            let pods = pods(of: target)
            if let pods, pods.plugins != nil {
                list.add(pods, tree)
            } else if pods?.names.contains("Flutter") != true {
                list.addUnread(.project, "Flutter")
            }
        }
    }

    /// The pods of a target; `nil` if they are not known.
    private func pods(of target: XcodeTarget) -> Pods? {
        let named = podfileFolder(naming: target)
        let folder =
            named
            ?? podfileFolders.first { folder in
                ["Podfile", "Podfile.lock"].contains {
                    FileTree.kind(of: Paths.join(folder, $0)) != nil
                }
            }
            ?? self.folder
        if let known = memory.pods[folder] { return known }
        let pods = Pods(besideProjectIn: folder)
        memory.pods[folder] = .some(pods)
        return pods
    }

    /// The project's folder and the one above.
    private var podfileFolders: [String] { [folder, Paths.folder(of: folder)] }

    /// The folder of the Podfile that contains a target's name: CocoaPods changes the project only
    /// when pods are installed.
    private func podfileFolder(naming target: XcodeTarget) -> String? {
        podfileFolders.first { folder in
            let path = Paths.join(folder, "Podfile")
            guard let bytes = try? FileTree.read(path, limit: AuditLimits.settingsBytes) else {
                return false
            }
            let text = String(decoding: bytes, as: UTF8.self)
            return ["'\(target.name)'", "\"\(target.name)\""].contains(where: text.contains)
        }
    }

    /// Adds the packages whose products are linked; all local packages if no target refers to one.
    private func addPackages(
        _ products: [AppProperty], to list: inout SourceList, _ tree: FileTree
    ) {
        var seen: Set<String> = []
        func add(_ folder: String) {
            guard seen.insert(folder).inserted else { return }
            guard let package = package(folder, tree) else {
                list.add(tree.files(below: Paths.join(folder, "Sources")))
                if let module = PluginManifests.module(at: folder) {
                    list.addUnread(.package, module, uses: KnownLibraries.uses(of: module))
                } else {
                    addMissing(Paths.name(of: folder), to: &list, tree)
                }
                return
            }
            list.add(package)
            package.localPackages.forEach(add)
            for (name, uses) in package.remote { list.addUnread(.package, name, uses: uses) }
        }
        let named = products.compactMap { $0["productName"]?.string }
        guard !named.isEmpty else {
            for folder in localPackages {
                if package(folder, tree) != nil {
                    add(folder)
                } else {
                    list.add(tree.files(below: Paths.join(folder, "Sources")))
                }
            }
            return
        }
        for product in products {
            guard let name = product["productName"]?.string else { continue }
            // Xcode finds a product without a package by its name.
            let owner =
                product["package"]
                ?? products.first { $0["productName"]?.string == name && $0["package"] != nil }?[
                    "package"]
            let reference = object(owner?.string)
            if reference?["isa"]?.string == "XCRemoteSwiftPackageReference" {
                let address = reference?["repositoryURL"]?.string ?? ""
                list.addUnread(
                    .package, name, uses: KnownLibraries.uses(ofProduct: name, of: address))
                continue
            }
            let folder =
                (reference?["relativePath"]?.string).map { Paths.join(self.folder, $0) }
                ?? localPackages.first { package($0, tree)?.literals.contains(name) == true }
            if let folder { add(folder) } else { addMissing(name, to: &list, tree) }
        }
    }

    /// Records a package that is not there. Flutter makes one of the plugins that its manifest
    /// names.
    private func addMissing(_ package: String, to list: inout SourceList, _ tree: FileTree) {
        guard package == "FlutterGeneratedPluginSwiftPackage",
            let plugins = PluginManifests.plugins(ofAppAbove: folder)
        else {
            list.addUnread(.package, package)
            return
        }
        list.add(plugins, tree)
    }

    private func addSources(of target: XcodeTarget, to list: inout SourceList, _ tree: FileTree) {
        for phase in objects(target.object, "buildPhases")
        where phase["isa"]?.string == "PBXSourcesBuildPhase" {
            for file in objects(phase, "files") {
                if let path = path(ofFile: file["fileRef"]?.string) { list.add([path]) }
            }
        }
        let own = Set((target.object["fileSystemSynchronizedGroups"]?.strings ?? []).map(\.value))
        for id in synchronizedGroups {
            guard let path = path(ofFile: id), let group = object(id) else { continue }
            let folder = FileTree.place(of: path)
            let exceptions = exceptions(of: group, for: target).map { Paths.join(folder, $0) }
            if own.contains(id) {
                let left = Set(exceptions)
                list.add(tree.files(below: folder).filter { !left.contains($0) })
            } else {
                list.add(exceptions)
            }
        }
    }

    /// The exceptions for a target, relative to the folder: the files that it excludes from its own
    /// folder, or includes from another one.
    private func exceptions(of group: AppProperty, for target: XcodeTarget) -> [String] {
        objects(group, "exceptions").flatMap { exception in
            exception["target"]?.string == target.id
                ? (exception["membershipExceptions"]?.strings ?? []).map(\.value) : []
        }
    }
}
