// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The build settings of a target in one configuration: layers that override each other, and
/// Xcode's built-in settings.
struct BuildSettings {
    private let layers: [[String: AppProperty]]
    private let builtIn: [String: String]
    /// The SDK of the destination, whose conditions override what is there for all.
    private var destination: String?

    /// Creates settings from layers, the lowest first.
    init(layers: [[String: AppProperty]], builtIn: [String: String] = [:]) {
        self.layers = layers
        self.builtIn = builtIn
        let platforms = platforms
        destination =
            platforms.isEmpty || platforms.contains("iphoneos")
            ? "iphoneos" : platforms == ["macosx"] ? "macosx" : nil
    }

    /// The names of the platforms: those that are supported or, if it is set nearer to the target
    /// or nothing says what is, that of the SDK; empty if that is unknown.
    var platforms: [String] {
        let kit = setting("SDKROOT", below: layers.count)?.layer ?? -1
        let supported = setting("SUPPORTED_PLATFORMS", below: layers.count)?.layer ?? -1
        guard kit > supported, let name = text("SDKROOT")?.value, name != "auto" else {
            return list("SUPPORTED_PLATFORMS").map(\.value)
        }
        return [name]
    }

    /// Whether all settings files exist.
    var isComplete: Bool { layers.allSatisfy { $0[SettingsFiles.missing] == nil } }

    /// The names with this prefix, in order, without conditions.
    func names(withPrefix prefix: String) -> [String] {
        let names = layers.flatMap(\.keys).filter { $0.hasPrefix(prefix) }
        return Set(names.map { String($0.prefix { $0 != "[" }) }).sorted()
    }

    /// The value of a setting as text, with references resolved; `nil` if it is unset or empty.
    func text(_ name: String) -> Located<String>? {
        guard let found = setting(name, below: layers.count) else { return nil }
        let text = expanded(Self.text(of: found.property), in: name, layer: found.layer)
        return text.isEmpty ? nil : Located(text, at: found.property.place)
    }

    /// The value of a setting as a list: the elements of an array, or the words of a text.
    func list(_ name: String) -> [Located<String>] {
        guard let found = setting(name, below: layers.count) else { return [] }
        let parts: [Located<String>] =
            switch found.property.value {
            case .array: found.property.strings
            default: [Located(Self.text(of: found.property), at: found.property.place)]
            }
        return parts.flatMap { part in
            expanded(part.value, in: name, layer: found.layer).split(separator: " ").map {
                Located(String($0), at: part.place)
            }
        }
    }

    /// Resolves all references in a text. Unknown ones stay unchanged.
    func expanded(_ text: String) -> String { expanded(text, in: "", layer: 0) }

    // MARK: Lookup

    private func setting(
        _ name: String, below layer: Int
    ) -> (property: AppProperty, layer: Int)? {
        for index in layers.indices.prefix(layer).reversed() {
            let property =
                atDestination(name, in: layers[index]) ?? layers[index][name]
                ?? conditional(name, in: layers[index])
            if let property {
                return (property, index)
            }
        }
        return nil
    }

    /// A setting for the destination, which Xcode prefers to one without a condition.
    private func atDestination(_ name: String, in layer: [String: AppProperty]) -> AppProperty? {
        guard let destination else { return nil }
        return layer[name + "[sdk=\(destination)*]"] ?? layer[name + "[sdk=\(destination)]"]
    }

    /// A setting with a condition on the platform, if there is no unconditional one. Devices are
    /// preferred to simulators.
    private func conditional(_ name: String, in layer: [String: AppProperty]) -> AppProperty? {
        let names = layer.keys.filter { $0.hasPrefix(name + "[") }.sorted()
        let best = names.first { $0.contains("os*]") || $0.contains("os]") } ?? names.first
        return best.flatMap { layer[$0] }
    }

    private static func text(of property: AppProperty) -> String {
        switch property.value {
        case .string(let text): text
        case .array: property.strings.map(\.value).joined(separator: " ")
        default: ""
        }
    }

    // MARK: References

    private func expanded(_ text: String, in name: String, layer: Int) -> String {
        var budget = AuditLimits.settingBytes
        return expanded(text, in: name, layer: layer, depth: 0, &budget)
    }

    private func expanded(
        _ text: String, in name: String, layer: Int, depth: Int, _ budget: inout Int
    ) -> String {
        guard text.contains("$"), depth < AuditLimits.settingDepth else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "$") {
            result += rest[..<start]
            guard let reference = Reference(rest[start...]) else {
                result += "$"
                rest = rest[rest.index(after: start)...]
                continue
            }
            // A name can contain references: $(NAME_$(CONFIGURATION)).
            let inner = expanded(
                String(reference.name), in: name, layer: layer, depth: depth + 1, &budget)
            let value = value(of: inner, in: name, layer: layer, depth: depth, &budget)
            let replacement =
                value.map { reference.applied(to: $0) } ?? reference.fallback
                ?? String(reference.whole)
            budget -= replacement.utf8.count
            guard budget > 0 else { return text }
            result += replacement
            rest = reference.rest
        }
        return result + rest
    }

    private func value(
        of inner: String, in name: String, layer: Int, depth: Int, _ budget: inout Int
    ) -> String? {
        let isInherited = inner == "inherited" || inner == name
        let wanted = isInherited ? name : inner
        let limit = isInherited ? layer : layers.count
        if let found = setting(wanted, below: limit) {
            return expanded(
                Self.text(of: found.property), in: wanted, layer: found.layer, depth: depth + 1,
                &budget)
        }
        return inner == "inherited" ? "" : builtIn[inner]
    }

    /// `$(NAME)`, `${NAME}` or `$NAME`, the first two with optional operators: `$(NAME:lower)`.
    private struct Reference {
        let whole: Substring
        let name: Substring
        let operators: [Substring]
        let rest: Substring

        /// Parses a reference at the start of a text; `nil` if there is none.
        init?(_ text: Substring) {
            let open = text.dropFirst().first
            guard open == "(" || open == "{" else {
                let name = text.dropFirst().prefix {
                    $0.isASCII && ($0.isUppercase || $0.isNumber || $0 == "_")
                }
                // Upper case, like Xcode's names: elsewhere a dollar sign is literal.
                guard let first = name.first, !first.isNumber else { return nil }
                whole = text[..<name.endIndex]
                self.name = name
                operators = []
                rest = text[name.endIndex...]
                return
            }
            let close: Character = open == "(" ? ")" : "}"
            var depth = 0
            guard
                let end = text.indices.dropFirst().first(where: { index in
                    if text[index] == open { depth += 1 }
                    if text[index] == close { depth -= 1 }
                    return depth == 0
                })
            else { return nil }
            let parts = text[..<end].dropFirst(2).split(
                separator: ":", omittingEmptySubsequences: false)
            guard let name = parts.first, !name.isEmpty else { return nil }
            whole = text[...end]
            self.name = name
            operators = Array(parts.dropFirst())
            rest = text[text.index(after: end)...]
        }

        /// The default value of an unset setting.
        var fallback: String? {
            operators.first { $0.hasPrefix("default=") }.map {
                String($0.dropFirst("default=".count))
            }
        }

        func applied(to value: String) -> String {
            operators.reduce(value) { text, operation in
                switch operation {
                case "lower": text.lowercased()
                case "upper": text.uppercased()
                case "rfc1034identifier": Self.identifier(text, filler: "-")
                case "c99extidentifier", "identifier": Self.identifier(text, filler: "_")
                default: text
                }
            }
        }

        private static func identifier(_ text: String, filler: Character) -> String {
            String(
                text.map { character in
                    let isPlain =
                        character.isASCII
                        && (character.isLetter || character.isNumber
                            || character == "."
                                && filler == "-")
                    return isPlain ? character : filler
                })
        }
    }
}
