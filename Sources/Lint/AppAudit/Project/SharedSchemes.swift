// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The shared schemes of an Xcode project: which targets they build, and in which configurations.
struct SharedSchemes {
    private struct Scheme {
        var targets: Set<String> = []
        var configurations: Set<String> = []
    }

    /// The configurations that a new project has, which stay where a team has others of its own.
    private static let usual: Set = ["Debug", "Release"]

    private let schemes: [Scheme]

    /// Reads the schemes in an `.xcodeproj`, and in the workspaces beside it.
    init(in project: String) {
        let folder = Paths.folder(of: project)
        let workspaces = Self.names(in: folder, ending: ".xcworkspace")
            .map { Paths.join(folder, $0) }
        let paths = ([project] + workspaces).flatMap { bundle in
            let schemes = bundle + "/xcshareddata/xcschemes"
            return Self.names(in: schemes, ending: ".xcscheme").map { schemes + "/" + $0 }
        }
        schemes = paths.prefix(AuditLimits.schemes).compactMap { path in
            let bytes = try? FileTree.read(path, limit: AuditLimits.settingsBytes)
            guard let text = bytes.map({ String(decoding: $0, as: UTF8.self) }) else { return nil }
            return Scheme(
                targets: Self.values(of: "BlueprintName", in: text),
                configurations: Self.values(of: "buildConfiguration", in: text))
        }
    }

    /// Whether one of a target's configurations is a usual one that no scheme builds, while schemes
    /// of the target build others, one to run and one to archive.
    func passOver(_ name: String, of all: [String], for target: String) -> Bool {
        let own = schemes.filter { $0.targets.contains(target) }
        return Self.usual.contains(name)
            && !own.contains { $0.configurations.contains(name) }
            && own.contains { $0.configurations.intersection(all).count > 1 }
    }

    private static func names(in folder: String, ending: String) -> [String] {
        let place = FileTree.place(of: folder)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
        return names.filter { $0.hasSuffix(ending) }.sorted()
    }

    /// The values of an attribute.
    private static func values(of attribute: String, in text: String) -> Set<String> {
        let values = text.split(separator: attribute).dropFirst().compactMap { rest -> String? in
            let value = rest.drop { $0 == " " || $0 == "=" }
            guard value.first == "\"" else { return nil }
            return String(value.dropFirst().prefix { $0 != "\"" })
        }
        return Set(values)
    }
}
