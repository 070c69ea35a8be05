// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// Merges the payloads of two background wakes into one: coalescing of the kind `union`.
///
/// The members of the two JSON objects are merged at the top level, `aps` like any other; where
/// both have a key, the newer value is kept. Values are copied verbatim and never parsed. Members
/// that only the older payload has come first, then all of the newer one.
public enum PayloadUnion {
    /// The result of a merge.
    public enum Outcome: Hashable, Sendable {
        /// Both, as one JSON object of at most ``BudgetLimits/backgroundPayloadBytes``.
        case united([UInt8])
        /// The newer payload takes the older one's place after all.
        case replaced(Obstacle)
    }

    /// Why two payloads were not merged.
    public enum Obstacle: Hashable, Sendable {
        /// Together they have so many bytes, more than a background push may have (rule G003).
        case tooLong(byteCount: Int)
        /// The older payload is not a JSON object.
        case olderIsNoObject
        /// The newer payload is not a JSON object.
        case newerIsNoObject
    }

    /// Merges two payloads that were found to be valid JSON. Keys are the same when they are after
    /// their escapes are resolved; of a key that one payload has twice, the later value counts.
    public static func merge(old: [UInt8], new: [UInt8]) -> Outcome {
        guard let older = members(of: old) else { return .replaced(.olderIsNoObject) }
        guard let newer = members(of: new) else { return .replaced(.newerIsNoObject) }
        var seen: Set<ArraySlice<UInt8>> = []
        // From the newest to the oldest, so that the first occurrence of a key is kept.
        let newerKept = newer.reversed().filter { seen.insert($0.key).inserted }.reversed()
        let olderKept = older.reversed().filter { seen.insert($0.key).inserted }.reversed()

        var union: [UInt8] = [UInt8(ascii: "{")]
        union.reserveCapacity(old.count + new.count)
        for member in olderKept { append(old[member.place], to: &union) }
        for member in newerKept { append(new[member.place], to: &union) }
        union.append(UInt8(ascii: "}"))
        guard union.count <= BudgetLimits.backgroundPayloadBytes else {
            return .replaced(.tooLong(byteCount: union.count))
        }
        return .united(union)
    }

    /// The members of an object: the key with its escapes resolved, and where both stand in the
    /// text. `nil` when the text is not an object.
    private static func members(
        of text: [UInt8]
    ) -> [(key: ArraySlice<UInt8>, place: Range<Int>)]? {
        guard let document = try? JSONScanner.scan(text), document.kind(0) == .object else {
            return nil
        }
        return document.members(of: 0).map { key, value in
            let place = Int(document.nodes[key].start)..<Int(document.nodes[value].end)
            return (document.text(key), place)
        }
    }

    private static func append(_ member: ArraySlice<UInt8>, to union: inout [UInt8]) {
        if union.count > 1 { union.append(UInt8(ascii: ",")) }
        union += member
    }
}
