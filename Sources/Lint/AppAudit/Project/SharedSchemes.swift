// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The build configurations that the shared schemes of an Xcode project name.
struct SharedSchemes {
    /// The configurations that a new project has, which stay where a team has others of its own.
    private static let usual: Set = ["Debug", "Release"]

    private let configurations: Set<String>

    /// Reads the schemes in an `.xcodeproj`.
    init(in project: String) {
        let folder = project + "/xcshareddata/xcschemes"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var configurations: Set<String> = []
        for name in names.sorted() where name.hasSuffix(".xcscheme") {
            let path = folder + "/" + name
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

    /// The values of the attribute `buildConfiguration` of a scheme's actions.
    private static func configurations(in text: String) -> [String] {
        text.split(separator: "buildConfiguration").dropFirst().compactMap { rest in
            let value = rest.drop { $0 == " " || $0 == "=" }
            guard value.first == "\"" else { return nil }
            return String(value.dropFirst().prefix { $0 != "\"" })
        }
    }
}
