// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import PayloadLint
import WakeModel

extension ReportSettings {
    /// The settings of a report that this program writes now.
    init(_ format: ReportFormat, _ rules: RuleTable, isStrict: Bool, usesColour: Bool) {
        let now = Int64(Date.now.timeIntervalSince1970 * 1000)
        self.init(
            format: format, rules: rules, isStrict: isStrict, usesColour: usesColour,
            version: RouseVersion.current, now: WallInstant(millisecondsSinceEpoch: now))
    }
}

extension CommandFailure {
    /// Writes a report of why nothing was checked, unless it would be text: a step that takes up
    /// the report would fail for want of it, and hide the reason.
    func write(_ format: ReportFormat, _ rules: RuleTable, to console: Console) {
        guard format != .text else { return }
        let settings = ReportSettings(format, rules, isStrict: false, usesColour: false)
        var stream = ReportStream(settings) { console.writeRaw($0) }
        stream.add(ReportProblem(path: nil, message: message))
        stream.end()
    }
}
