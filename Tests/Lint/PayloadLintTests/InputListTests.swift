// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PayloadLint

@Suite("Inputs")
struct InputListTests {
    private static func folder() throws -> TestFolder {
        let folder = try TestFolder()
        for name in [
            "b.json", "a.json", "n.txt", ".hidden.json", "sub/x.apns", "sub/y.YAML", "sub/z.yml",
            "sub/deep/l.jsonl", "sub/deep/m.ndjson", "node_modules/p.json", ".git/c.json",
        ] {
            try folder.write("{}", to: name)
        }
        return folder
    }

    private static func names(_ list: InputList, in folder: TestFolder) -> [String] {
        list.files.map { String($0.path.dropFirst(folder.path.count + 1)) }
    }

    @Test("a folder stands for the files in it, in the order of their names")
    func walk() throws {
        let folder = try Self.folder()
        let list = InputList([folder.path])
        #expect(
            Self.names(list, in: folder) == [
                "a.json", "b.json", "sub/deep/l.jsonl", "sub/deep/m.ndjson", "sub/x.apns",
                "sub/y.YAML", "sub/z.yml",
            ])
        #expect(list.problems.isEmpty)
        #expect(list.files.allSatisfy { !$0.isNamed })
    }

    @Test("what lies too deep for a path is not passed over in silence")
    func tooDeep() throws {
        let folder = try TestFolder()
        let name = String(repeating: "n", count: 200)
        var inner = open(folder.path, O_RDONLY | O_DIRECTORY)
        for _ in 0..<24 {
            #expect(mkdirat(inner, name, 0o700) == 0)
            let next = openat(inner, name, O_RDONLY | O_DIRECTORY)
            close(inner)
            inner = next
        }
        close(inner)
        let problems = InputList([folder.path]).problems
        #expect(problems.map(\.kind) == [.missing])
        #expect(problems.first?.message.contains("its path has 4") == true)
    }

    #if os(Linux)
    @Test("a file whose name is not UTF-8 is not passed over in silence")
    func foreignName() throws {
        let folder = try TestFolder()
        for end in ["json", "jpeg"] {
            let path = Array((folder.path + "/x").utf8) + [0xff, 0x2e] + Array(end.utf8) + [0]
            fclose(fopen(path.map(CChar.init(bitPattern:)), "w"))
        }
        for argument in [folder.path, folder.path + "/*.json", folder.path + "/x\u{fffd}.json"] {
            let problems = InputList([argument]).problems
            #expect(problems.map(\.kind) == [.missing], "\(argument)")
            #expect(problems.first?.message.contains("its name is not UTF-8") == true)
        }
    }
    #endif

    @Test(
        "a pattern stands for what it matches",
        arguments: [
            ("*.json", ["a.json", "b.json"]), ("**/*.{apns,yml}", ["sub/x.apns", "sub/z.yml"]),
            (
                "sub/**",
                ["sub/deep/l.jsonl", "sub/deep/m.ndjson", "sub/x.apns", "sub/y.YAML", "sub/z.yml"]
            ),
            ("s?b/*/l.*", ["sub/deep/l.jsonl"]),
            ("**/deep", ["sub/deep/l.jsonl", "sub/deep/m.ndjson"]),
            ("*.txt", ["n.txt"]), (".*.json", [".hidden.json"]),
            ("**/[lm].*", ["sub/deep/l.jsonl", "sub/deep/m.ndjson"]),
        ])
    func patterns(pattern: String, names: [String]) throws {
        let folder = try Self.folder()
        let list = InputList([folder.path + "/" + pattern])
        #expect(Self.names(list, in: folder) == names)
        #expect(list.problems.isEmpty)
    }

    @Test("a file is taken once, whatever it is called, and a named one whatever its ending")
    func once() throws {
        let folder = try Self.folder()
        let list = InputList([
            folder.path + "/n.txt", folder.path + "//a.json", folder.path,
            folder.path + "/.hidden.json",
        ])
        #expect(Self.names(list, in: folder).prefix(3) == ["n.txt", "a.json", "b.json"])
        #expect(Self.names(list, in: folder).last == ".hidden.json")
        #expect(Set(list.files.map(\.path)).count == list.files.count)
        #expect(list.files.prefix(2).map(\.isNamed) == [true, true])
    }

    @Test("a name with brackets is a name where such a file exists")
    func literal() throws {
        let folder = try TestFolder()
        try folder.write("{}", to: "[1].json")
        #expect(InputList([folder.path + "/[1].json"]).files.map(\.isNamed) == [true])
    }

    @Test("what is not there is a problem, and the rest is taken")
    func missing() throws {
        let folder = try Self.folder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/empty", withIntermediateDirectories: true)
        let list = InputList([
            folder.path + "/none.json", folder.path + "/a.json", folder.path + "/*.nothing",
            folder.path + "/empty",
        ])
        #expect(list.files.count == 1)
        #expect(list.problems.map(\.kind) == [.missing, .missing, .missing])
        #expect(list.problems[0].message.contains("does not exist"))
        #expect(list.problems[1].message.contains("matches no file"))
        #expect(list.problems[2].message.contains("holds no file to check"))
    }

    @Test("links to folders are not followed, so that a walk ends; links to files are")
    func links() throws {
        let folder = try Self.folder()
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: folder.path + "/sub/up", withDestinationPath: "..")
        try manager.createSymbolicLink(
            atPath: folder.path + "/c.json", withDestinationPath: "a.json")
        let names = Self.names(InputList([folder.path, folder.path + "/**/*.json"]), in: folder)
        #expect(names.contains("c.json"))
        #expect(!names.contains { $0.hasPrefix("sub/up") })
    }

    @Test("no link leads a run out of the folder that was named, but a link that was named is one")
    func linksOut() throws {
        let outside = try TestFolder()
        try outside.write("{}", to: "secret.json")
        try outside.write("{}", to: "sub/more.json")
        let folder = try TestFolder()
        try folder.write("{}", to: "in/a.json")
        let manager = FileManager.default
        for (name, target) in [
            ("in/secret.json", outside.path + "/secret.json"), ("in/sub", outside.path + "/sub"),
            ("in/up.json", "../b.json"), ("in/inside.json", "a.json"),
            ("in/gone.json", "nothing.json"),
        ] {
            try manager.createSymbolicLink(
                atPath: folder.path + "/" + name, withDestinationPath: target)
        }
        try folder.write("{}", to: "b.json")
        let inside = ["in/a.json", "in/inside.json"]
        for argument in ["/in", "/in/*.json", "/in/**", "/in/*/*.json", "/in/**/*.json"] {
            let names = Self.names(InputList([folder.path + argument]), in: folder)
            #expect(names == (argument == "/in/*/*.json" ? [] : inside), "\(argument)")
        }
        // A pattern that begins further up may reach further.
        #expect(
            Self.names(InputList([folder.path + "/*/up.json"]), in: folder) == ["in/up.json"])
        let named = folder.path + "/in/secret.json"
        #expect(InputList([named]).files.map(\.path) == [named])
    }

    @Test(
        "paths are tidied",
        arguments: [("./a", "a"), ("a//b", "a/b"), ("././a", "a"), ("-", "-"), ("./", "./")])
    func tidy(path: String, tidied: String) { #expect(InputList.tidy(path) == tidied) }
}
