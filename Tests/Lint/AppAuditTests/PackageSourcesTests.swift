// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AppAudit

/// The files that the targets of a local package build.
@Suite("Sources of packages")
struct PackageSourcesTests {
    @Test(
        "what a target leaves out is not read",
        arguments: [
            ("path: \".\", sources: [\"Lib\"]", ["Lib/A.swift", "Lib/Sub/B.swift"]),
            (
                "path: \".\", sources: [\"Lib/A.swift\", \"Other\"]",
                ["Lib/A.swift", "Other/C.swift"]
            ),
            ("path: \".\", exclude: [\"Other\", \"Lib/Sub\"]", ["Lib/A.swift"]),
            (
                "path: \"Lib\", exclude: [\"Sub\"], sources: [\".\"]", ["Lib/A.swift"]
            ),
            (
                "path: \".\", exclude: excluded",
                ["Lib/A.swift", "Lib/Sub/B.swift", "Other/C.swift"]
            ),
            ("path: \".\"", ["Lib/A.swift", "Lib/Sub/B.swift", "Other/C.swift"]),
        ])
    func targets(arguments: String, files: [String]) throws {
        let folder = try TestFolder()
        try folder.write(
            "let package = Package(name: \"Kit\", targets: [.target(name: \"K\", \(arguments))])",
            to: "Package.swift")
        for name in ["Lib/A.swift", "Lib/Sub/B.swift", "Other/C.swift"] {
            try folder.write("let a = 1", to: name)
        }
        let package = try #require(SwiftPackage(folder.path, tree: FileTree()))
        #expect(package.files.map { String($0.dropFirst(folder.path.count + 1)) }.sorted() == files)
    }
}
