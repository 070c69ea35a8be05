// SPDX-License-Identifier: Apache-2.0

package import WakeModel

/// The settings of a report.
package struct ReportSettings: Sendable {
    /// The format.
    package var format: ReportFormat
    /// The rules of the command.
    package var rules: RuleTable
    /// Whether warnings count as errors.
    package var isStrict: Bool
    /// Whether the text report has colours.
    package var usesColour: Bool
    /// The program's version, for SARIF.
    package var version: String
    /// The time of the run, for JUnit.
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

    /// The implementation of the format.
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
