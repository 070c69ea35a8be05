// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads build settings files (`.xcconfig`): `NAME = value`, `#include "file"`, `//` comments.
struct SettingsFiles {
    /// Reads a file; returns `nil` on failure.
    let read: (String) -> [UInt8]?
    /// The key that marks a missing file; no setting can have this name.
    static let missing = "\0missing"

    /// The settings of a file and its included files; empty if the file does not exist.
    func settings(in path: String) -> [String: AppProperty] {
        var settings: [String: AppProperty] = [:]
        var seen: Set<String> = []
        add(path, to: &settings, &seen)
        return settings
    }

    private func add(
        _ path: String, to settings: inout [String: AppProperty], _ seen: inout Set<String>
    ) {
        guard seen.count < AuditLimits.settingsFiles, seen.insert(path).inserted else { return }
        guard let bytes = read(path) else {
            // The files of CocoaPods and Flutter contain no settings for signing.
            let name = Paths.name(of: path)
            if !name.hasPrefix("Pods-"), name != "Generated.xcconfig" {
                settings[Self.missing] = AppProperty(.boolean(true), at: AppPlace(file: path))
            }
            return
        }
        var cursor = TextCursor(bytes)
        while !cursor.isAtEnd {
            let position = cursor.position
            let line = String(decoding: cursor.take { $0 != 0x0a && $0 != 0x0d }, as: UTF8.self)
            cursor.advance()
            if let included = Self.includedFile(line) {
                let file = Paths.join(Paths.folder(of: path), included)
                // The file of `#include?` is optional.
                guard !line.hasPrefix("#include?") || read(file) != nil else { continue }
                add(file, to: &settings, &seen)
            } else if let (name, value) = Self.assignment(line) {
                settings[name] = AppProperty(.string(value), at: AppPlace(file: path, position))
            }
        }
    }

    /// The file that a line includes.
    private static func includedFile(_ line: String) -> String? {
        guard line.hasPrefix("#include") else { return nil }
        let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.count >= 3 ? String(parts[1]) : nil
    }

    private static func assignment(_ line: String) -> (name: String, value: String)? {
        // After a colon two slashes are part of a URL, which no rule needs.
        let code = line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line[...]
        // A condition may contain an equals sign: NAME[sdk=iphoneos*] = value.
        var depth = 0
        let equals = code.firstIndex { character in
            if character == "[" { depth += 1 }
            if character == "]" { depth -= 1 }
            return character == "=" && depth == 0
        }
        guard let equals else { return nil }
        let name = trimmed(code[..<equals])
        guard !name.isEmpty else { return nil }
        return (name, trimmed(code[code.index(after: equals)...]))
    }

    private static func trimmed(_ text: Substring) -> String {
        let isFiller = { (character: Character) in character.isWhitespace || character == ";" }
        let start = text.drop(while: isFiller)
        guard let last = start.lastIndex(where: { !isFiller($0) }) else { return "" }
        return String(start[...last])
    }
}
