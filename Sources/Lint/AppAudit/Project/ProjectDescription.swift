// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The targets and build settings of a project: an Xcode project, or the input of a generator.
protocol ProjectDescription {
    /// The targets that are built from sources, in the project's order, without tests.
    var targets: [XcodeTarget] { get }

    /// The names of a target's build configurations, in order.
    func configurations(of target: XcodeTarget) -> [String]

    /// Whether a configuration of a target is one that nobody builds, among these.
    func passesOver(_ configuration: String, of all: [String], for target: XcodeTarget) -> Bool

    /// The build settings of a target in one configuration.
    func settings(
        of target: XcodeTarget, in configuration: String, files: SettingsFiles
    ) -> BuildSettings

    /// The place of a target's settings in this configuration.
    func settingsPlace(of target: XcodeTarget, in configuration: String) -> AppPlace

    /// The path of a file in the value of a build setting.
    func path(ofSetting text: String) -> String

    /// The targets that a target embeds or links.
    func dependencies(of target: XcodeTarget) -> [XcodeTarget]

    /// The source files of a target and its dependencies.
    func sources(of target: XcodeTarget, tree: FileTree) -> SourceList

    /// Whether a build phase of a target may change its entitlements.
    func changesEntitlements(of target: XcodeTarget) -> Bool

    /// Whether a script of a target's build names this, in lowercase letters.
    func runsScript(naming word: String, for target: XcodeTarget) -> Bool

    /// The Info.plist or the entitlements in the description itself; `nil` if only a file contains
    /// them.
    func generated(_ kind: AuditReport.FileKind, of target: XcodeTarget) -> AppProperties?
}

extension ProjectDescription {
    func passesOver(_ configuration: String, of all: [String], for target: XcodeTarget) -> Bool {
        false
    }
}

extension XcodeProject: ProjectDescription {
    func passesOver(_ configuration: String, of all: [String], for target: XcodeTarget) -> Bool {
        schemes.passOver(configuration, of: all, for: target.name)
    }

    func changesEntitlements(of target: XcodeTarget) -> Bool {
        runsScript(naming: "entitlements", for: target)
    }

    func runsScript(naming word: String, for target: XcodeTarget) -> Bool {
        objects(target.object, "buildPhases").contains { phase in
            guard let script = phase["shellScript"] else { return false }
            // Its lines are one text, or an array of them.
            return ([script.string].compactMap { $0 } + script.strings.map(\.value)).contains {
                $0.lowercased().contains(word)
            }
        }
    }

    func generated(_ kind: AuditReport.FileKind, of target: XcodeTarget) -> AppProperties? { nil }
}
