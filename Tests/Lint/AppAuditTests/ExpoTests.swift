// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Apps of Expo whose project is made at each build.
@Suite("Apps of Expo")
struct ExpoTests {
    private static let package = """
        { "dependencies": { "expo": "52", "react-native": "0.76", "expo-av": "15" } }
        """

    private static func report(
        _ files: [String: String], package: String = package, sends: Set<ServerPush> = []
    ) throws -> AuditReport {
        let folder = try TestFolder()
        try folder.write(package, to: "package.json")
        for (name, text) in files { try folder.write(text, to: name) }
        return try Audit(paths: [folder.path], sends: sends).report()
    }

    /// The findings as rule, line and column.
    private static func found(
        _ files: [String: String], package: String = package, sends: Set<ServerPush> = []
    ) throws -> [String] {
        try report(files, package: package, sends: sends).findings.map {
            "\($0.diagnostic.rule) \($0.diagnostic.line):\($0.diagnostic.column)"
        }
    }

    private static func json(_ modes: String, plugins: String = "[]") -> String {
        """
        {
          "expo": {
            "name": "Notes",
            "plugins": \(plugins),
            "ios": {
              "bundleIdentifier": "com.example.notes",
              "infoPlist": {
                "UIBackgroundModes": \(modes)
              }
            }
          }
        }
        """
    }

    @Test("a mode in app.json that no package uses is found at its place")
    func json() throws {
        #expect(try Self.found(["app.json": Self.json("[\"audio\", \"fetch\"]")]) == ["CF019 8:40"])
        #expect(
            try Self.found(["app.json": Self.json("[\"remote-notifications\"]")])
                == ["CF030 8:31"])
        #expect(try Self.found(["app.json": Self.json("[\"audio\"]")]) == [])
        let report = try Self.report(["app.json": Self.json("[\"fetch\"]")])
        #expect(report.findings.first?.target == "Notes")
        #expect(report.problems.isEmpty)
    }

    @Test(
        "a package that may have background tasks uses the mode",
        arguments: ["expo-background-fetch", "expo-background-task", "react-native-workmanager"])
    func packages(name: String) throws {
        let package = """
            { "dependencies": { "expo": "52", "react-native": "0.76", "\(name)": "1" } }
            """
        #expect(try Self.found(["app.json": Self.json("[\"fetch\"]")], package: package) == [])
    }

    @Test(
        "the values of a script are read where they are literals",
        arguments: [
            (
                """
                import { ExpoConfig } from "expo/config";
                // const ios = { "not": "this" }
                const config: ExpoConfig = {
                  name: `Notes`,
                  version: process.env.VERSION ?? "1.0",
                  ios: {
                    bundleIdentifier: 'com.example.notes',
                    infoPlist: { UIBackgroundModes: ["audio", 'fetch'] as const, },
                  },
                };
                export default config;
                """, ["CF019 8:47"]
            ),
            (
                """
                module.exports = ({ config }) => ({
                  ...config,
                  "ios": { ...config.ios, bundleIdentifier: id(), infoPlist: {
                    NSCameraUsageDescription: t(`Take ${n({ a: 1 })} pictures, or {`),
                    "UIBackgroundModes": ["fetch"] /* why? */ } },
                });
                """, ["CF019 5:27"]
            ),
            (
                """
                export default () => {
                  const isBeta = process.env.BETA === "1";
                  return {
                    expo: { slug: "notes", ios: { infoPlist: { UIBackgroundModes: ["fetch"] } } },
                  };
                };
                """, ["CF019 4:68"]
            ),
            // What the list has otherwise may be any mode, and a second object another app.
            ("export default { ios: { infoPlist: { UIBackgroundModes: [...m, 'fetch'] } } };", []),
            (
                "export default { ios: { infoPlist: { UIBackgroundModes: b ? ['fetch'] : [] } } };",
                []
            ),
            (
                "export default { ios: { infoPlist: { ...base, UIBackgroundModes: ['fetch'] } } };",
                []
            ),
            ("f(b ? { ios: { infoPlist: { UIBackgroundModes: ['fetch'] } } } : { ios: {} });", []),
        ])
    func scripts(text: String, expected: [String]) throws {
        for name in ["app.config.js", "app.config.ts"] {
            #expect(try Self.found([name: text]) == expected, "\(text)")
        }
    }

    @Test("a script gets what app.json has, and need not use it")
    func both() throws {
        let json = Self.json("[\"fetch\"]")
        func found(_ script: String) throws -> [String] {
            try Self.found(["app.json": json, "app.config.js": script])
        }
        func script(_ members: String) -> String {
            "module.exports = ({ config }) => ({ \(members) });"
        }
        for members in [
            "...config, extra: { api: process.env.API }", "...config, ios: { ...config.ios }",
            "...config, ios: { ...config.ios, infoPlist: { ...config.ios?.infoPlist, A: 'b' } }",
        ] {
            #expect(try found(script(members)) == ["CF019 8:31"], "\(members)")
        }
        for members in [
            "...config, ios: { ...config.ios, ...other }",
            "...config, ios: { bundleIdentifier: 'a' }",
            "ios: { infoPlist: { UIBackgroundModes: ['fetch'] } }, ...config",
            "...config, ios: { infoPlist: { UIBackgroundModes: ['fetch'] } }, ...variant()",
            "...appJson.expo, ios: { infoPlist: { UIBackgroundModes: ['fetch'] } }",
        ] {
            #expect(try found(script(members)) == [], "\(members)")
        }
        #expect(try found("module.exports = require('./other')") == [])
        let unread = try Self.report(["app.json": json, "app.config.js": "module.exports = f()"])
        #expect(unread.unjudged.contains { $0.reason.contains("app.json, ") })
    }

    @Test("what plugins add to the app may use its modes")
    func plugins() throws {
        func found(_ plugins: String, _ files: [String: String] = [:]) throws -> [String] {
            try Self.found(
                files.merging(["app.json": Self.json("[\"fetch\"]", plugins: plugins)]) { $1 })
        }
        #expect(try found("[\"expo-font\", [\"expo-av\", { \"a\": 1 }]]") == ["CF019 8:31"])
        #expect(try found("[\"./plugins/withTasks\"]") == [])
        let gradle = ["plugins/withGradle.js": "module.exports = withGradleProperties(c);"]
        #expect(try found("[\"./plugins/withGradle\"]", gradle) == ["CF019 8:31"])
        for text in ["withAppDelegate(config, addTasks)", "module.exports = require('./tasks')"] {
            let code = ["plugins/withTasks.js": text]
            #expect(try found("[\"./plugins/withTasks\"]", code) == [], "\(text)")
        }
        #expect(try found("[\"../other\"]") == [])
        let many = Array(repeating: "\"./plugins/withGradle\"", count: 32)
        #expect(try found("[\(many.joined(separator: ", "))]", gradle) == ["CF019 8:31"])
        let more = many + ["\"./plugins/withGradle\""]
        #expect(try found("[\(more.joined(separator: ", "))]", gradle) == [])
    }

    @Test("pushes that no mode and no plugin lets wake the app are found")
    func sends() throws {
        let package = """
            { "dependencies": { "expo": "52", "react-native": "0.76", "expo-notifications": "0" } }
            """
        func found(_ modes: String, _ plugins: String) throws -> [String] {
            try Self.found(
                ["app.json": Self.json(modes, plugins: plugins)], package: package,
                sends: [.background])
        }
        #expect(try found("[\"audio\"]", "[]") == ["CF001 8:30"])
        #expect(try found("[\"remote-notification\"]", "[]") == [])
        #expect(try found("[]", "[\"expo-notifications\"]") == ["CF001 8:30"])
        let option = "{ \"enableBackgroundRemoteNotifications\": true }"
        #expect(try found("[]", "[[\"expo-notifications\", \(option)]]") == [])
        #expect(try found("[]", "[\"onesignal-expo-plugin\"]") == [])
        let report = try Self.report(["app.json": Self.json("[]")], sends: [.background])
        #expect(report.count(.warning) == 1 && report.count(.error) == 0)
        // What adds plugins, or members, may add the mode.
        for script in [
            "plugins: [...p, 'expo-font'], ios: { infoPlist: {} }",
            "ios: { bundleIdentifier: 'a', ...b }",
            "ios: { bundleIdentifier: 'a', infoPlist: make() }",
        ] {
            let files = ["app.config.js": "module.exports = { \(script) };"]
            #expect(
                try Self.found(files, package: package, sends: [.background]) == [], "\(script)")
            let report = try Self.report(files, package: package)
            #expect(
                report.unjudged.contains {
                    $0.reason.contains("was not read") && $0.rules.contains("CF001")
                })
        }
        for script in [
            "module.exports = compose(withModes({ ios: { bundleIdentifier: 'a' } }));",
            "const c = { ios: { infoPlist: {} } };\nc.plugins.push('onesignal-expo-plugin');",
            "const c = { ios: { infoPlist: {} } };\nc.ios.infoPlist.UIBackgroundModes = modes;",
            "const c = { ios: { infoPlist: {} } };\nObject.assign(c.ios, other);",
            "const c = { ios: { infoPlist: {} } };\nmodule.exports = compose(withModes(c));",
            "const c = { ios: { infoPlist: {} } };\nmodule.exports = applyModes(c);",
        ] {
            let files = ["app.config.js": script]
            #expect(
                try Self.found(files, package: package, sends: [.background]) == [], "\(script)")
        }
        let fixed = ["app.config.js": "const c = { ios: { infoPlist: {} } };\nexport default c;"]
        #expect(
            try Self.found(fixed, package: package, sends: [.background]).map { $0.prefix(5) }
                == ["CF001"])
        let bare = [
            "app.json": "{ \"plugins\": [\"onesignal-expo-plugin\"], \"ios\": { "
                + "\"bundleIdentifier\": \"a.b\" } }"
        ]
        #expect(try Self.found(bare, package: package, sends: [.background]) == [])
        // Nothing handles pushes where no package is for them.
        #expect(
            try Self.found(["app.json": Self.json("[\"remote-notification\"]")])
                == ["CF002 8:31"])
    }

    @Test("native modules of the app and its other files are judged")
    func modules() throws {
        let handler = """
            func application(_ a: UIApplication, didReceiveRemoteNotification i: [AnyHashable: Any],
              fetchCompletionHandler done: @escaping (UIBackgroundFetchResult) -> Void) {
              if i.isEmpty { return }
              done(.noData)
            }
            """
        let json = Self.json("[\"audio\"]")
        for path in ["modules/push/ios/Push.swift", "plugins/Push.swift"] {
            let found = try Self.report(["app.json": json, path: handler]).findings
            #expect(found.map(\.diagnostic.rule) == ["CF003"], "\(path)")
        }
        let clock = ["modules/clock/ios/Clock.swift": "let a = 1"]
        let fetch = clock.merging(["app.json": Self.json("[\"fetch\"]")]) { $1 }
        #expect(try Self.found(fetch) == ["CF019 8:31"])
    }

    @Test("an app of Expo says nothing of other apps in the tree")
    func others() throws {
        let folder = try TestFolder()
        try folder.write(Self.package, to: "mobile/package.json")
        try folder.write(Self.json("[]"), to: "mobile/app.json")
        try folder.write("let task: BGAppRefreshTask", to: "mobile/native/A.swift")
        try folder.write("class MainActivity {}", to: "mobile/android/MainActivity.kt")
        let info = XML.dictionary([
            ("CFBundlePackageType", "<string>APPL</string>"),
            ("UIBackgroundModes", XML.array("fetsh")),
        ])
        try folder.write(info, to: "App/Info.plist")
        let report = try Audit(paths: [folder.path]).report()
        #expect(AuditScopeTests.rules(report) == ["CF030"])
        try folder.write(Self.json("[\"fetch\"]"), to: "mobile/app.json")
        let both = try Audit(paths: [folder.path]).report()
        #expect(AuditScopeTests.rules(both).sorted() == ["CF019", "CF030"])
    }

    @Test("the report says what of an app was not read")
    func unjudged() throws {
        let json = ["app.json": Self.json("[]")]
        let reasons = try Self.report(json).unjudged
        let plugins = try #require(reasons.first { $0.reason.contains("its plugins add") })
        #expect(plugins.rules.contains("CF005") && !plugins.rules.contains("CF019"))
        let script = ["src/task.ts": "import 'expo-background-fetch'; TaskManager.defineTask(a, b)"]
        #expect(
            try Self.report(json.merging(script) { $1 }).unjudged
                .contains { $0.reason.contains("1 script with work in the background") })
        // The project decides where there is one, and other programs have files of this name.
        let project = json.merging(["ios/App/Info.plist": XML.dictionary([])]) { $1 }
        #expect(!(try Self.report(project).unjudged.contains { $0.reason.contains("Expo") }))
        let other = ["app.json": "{ \"name\": \"web\" }", "A.swift": "let a = 1"]
        #expect(!(try Self.report(other).unjudged.contains { $0.reason.contains("Expo") }))
    }

    @Test(
        "hostile scripts are given up, or read once", .timeLimit(.minutes(10)),
        arguments: ["{", "{a:", "{a:[", "{a:(", "{...", "{a:`${", "[{a:1,", "{'a", "{/*"])
    func hostile(part: String) throws {
        let text = String(repeating: part, count: 400_000 / part.utf8.count) + "ios: {infoPlist"
        let found = ScriptObject.all(in: Array(text.utf8), file: "a.js") { _ in true }
        #expect(found?.isEmpty != false)
        #expect(try Self.found(["app.config.js": text, "a.swift": "let a = 1"]) == [])
    }
}
