// SPDX-License-Identifier: Apache-2.0

import Testing

/// The list of packages and the scripts that use it.
@Suite("Deploy")
struct DeployTests {
    @Test("the list of packages is well-formed and names each package once")
    func dependencies() throws {
        let lines = try SourceTree.checkout.text(of: "Deploy/dependencies.txt")
            .split(separator: "\n").filter { !$0.hasPrefix("#") }
        var packages: Set<Substring> = []
        for line in lines {
            let words = line.split(separator: " ")
            try #require(words.count >= 3, "\(line): group, package and reason are needed")
            #expect(["build", "test", "interop"].contains(words[0]), "\(line)")
            #expect(packages.insert(words[1]).inserted, "\(words[1]) stands there twice")
        }
        #expect(!packages.isEmpty)
    }

    @Test("every system library of the manifest comes from the list")
    func manifest() throws {
        let manifest = try SourceTree.checkout.text(of: "Package.swift")
        let list = try SourceTree.checkout.text(of: "Deploy/dependencies.txt")
        let providers = manifest.matches(of: #/apt: "([^"]+)"/#).map { String($0.1) }
        #expect(!providers.isEmpty)
        for package in providers { #expect(list.contains(" \(package) "), "\(package)") }
    }

    @Test("the service writes no core file, which would hold keys and device tokens")
    func cores() throws {
        let unit = try SourceTree.checkout.text(of: "Deploy/debian/rouse.service")
        #expect(unit.split(separator: "\n").contains("LimitCORE=0"))
    }

    @Test(
        "no script installs anything by itself",
        arguments: ["Deploy/run.sh", "Deploy/test.sh", ".ci/run"])
    func scripts(path: String) throws {
        let script = try SourceTree.checkout.text(of: path)
        #expect(!script.contains("apt-get"))
        #expect(script.hasPrefix("#!/usr/bin/env bash\n"))
    }
}
