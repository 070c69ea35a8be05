// SPDX-License-Identifier: Apache-2.0

/// A pattern of paths: `*` and `?` within a part, `**` for any parts. One that names a folder
/// matches all in it.
struct PathPattern: Hashable, Sendable {
    private let parts: [[Character]]

    /// Reads a pattern.
    init(_ text: String) {
        parts = text.split(separator: "/").map(Array.init)
    }

    /// Whether a path, or a folder that it lies in, is meant.
    func matches(_ path: some StringProtocol) -> Bool {
        let names = path.split(separator: "/").map { Array(String($0)) }
        return matches(parts[...], names[...])
    }

    private func matches(_ parts: ArraySlice<[Character]>, _ names: ArraySlice<[Character]>) -> Bool
    {
        guard let part = parts.first else { return true }
        if part == ["*", "*"] {
            return (names.startIndex...names.endIndex).contains {
                matches(parts.dropFirst(), names[$0...])
            }
        }
        guard let name = names.first, Self.matches(part[...], name[...]) else { return false }
        return matches(parts.dropFirst(), names.dropFirst())
    }

    private static func matches(
        _ pattern: ArraySlice<Character>, _ name: ArraySlice<Character>
    ) -> Bool {
        guard let first = pattern.first else { return name.isEmpty }
        if first == "*" {
            return (name.startIndex...name.endIndex).contains {
                matches(pattern.dropFirst(), name[$0...])
            }
        }
        guard let letter = name.first, first == "?" || first == letter else { return false }
        return matches(pattern.dropFirst(), name.dropFirst())
    }
}
