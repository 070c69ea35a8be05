// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The build configurations that the shared schemes of an Xcode project name.
struct SharedSchemes {
    /// The configurations that a new project has, which stay where a team has others of its own.
    private static let usual: Set = ["Debug", "Release"]

    private let configurations: Set<String>

    /// Reads the schemes in an `.xcodeproj`, and in the workspaces beside it.
    init(in project: String) {
        let folder = Paths.folder(of: project)
        let workspaces = Self.names(in: folder, ending: ".xcworkspace")
            .map { Paths.join(folder, $0) }
        let paths = ([project] + workspaces).flatMap { bundle in
            let schemes = bundle + "/xcshareddata/xcschemes"
            return Self.names(in: schemes, ending: ".xcscheme").map { schemes + "/" + $0 }
        }
        var configurations: Set<String> = []
        for path in paths {
            guard let bytes = try? FileTree.read(path, limit: AuditLimits.settingsBytes) else {
                continue
            }
            let text = String(decoding: bytes, as: UTF8.self)
            configurations.formUnion(Self.configurations(in: text))
        }
        self.configurations = configurations
    }

    /// Whether one of these configurations is a usual one that no scheme builds, while schemes
    /// build others: what it lacks is in no app that anybody gets.
    func passOver(_ name: String, of all: [String]) -> Bool {
        Self.usual.contains(name) && !configurations.contains(name)
            && !configurations.isDisjoint(with: all)
    }

    private static func names(in folder: String, ending: String) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: FileTree.place(of: folder))
        return (names ?? []).sorted().filter { $0.hasSuffix(ending) }
    }

    /// The values of the attribute `buildConfiguration` of a scheme's actions.
    private static func configurations(in text: String) -> [String] {
        text.split(separator: "buildConfiguration").dropFirst().compactMap { rest in
            let value = rest.drop { $0 == " " || $0 == "=" }
            guard value.first == "\"" else { return nil }
            return String(value.dropFirst().prefix { $0 != "\"" })
        }
    }
}
