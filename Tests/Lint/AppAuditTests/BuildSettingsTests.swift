// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

@Suite("Build settings")
struct BuildSettingsTests {
    private static func settings(_ layers: [String: String]...) -> BuildSettings {
        BuildSettings(
            layers: layers.map { layer in
                layer.mapValues { AppProperty(.string($0), at: AppPlace(file: "p")) }
            }, builtIn: ["TARGET_NAME": "My App", "PRODUCT_NAME": "My App"])
    }

    @Test(
        "settings are put into each other",
        arguments: [
            ("$(A)", "a"), ("${A}", "a"), ("x$(A)y$(B)", "xayba"), ("$(TARGET_NAME)", "My App"),
            ("$(TARGET_NAME:rfc1034identifier)", "My-App"), ("$(A:upper)", "A"),
            ("$(TARGET_NAME:c99extidentifier:lower)", "my_app"), ("$(MISSING)", "$(MISSING)"),
            ("$(MISSING:default=z)", "z"), ("$(N_$(A))", "nested"), ("$", "$"), ("$(", "$("),
            ("$()", "$()"), ("a$b", "a$b"),
            ("$A/x", "a/x"), ("$A_$B", "$A_ba"), ("$TARGET_NAME.plist", "My App.plist"),
            ("$1", "$1"), ("$MISSING", "$MISSING"),
        ])
    func expansion(text: String, value: String) {
        let settings = Self.settings(["A": "a", "B": "b$(A)", "N_a": "nested"])
        #expect(settings.expanded(text) == value)
    }

    @Test("a higher layer goes over a lower one, and can inherit from it")
    func layers() {
        let settings = Self.settings(
            ["A": "low", "B": "low", "C": "low"], ["A": "high", "B": "$(inherited) high"],
            ["C": "$(C) higher"])
        #expect(settings.text("A")?.value == "high")
        #expect(settings.text("B")?.value == "low high")
        #expect(settings.text("C")?.value == "low higher")
        #expect(settings.text("D") == nil)
        #expect(settings.list("B").map(\.value) == ["low", "high"])
    }

    @Test("a setting for devices goes over one for all, in its layer and for iOS")
    func conditions() {
        let layer = [
            "E[sdk=iphonesimulator*]": "simulator", "E[sdk=iphoneos*]": "device", "F": "all",
            "F[sdk=iphoneos*]": "device", "G": "all", "G[sdk=macosx*]": "mac",
        ]
        let settings = Self.settings(layer)
        #expect(settings.text("E")?.value == "device")
        #expect(settings.text("F")?.value == "device")
        #expect(settings.text("G")?.value == "all")
        #expect(Self.settings(layer, ["F": "higher"]).text("F")?.value == "higher")
        #expect(Self.settings(layer, ["SDKROOT": "macosx"]).text("F")?.value == "all")
        let both = Self.settings(
            layer, ["SDKROOT": "macosx", "SUPPORTED_PLATFORMS": "macosx iphoneos"])
        #expect(both.text("F")?.value == "device")
        #expect(Self.settings(layer, ["SUPPORTED_PLATFORMS": "macosx"]).text("G")?.value == "mac")
    }

    @Test("the SDK counts where it is set nearer to the target than what is supported")
    func platforms() {
        let project = ["SDKROOT": "iphoneos", "SUPPORTED_PLATFORMS": "iphoneos iphonesimulator"]
        #expect(Self.settings(project).platforms == ["iphoneos", "iphonesimulator"])
        #expect(Self.settings(project, ["SDKROOT": "macosx"]).platforms == ["macosx"])
        #expect(Self.settings(project, ["SDKROOT": "auto"]).platforms.count == 2)
        #expect(Self.settings(["SDKROOT": "watchos"]).platforms == ["watchos"])
        #expect(Self.settings([:]).platforms == [])
    }

    @Test("settings that name each other in a circle, or grow without end, come to an end")
    func circles() {
        let circle = Self.settings(["A": "$(B)", "B": "$(A)x"])
        #expect(circle.text("A") != nil)
        var doubling: [String: String] = ["S0": "xxxxxxxxxxxxxxxx"]
        for index in 1..<40 { doubling["S\(index)"] = "$(S\(index - 1))$(S\(index - 1))" }
        let text = Self.settings(doubling).text("S39")?.value ?? ""
        #expect(text.utf8.count <= 2 * AuditLimits.settingBytes)
    }

    @Test("files of settings include each other")
    func files() throws {
        let texts = [
            "d/a.xcconfig": """
            // A comment
            #include "b.xcconfig"
            #include? "missing.xcconfig"
            NAME = value // comment
            E[sdk=iphoneos*] = device;
            """,
            "d/b.xcconfig": "#include \"a.xcconfig\"\nNAME = other\nLOW = 1\r\n",
        ]
        let files = SettingsFiles { texts[$0].map { Array($0.utf8) } }
        let settings = files.settings(in: "d/a.xcconfig")
        #expect(settings["NAME"]?.string == "value")
        #expect(settings["LOW"]?.string == "1")
        #expect(settings["E[sdk=iphoneos*]"]?.string == "device")
        #expect(settings["NAME"]?.place.line == 4)
        #expect(settings.count == 3)
    }

    @Test(
        "paths are joined and shortened",
        arguments: [
            ("a", "b", "a/b"), ("a/b", "../c", "a/c"), ("a", "/c", "/c"), ("", "c", "c"),
            ("..", "../c", "../../c"), ("/", "../c", "/c"), (".", "./c//d", "c/d"),
            ("a", "..", "."),
        ])
    func paths(folder: String, path: String, joined: String) {
        #expect(Paths.join(folder, path) == joined)
    }
}
