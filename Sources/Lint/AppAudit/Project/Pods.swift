// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The pods that a project is built with, by its Podfile and Podfile.lock.
struct Pods {
    /// The names of all pods, without those of subspecs.
    private(set) var names: Set<String> = []
    /// What they may do, by the same names.
    private(set) var uses: [String: ModuleUses] = [:]

    /// The plugins of Flutter or React Native, by their names in its manifest; `nil` where a lock
    /// file lists their pods, and for other apps.
    private(set) var plugins: [String: PluginManifests.Package]?
    /// The folders of the pods that are taken from one which is there.
    private(set) var folders: [String: String] = [:]
    /// The plugins that the manifest takes from folders.
    private var localPlugins: [String: PluginManifests.Package] = [:]
    private let folder: String

    /// Reads the files in a folder. Returns `nil` if there are none, if the lock file has lines of
    /// another form, or if there is none and the Podfile has other lines than such that name pods
    /// one by one, unless it adds the plugins of a manifest that can be read, and hides no pod.
    init?(besideProjectIn folder: String) {
        self.folder = folder
        let podfile = Self.lines(Paths.join(folder, "Podfile"))
        if let lock = Self.lines(Paths.join(folder, "Podfile.lock")) {
            localPlugins = PluginManifests.localPlugins(ofAppAbove: folder)
            guard addLocked(in: lock) else { return nil }
            // The lock file knows better where a pod that it has comes from.
            let locked = uses
            _ = addNamed(in: Self.statements(podfile ?? []))
            uses.merge(locked) { $1 }
            return
        }
        var hidesPods = false
        if let podfile, addNamed(in: Self.statements(podfile), &hidesPods) { return }
        // Flutter needs no Podfile where it builds all of its plugins as packages.
        let manifests = podfile == nil ? ["pubspec.yaml"] : PluginManifests.ofPlugins
        guard !hidesPods, podfile?.contains(where: Self.addsPlugins) ?? true,
            let plugins = PluginManifests.plugins(ofAppAbove: folder, in: manifests)
        else { return nil }
        self.plugins = plugins
    }

    /// Whether a line of a Podfile calls what adds a pod for each plugin in a manifest.
    private static func addsPlugins(_ line: Substring) -> Bool {
        let code = line.prefix { $0 != "#" }
        return ["flutter_install_all_ios_pods", "use_native_modules!", "use_expo_modules!"]
            .contains(where: code.contains)
    }

    private static func lines(_ path: String) -> [Substring]? {
        guard let bytes = try? FileTree.read(path, limit: AuditLimits.settingsBytes) else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    }

    /// Adds a pod. Its source is where it is taken from, if not by its name alone.
    private mutating func add(_ name: Substring, source: Source?) {
        let pod = String(name.prefix { $0 != "/" })
        names.insert(pod)
        let uses =
            switch source {
            case nil: KnownLibraries.uses(of: String(name))
            case .git(let address): KnownLibraries.uses(of: String(name), from: address)
            // There Flutter puts its engine and its plugins, and React Native its modules and what
            // it makes of them.
            case .path(let path) where isLocal(path): uses(ofPlugin: pod)
            case .path(let path)
            where ["Flutter", "build/generated/ios"].contains(where: path.hasPrefix)
                || [".symlinks/plugins/", "node_modules/"].contains(where: path.contains):
                KnownLibraries.uses(of: pod)
            case .path(let path): uses(ofPod: pod, at: path)
            case .other: ModuleUses.all
            }
        self.uses[pod, default: []].formUnion(uses)
    }

    /// What a pod may do that is taken from a path: its files are those of a folder that is there.
    /// One around the project is a library with its example, which shows all that it can do.
    private mutating func uses(ofPod pod: String, at path: String) -> ModuleUses {
        let place = Paths.join(folder, path)
        let own = path.hasSuffix(".podspec") ? Paths.folder(of: place) : place
        if !Self.isAround(folder, path, at: own), FileTree.kind(of: own) == .folder {
            folders[pod] = own
        }
        return .all
    }

    /// Whether what is taken from a path is around a folder, or may be anywhere. A path such as
    /// `../` tells so by itself, wherever the audit runs.
    static func isAround(_ folder: String, _ path: String, at place: String) -> Bool {
        path.hasPrefix("/") || Paths.contains(place, folder)
            || Paths.normalised(path).split(separator: "/").allSatisfy { $0 == ".." || $0 == "." }
    }

    /// What a plugin of the tree may do. Flutter gives its pod the plugin's name.
    private mutating func uses(ofPlugin name: String) -> ModuleUses {
        folders[name] = localPlugins[name]?.native
        return .all
    }

    /// A pod that is built of the source files in its folder alone.
    struct Local {
        /// The files in the folders of its `source_files`, without those of tests and examples.
        let files: [String]
        /// The names of the pods that it depends on.
        let dependencies: [String]
        /// The addresses of the Swift packages that it depends on.
        let packages: [String]

        /// What a podspec has of a pod that brings along other code.
        private static let others = ["vendored_", "prepare_command", "script_phase"]

        /// Reads one; `nil` if it has other code, or no podspec that tells.
        init?(in folder: String, _ tree: FileTree) {
            let all = tree.files(below: folder)
            let specifications = all.filter {
                $0.hasSuffix(".podspec") && Paths.folder(of: $0) == folder
            }
            guard specifications.count == 1, let file = specifications.first,
                let bytes = try? FileTree.read(file, limit: AuditLimits.settingsBytes),
                !all.contains(where: { $0.hasSuffix(".kt") })
            else { return nil }
            let text = String(decoding: bytes, as: UTF8.self)
            guard !Self.others.contains(where: text.contains), !Self.goesOn(text) else {
                return nil
            }
            var packages: [String] = []
            for manifest in all where manifest.hasSuffix("/Package.swift") {
                guard let named = Self.packages(of: manifest) else { return nil }
                packages += named
            }
            let roots = Self.literals(behind: "source_files", in: text).map { pattern in
                let fixed = pattern.prefix { !"*{[?".contains($0) }
                let isFolder = fixed.count == pattern.count || fixed.last == "/"
                return Paths.join(
                    folder, isFolder ? String(fixed) : Paths.folder(of: String(fixed)))
            }
            // Files elsewhere are not among those below the folder.
            guard roots.allSatisfy({ Paths.contains(folder, $0) }) else { return nil }
            files = all.filter { file in
                let relative =
                    file.hasPrefix(folder + "/") ? file.dropFirst(folder.count) : file[...]
                return [".swift", ".m", ".mm"].contains(where: file.hasSuffix)
                    && roots.contains { Paths.contains($0, file) }
                    && !relative.split(separator: "/").dropLast().contains(where: Self.isOfOthers)
            }
            guard !files.isEmpty else { return nil }
            dependencies =
                Self.literals(behind: "dependency", in: text, most: 1)
                .map { String($0.prefix { $0 != "/" }) }
            self.packages = packages
        }

        /// Whether the list of source files, or of pods, goes on in another line, or leaves some
        /// out.
        private static func goesOn(_ text: String) -> Bool {
            text.split(whereSeparator: \.isNewline).contains { line in
                let code = line.prefix { $0 != "#" }
                if code.contains("exclude_files") { return true }
                return ["source_files", "dependency"].contains(where: code.contains)
                    && [",", "[", "("].contains(code.last { !$0.isWhitespace })
            }
        }

        /// The addresses of the packages that a manifest of Swift names, but for the one that
        /// Flutter makes of its engine; `nil` if it brings along binaries, or a package of the
        /// tree.
        private static func packages(of manifest: String) -> [String]? {
            guard let bytes = try? FileTree.read(manifest, limit: AuditLimits.settingsBytes) else {
                return nil
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard !text.contains("binaryTarget") else { return nil }
            var addresses: [String] = []
            for part in text.split(separator: ".package(").dropFirst() {
                let arguments = part.prefix { $0 != ")" }
                guard !arguments.contains("FlutterFramework") else { continue }
                guard
                    let address = arguments.split(separator: "\"").first(where: {
                        $0.contains("://")
                    })
                else { return nil }
                addresses.append(String(address))
            }
            return addresses
        }

        /// Whether a folder has tests or examples, by its name: `Tests`, `example`, `iOS Demo`.
        private static func isOfOthers(_ folder: Substring) -> Bool {
            let kinds = ["Test", "Tests", "Example", "Examples", "Demo", "Sample", "Samples"]
            return kinds.contains { folder.hasSuffix($0) || folder.lowercased() == $0.lowercased() }
        }

        /// The literals in the lines of a podspec that have a word outside of comments.
        private static func literals(
            behind word: String, in text: String, most: Int = .max
        ) -> [String] {
            text.split(whereSeparator: \.isNewline).flatMap { line -> [String] in
                let code = line.prefix { $0 != "#" }
                let parts = code.split(
                    omittingEmptySubsequences: false, whereSeparator: { $0 == "'" || $0 == "\"" })
                guard parts.count > 2, parts[0].contains(word) else { return [] }
                return zip(parts.indices, parts).filter { !$0.0.isMultiple(of: 2) }.prefix(most)
                    .map { String($0.1) }
            }
        }
    }

    /// Whether a path is that of a plugin which the manifest takes from a folder: Flutter and npm
    /// link to it. `@scope/name` is two parts of a path.
    private func isLocal(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        return zip(parts, parts.dropFirst() + [""]).contains { part, next in
            localPlugins[String(part)] != nil || localPlugins["\(part)/\(next)"] != nil
        }
    }

    /// The place that a pod is taken from.
    private enum Source {
        case git(String)
        case path(String)
        case other
    }

    // MARK: Podfile.lock

    /// Adds the pods of a lock file. Returns whether all sections were understood; what a merge
    /// leaves behind is none.
    private mutating func addLocked(in lines: [Substring]) -> Bool {
        var section = Substring()
        var pods: [Substring] = []
        var sources: [Substring: Source] = [:]
        var owner = Substring()
        var isPublic = true
        for line in lines {
            let text = line.drop { $0 == " " }
            let indent = line.count - text.count
            switch (section, indent) {
            case (_, 0):
                guard text.first?.isUppercase == true else { return false }
                section = text
            case ("PODS:", 2) where text.hasPrefix("- "):
                pods.append(text.dropFirst(2).trimmed.prefix { $0 != " " && $0 != ":" })
            case ("SPEC REPOS:", 2): isPublic = Self.isPublic(text)
            case ("SPEC REPOS:", 4) where text.hasPrefix("- ") && !isPublic:
                sources[text.dropFirst(2).trimmed] = .other
            case ("EXTERNAL SOURCES:", 2):
                owner = text.trimmed.prefix { !":/\"".contains($0) }
            case ("EXTERNAL SOURCES:", 4):
                let value = text.dropFirst().drop { $0 != " " }.trimmed
                if text.hasPrefix(":git:") {
                    sources[owner] = .git(String(value))
                } else if text.hasPrefix(":path:")
                    // React Native has the descriptions of its libraries in its own folder.
                    || text.hasPrefix(":podspec:") && value.contains("node_modules/")
                {
                    sources[owner] = .path(String(value))
                } else if sources[owner] == nil {
                    sources[owner] = .other
                }
            default: continue
            }
        }
        for pod in pods { add(pod, source: sources[pod.prefix { $0 != "/" }]) }
        return true
    }

    // MARK: Podfile

    /// Whether a line names the public list of pods.
    private static func isPublic(_ line: Substring) -> Bool {
        line == "trunk:"
            || ["cdn.cocoapods.org", "github.com/CocoaPods/Specs", "github.com/cocoapods/specs"]
                .contains(where: line.contains)
    }

    /// The lines without comments and empty ones; those that end with a comma go on.
    private static func statements(_ lines: [Substring]) -> [Substring] {
        var statements: [Substring] = []
        var isOpen = false
        for line in lines {
            let code = line.prefix { $0 != "#" }
            let text = code.drop(while: \.isWhitespace)
            guard !text.isEmpty else { continue }
            if isOpen, let last = statements.popLast() {
                statements.append(last + " " + text)
            } else {
                statements.append(code)
            }
            isOpen = text.last { !$0.isWhitespace } == ","
        }
        return statements
    }

    /// The words at the start of lines that add no pods.
    private static let idle: Set<Substring> = [
        "platform", "use_frameworks!", "use_modular_headers!", "inhibit_all_warnings!", "target",
        "abstract_target", "end", "source", "project", "xcodeproj", "workspace", "inherit!",
        "install!", "supports_swift_versions", "link_with", "def",
    ]

    /// Adds the pods that a Podfile names. Returns whether all of its lines were understood.
    private mutating func addNamed(in statements: [Substring]) -> Bool {
        var hidesPods = false
        return addNamed(in: statements, &hidesPods)
    }

    /// The same, and whether a line that was not understood may name pods, or take them from a list
    /// that is not public.
    private mutating func addNamed(in statements: [Substring], _ hidesPods: inout Bool) -> Bool {
        var isReadable = true
        var functions: Set<Substring> = []
        /// The indentation of a block of code that runs after the pods are chosen.
        var hook: Int?
        for statement in statements {
            let text = statement.drop(while: \.isWhitespace)
            let indent = statement.count - text.count
            let word = text.prefix { !$0.isWhitespace && $0 != "(" }
            if let start = hook {
                if word == "end", indent <= start { hook = nil }
                if word == "pod" { hidesPods = true }
                continue
            }
            switch word {
            // A second statement may name another pod.
            case _ where text.contains(";"): hidesPods = true
            case "source" where !Self.isPublic(text): hidesPods = true
            // The functions of React Native, Capacitor and Flutter, or a library of Ruby, and no
            // file of the app.
            case "require" where !text.contains("/") && !text.contains(".rb"): continue
            case "require", "require_relative":
                if !["node", "podhelper"].contains(where: text.contains) { hidesPods = true }
            case "podspec", "load", "eval", "eval_gemfile", "instance_eval": hidesPods = true
            case "pod":
                if let pod = Self.pod(text) {
                    add(pod.name, source: pod.source)
                } else {
                    hidesPods = true
                }
            case _ where Self.words(of: text).contains("pod"): hidesPods = true
            case "post_install", "pre_install", "post_integrate": hook = indent
            case "def": functions.insert(text.dropFirst(4).prefix { $0.isLetter || $0 == "_" })
            default:
                let isKnown = Self.idle.contains(word) || functions.contains(word)
                if !isKnown, !Self.setsConstant(text) { isReadable = false }
            }
        }
        return isReadable && !hidesPods
    }

    /// The words of a line outside of its literals.
    private static func words(of line: Substring) -> [Substring] {
        let parts = line.split(omittingEmptySubsequences: false) { $0 == "'" || $0 == "\"" }
        return zip(parts.indices, parts).filter { $0.0.isMultiple(of: 2) }
            .flatMap { $0.1.split { !$0.isLetter && $0 != "_" } }
    }

    /// Whether a line gives a name to a value: `IOS_VERSION = '15.0'`.
    private static func setsConstant(_ line: Substring) -> Bool {
        let name = line.prefix { $0.isUppercase || $0.isNumber || $0 == "_" }
        return !name.isEmpty
            && line.dropFirst(name.count).drop(while: \.isWhitespace).hasPrefix("= ")
    }

    /// The pod that a line names, and its source; `nil` if it names it by more than a literal.
    private static func pod(_ line: Substring) -> (name: Substring, source: Source?)? {
        let parts = line.split(omittingEmptySubsequences: false) { $0 == "'" || $0 == "\"" }
        guard parts.count >= 3, ["pod", "pod("].contains(parts[0].filter { $0 != " " }) else {
            return nil
        }
        let options = parts.dropFirst(2)
        for (option, value) in zip(options, options.dropFirst()) {
            if option.contains("git") { return (parts[1], .git(String(value))) }
            if option.contains("path") { return (parts[1], .path(String(value))) }
        }
        let isFromElsewhere =
            options.contains { option in
                ["path", "podspec", "git", "http"].contains(where: option.contains)
            }
            // A name of Ruby, `OPTIONS`, or a call may be any source.
            || zip(options.indices, options).contains { index, option in
                index.isMultiple(of: 2)
                    && option.split { " ,[]{}".contains($0) }.contains { word in
                        word.first?.isLetter == true && word.last != ":"
                            && !["true", "false", "nil", "if", "unless"].contains(word)
                            || word.hasPrefix("*")
                    }
            }
        return (parts[1], isFromElsewhere ? .other : nil)
    }
}

extension Substring {
    /// The text without spaces and quotation marks around it.
    fileprivate var trimmed: Substring {
        func isOutside(_ character: Character) -> Bool { " \"'".contains(character) }
        let start = drop(while: isOutside)
        guard let last = start.lastIndex(where: { !isOutside($0) }) else { return start }
        return start[...last]
    }
}
