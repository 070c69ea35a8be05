// SPDX-License-Identifier: Apache-2.0

/// Finds the known name that is most similar to a misspelt one.
package enum Nearest {
    /// The maximum edit distance of a suggestion.
    private static let maximumDistance = 3

    /// What people call kinds of pushes that have other names.
    private static let otherNames = [
        "silent": "background", "contentavailable": "background", "call": "voip",
        "pushkit": "voip", "notification": "alert",
    ]

    /// A sentence that suggests the most similar name, or lists all known names.
    package static func remedy(
        for name: String, among known: [String], called noun: String
    ) -> String {
        guard let meant = self.name(to: name, among: known) else {
            return "The \(noun) are \(known.joined(separator: ", "))."
        }
        return "Did you mean \(meant)?"
    }

    /// The known name with the smallest edit distance from `name`; `nil` if none is similar.
    package static func name(to name: String, among known: [String]) -> String? {
        let folded = folded(name)
        if let meant = otherNames[String(decoding: folded, as: UTF8.self)], known.contains(meant) {
            return meant
        }
        let ranked = known.map { ($0, distance(folded, self.folded($0))) }
        guard let best = ranked.min(by: { $0.1 < $1.1 }) else { return nil }
        return best.1 <= min(maximumDistance, max(1, name.count / 2)) ? best.0 : nil
    }

    /// Whether two names differ by at most this many letters, whatever their case and separators.
    static func isNear(_ name: String, _ known: String, upTo limit: Int) -> Bool {
        isNear(folded(name), folded(known), upTo: limit)
    }

    /// The same for names without case and separators.
    static func isNear(_ name: [UInt8], _ known: [UInt8], upTo limit: Int) -> Bool {
        guard abs(name.count - known.count) <= limit else { return false }
        // What both begin and end with does not count.
        let start = zip(name, known).prefix { $0 == $1 }.count
        let (left, right) = (name.dropFirst(start), known.dropFirst(start))
        let end = zip(left.reversed(), right.reversed()).prefix { $0 == $1 }.count
        let (first, second) = (Array(left.dropLast(end)), Array(right.dropLast(end)))
        if min(first.count, second.count) == 0 || limit <= 1 {
            return max(first.count, second.count) <= limit
        }
        return distance(first, second) <= limit
    }

    /// The name without case and separators, so that `keyFile` and `key_file` equal `key-file`.
    static func folded(_ name: String) -> [UInt8] {
        name.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
    }

    /// The Levenshtein distance: insertions, deletions and substitutions.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var previous = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                let replaced = previous[column] + (letter == other ? 0 : 1)
                current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
            }
            previous = current
        }
        return previous[right.count]
    }
}
