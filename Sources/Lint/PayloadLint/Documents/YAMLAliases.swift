// SPDX-License-Identifier: Apache-2.0

/// Detects YAML documents whose aliases expand to too many values.
///
/// The value of an alias is stored once, so that a text of a few lines can represent a billion
/// values ("billion laughs"). Visiting each of them would take too long.
package enum YAMLAliases {
    /// The maximum number of values of a document.
    package static let maximumValues = 1_000_000

    /// The message for a text that ``areTooMany(in:)`` detected.
    package static let problem =
        "the aliases of the YAML text stand for more than \(maximumValues) values"

    /// Whether a node has more than the maximum number of values.
    package static func areTooMany(in node: YAMLNode) -> Bool {
        var rest = maximumValues
        return !count(node, &rest)
    }

    /// Subtracts the values of a node from the rest. Returns whether the rest was sufficient.
    private static func count(_ node: YAMLNode, _ rest: inout Int) -> Bool {
        rest -= 1
        guard rest >= 0 else { return false }
        switch node {
        case .scalar: return true
        case .sequence(let elements, _):
            for element in elements where !count(element, &rest) { return false }
        case .mapping(let mapping):
            for (key, value) in mapping where !count(key, &rest) || !count(value, &rest) {
                return false
            }
        }
        return true
    }
}
