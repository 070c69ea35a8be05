// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A description of targets and their build settings: an Xcode project, or the text that XcodeGen
/// makes one of.
protocol ProjectDescription {
    /// The targets that are built from sources, in the project's order; tests are left out.
    var targets: [XcodeTarget] { get }

    /// The names of the build configurations of a target, in their order.
    func configurations(of target: XcodeTarget) -> [String]

    /// The build settings of a target in one configuration.
    func settings(
        of target: XcodeTarget, in configuration: String, files: SettingsFiles
    ) -> BuildSettings

    /// The place of a target's settings of this configuration.
    func settingsPlace(of target: XcodeTarget, in configuration: String) -> AppPlace

    /// The path of a file that a build setting names.
    func path(ofSetting text: String) -> String

    /// The targets that a target embeds or links.
    func dependencies(of target: XcodeTarget) -> [XcodeTarget]

    /// The source files of a target and of what it needs.
    func sources(of target: XcodeTarget, tree: FileTree) -> SourceList

    /// Whether a build phase of a target may change its entitlements.
    func changesEntitlements(of target: XcodeTarget) -> Bool

    /// What the description itself says of an Info.plist or of entitlements; `nil` where a file
    /// alone does.
    func generated(_ kind: AuditReport.FileKind, of target: XcodeTarget) -> AppProperties?
}

extension XcodeProject: ProjectDescription {
    func changesEntitlements(of target: XcodeTarget) -> Bool {
        objects(target.object, "buildPhases").contains {
            $0["shellScript"]?.string?.lowercased().contains("entitlements") == true
        }
    }

    func generated(_ kind: AuditReport.FileKind, of target: XcodeTarget) -> AppProperties? { nil }
}
