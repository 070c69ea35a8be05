// SPDX-License-Identifier: Apache-2.0

package import WakeModel

/// How a report is written.
package struct ReportSettings: Sendable {
    /// The format.
    package var format: ReportFormat
    /// The rules that findings can be of.
    package var rules: RuleTable
    /// Whether warnings count as errors do.
    package var isStrict: Bool
    /// Whether the text report has colours.
    package var usesColour: Bool
    /// The program's version, for SARIF.
    package var version: String
    /// When the files were checked, for JUnit.
    package var now: WallInstant

    /// Creates settings.
    package init(
        format: ReportFormat, rules: RuleTable, isStrict: Bool, usesColour: Bool, version: String,
        now: WallInstant
    ) {
        self.format = format
        self.rules = rules
        self.isStrict = isStrict
        self.usesColour = usesColour
        self.version = version
        self.now = now
    }

    /// The writer of the format.
    var style: any ReportStyle {
        switch format {
        case .text: TextStyle(usesColour: usesColour)
        case .json: JSONStyle()
        case .github: GitHubStyle()
        case .sarif: SARIFStyle(version: version, rules: rules)
        case .gitlab: GitLabStyle()
        case .junit: JUnitStyle(command: rules.command, isStrict: isStrict, now: now)
        }
    }
}
