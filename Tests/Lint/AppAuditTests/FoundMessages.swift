// SPDX-License-Identifier: Apache-2.0

import PayloadRules

@testable import AppAudit

extension TestFolder {
    /// The messages of a rule about an app with these source files.
    static func messages(
        of rule: RuleID, _ files: [String: String]
    ) throws -> [String] {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([("LSRequiresIPhoneOS", "<true/>")]), to: "App/Info.plist")
        for (name, text) in files { try folder.write(text, to: "App/" + name) }
        return try Audit(paths: [folder.path]).report().findings.map(\.diagnostic)
            .filter { $0.rule == rule }.map(\.message)
    }
}
