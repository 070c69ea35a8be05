// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How many random cases a property looks at.
///
/// The numbers in the tests are for every run of them: few enough for a minute's patience, and
/// enough that each property still meets most rules. `ROUSE_PROPERTY_ROUNDS=20` looks at twenty
/// times as many, of the same seeds; the coverage-guided search is `Tests/Lint/PayloadRulesFuzz`.
package enum PropertyRounds {
    private static let factor =
        ProcessInfo.processInfo.environment["ROUSE_PROPERTY_ROUNDS"].flatMap { Int($0) } ?? 1

    /// Whether more than the usual rounds are asked for.
    package static var areMany: Bool { factor > 1 }

    /// The rounds of a property that takes `count` of them in a usual run.
    package static func few(_ count: Int) -> Range<Int> { 0..<(count * max(1, factor)) }
}
