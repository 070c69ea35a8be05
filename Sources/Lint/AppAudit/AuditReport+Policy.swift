// SPDX-License-Identifier: Apache-2.0

package import PayloadLint
import PayloadRules

extension AuditReport {
    /// Returns the report without findings of rules that are not enabled, findings that another
    /// rule covers, and findings that a comment in their file ignores, which are counted. Comments
    /// that name what is no rule are added to what was not judged.
    package func applying(_ policy: RulePolicy) -> AuditReport {
        var result = self
        for index in result.files.indices where !result.files[index].findings.isEmpty {
            let bytes = try? FileTree.read(
                result.files[index].path, limit: AuditLimits.projectBytes)
            let ignores = InlineIgnores(
                bytes ?? [], isSourceCode: result.files[index].kind.isSourceText)
            for clause in ignores.misreadClauses(at: result.files[index].path) {
                result.say(notJudged: clause)
            }
            result.files[index].findings =
                result.files[index].findings.compactMap { finding in
                    let rule = finding.diagnostic.rule
                    guard let severity = policy.severity(of: rule, finding.diagnostic.severity),
                        finding.isSaidBy.flatMap({ policy.severity(of: $0, .error) }) == nil
                    else { return nil }
                    let left = finding.limited { !ignores.cover(rule, line: $0.diagnostic.line) }
                    guard var finding = left else {
                        result.ignoredFindings += 1
                        return nil
                    }
                    finding.diagnostic.severity = severity
                    return finding
                }
                .inOrder
        }
        result.files.removeAll { $0.kind.isSourceText && $0.findings.isEmpty }
        for index in result.unjudged.indices {
            result.unjudged[index].rules.removeAll { policy.severity(of: $0, .error) == nil }
            let targets = result.unjudged[index].targets
            result.unjudged[index].partlyJudged = Set(
                result.findings.filter { finding in
                    targets.isEmpty || finding.targets.isEmpty
                        || finding.targets.contains(where: targets.contains)
                }
                .map(\.diagnostic.rule)
            ).intersection(result.unjudged[index].rules)
        }
        return result
    }
}
