// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadRules
import Testing

@testable import AppAudit

@Suite("Reads of source files")
struct SourceIndexTests {
    /// Files of which rules ask one another: a handler whose function is in another file, a
    /// constant, a function that another file calls, and an app delegate.
    private static let files: [String: String] = [
        "App.swift": """
        @main class AppDelegate: UIResponder, UIApplicationDelegate {
            func application(_ a: UIApplication, didReceiveRemoteNotification u: [AnyHashable: Any],
                fetchCompletionHandler done: @escaping (R) -> Void) {
                Sync.shared.run(done)
            }
            func setUp() { UIApplication.shared.registerForRemoteNotifications() }
        }
        """,
        "Kit.swift": """
        class KitAppDelegate: UIResponder {
            func ask() { UIApplication.shared.registerForRemoteNotifications() }
        }
        """,
        "Names.swift": "enum Names {\n    static let refresh = \"com.example.refresh\"\n}\n",
        "Start.swift": "func start(_ app: AppDelegate) { app.setUp() }\n",
        "Sync.swift": """
        class Sync {
            static let shared = Sync()
            func run(_ done: @escaping (R) -> Void) { if isNew { done(.newData) } }
        }
        """,
        "Tasks.swift": """
        func schedule() {
            BGTaskScheduler.shared.register(forTaskWithIdentifier: Names.refresh, using: nil) { _ in
            }
        }
        """,
        "View.swift": "struct Content: View { var body: some View { Text(title) } }\n",
    ]

    private static func project(targets: Int) -> String {
        let names = files.keys.sorted()
        var objects =
            names.map {
                "\($0.prefix(4))F = { isa = PBXFileReference; path = \($0); "
                    + "sourceTree = \"<group>\"; };"
            } + [
                "P = { isa = PBXProject; buildConfigurationList = L; mainGroup = G; targets = ( "
                    + (0..<targets).map { "T\($0), " }.joined() + "); };",
                "G = { isa = PBXGroup; sourceTree = \"<group>\"; children = ( "
                    + names.map { "\($0.prefix(4))F, " }.joined() + "); };",
                "L = { isa = XCConfigurationList; buildConfigurations = ( C, ); };",
                "C = { isa = XCBuildConfiguration; name = Debug; buildSettings = { SDKROOT = "
                    + "iphoneos; }; };",
            ]
        objects += names.map {
            "\($0.prefix(4))B = { isa = PBXBuildFile; fileRef = \($0.prefix(4))F; };"
        }
        for target in 0..<targets {
            objects += [
                "T\(target) = { isa = PBXNativeTarget; name = App\(target); "
                    + "buildConfigurationList = L; buildPhases = ( S\(target), ); "
                    + "productType = \"com.apple.product-type.application\"; };",
                "S\(target) = { isa = PBXSourcesBuildPhase; files = ( "
                    + names.map { "\($0.prefix(4))B, " }.joined() + "); };",
            ]
        }
        return "{ rootObject = P; objects = {\n\(objects.joined(separator: "\n"))\n}; }\n"
    }

    @Test("a file is read once, whatever the number of targets and rules", arguments: [1, 18])
    func onePass(targets: Int) throws {
        let folder = try TestFolder()
        for (name, text) in Self.files { try folder.write(text, to: name) }
        // No target has it, but one of them names its type.
        try folder.write("class Content { let mode = CXProvider() }\n", to: "More/Content.swift")
        let path = try folder.write(
            Self.project(targets: targets), to: "App.xcodeproj/project.pbxproj")
        let library = FileLibrary()
        let reader = try #require(ProjectReader(path, library))
        let facts = reader.facts(targets: [], configurations: [])
        let seen = facts.flatMap(\.bundles).compactMap(\.sources)
        #expect(seen.count == targets)
        for sources in seen {
            let subjects = sources.observations.map(\.subject)
            #expect(subjects.contains(.registeredTask("com.example.refresh", .elsewhere)))
            #expect(subjects.contains(.pathWithoutCompletion))
        }
        #expect(library.tree.index.readCount == Self.files.count + 1)
    }

    @Test("text that is not kept is read again only for a word that it has, and once")
    func laterQuestions() throws {
        let folder = try TestFolder()
        let path = try folder.write("func start() { refresh() }\n", to: "A.swift")
        let index = SourceIndex(keptBytes: 0)
        #expect(try !index.mayMatter(path))
        for _ in 0..<3 {
            let absent = index.words(["completely", "different"])
            #expect(index.words(absent, .named, in: path) == [])
        }
        #expect(index.readCount == 1)
        for _ in 0..<3 {
            let both = index.words(["start", "refresh", "different"])
            #expect(index.words(both, .named, in: path) == ["start", "refresh"])
        }
        #expect(index.readCount == 2)
        for _ in 0..<3 {
            #expect(index.words(index.words(["start"]), .mentioned, in: path) == [])
            #expect(index.words(index.words(["refresh"]), .mentioned, in: path) == ["refresh"])
        }
        #expect(index.readCount == 4)
        #expect(index.words([], .named, in: folder.path + "/B.swift") == nil)
    }

    @Test("a sketch has each word of a text, and few others")
    func sketch() {
        let words = (0..<200).map { "word\($0)" }
        let text = Array(words.joined(separator: " a.b(c) ; ").utf8)
        let sketch = WordFilter(["word7"]).look(at: text).sketch
        func has(_ word: String) -> Bool {
            sketch.mayContain(word.utf8.reduce(WordSketch.start, WordSketch.hash))
        }
        #expect(words.allSatisfy(has))
        #expect((0..<10_000).count { has("other\($0)") } < 300)
    }

    @Test(
        "texts that may declare a constant",
        arguments: [
            "static let name = 1", "let other = 2, name: Int = 3", "case `name` = 1",
            "var name: String { \"a\" }", "NSString *const name = @\"a\";",
            "let /* a */ name /* b */ = 1", "let\n  name\n  = 1",
        ])
    func constants(text: String) {
        #expect(WordFilter(["name"]).constants(in: Array(text.utf8)) == ["name"])
    }

    @Test("texts that declare none", arguments: ["f(name: a)", "a.name = 1", "let named = name"])
    func others(text: String) {
        #expect(WordFilter(["name"]).constants(in: Array(text.utf8)) == [])
    }

    @Test("a function that gets the push is followed once, however many calls it has")
    func manyCalls() {
        let calls = String(repeating: "    handle(payload)\n", count: 1000)
        let source =
            "class Calls: NSObject, PKPushRegistryDelegate {\n"
            + "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith "
            + "payload: PKPushPayload, for type: PKPushType) {\n\(calls)}\n"
            + "func handle(_ push: PKPushPayload) {\nif push.isNew {\n"
            + "provider.reportNewIncomingCall(with: id, update: update)\n}\n}\n}\n"
        var reader = SourceReader(SourceText(Array(source.utf8), path: "Calls.swift"))
        for scope in reader.text.scopes {
            guard case .function(let head) = scope.kind, head.name == "pushRegistry" else {
                continue
            }
            reader.readVoIPHandler(head, scope)
        }
        #expect(reader.notes.reportGaps.count == 1)
        #expect(
            reader.digest.entries.map(\.observation.subject)
                .contains(.fault(.voipPathWithoutReport)))
    }
}
