// SPDX-License-Identifier: Apache-2.0

/// Placeholders in text: a variable, `<token>`, `{{topic}}`.
enum Placeholder {
    /// Words of instructions to put something in.
    private static let instructions = [
        "your", "replace", "insert", "changeme", "change_me", "change-me", "fill", "placeholder",
        "todo", "tbd",
    ]

    /// Whether a text is what a program or a person puts something else in for: `{{badge}}`,
    /// `${count}`, `%d`, `<number>`, `__COUNT__`.
    static func isTemplate(_ text: String) -> Bool {
        // The last one stands between the values of a choice: `update | end`.
        if ["{{", "${", "<%", "#{", "%{", "[[", "$(", "|"].contains(where: { text.contains($0) }) {
            return true
        }
        guard let first = text.first, let last = text.last, text.count > 1 else { return false }
        return first == "%" || first == "$" || (first, last) == ("<", ">")
            || (first, last) == ("{", "}") || (first, last) == ("[", "]")
            || text.hasPrefix("__") && text.hasSuffix("__")
    }

    /// Whether a text begins with a name between asterisks: `*yourBundleId*.voip`.
    private static func isStarred(_ text: String) -> Bool {
        guard text.first == "*" else { return false }
        let name = text.dropFirst().prefix { $0.isLetter || $0.isNumber || " _-".contains($0) }
        return name.contains(where: \.isLetter) && text.dropFirst(1 + name.count).first == "*"
    }

    /// Whether a text is, or holds, a placeholder.
    static func isIn(_ text: String) -> Bool {
        // An abbreviated value: `eyJhbGci...`, `xxxx`.
        if text.contains("...") || text.contains("…") || text.uppercased().contains("XXXX") {
            return true
        }
        // A choice: `alert|background`, `5 or 10`.
        if text.contains("|") || text.contains(" or ") { return true }
        if ["x", "X", "*"].contains(where: { Set(text) == [$0] }) || isStarred(text) {
            return true
        }
        // `0a1b2c-device-token-of-ann`: it says what stands there.
        if text.lowercased().contains("token"),
            text.allSatisfy({ $0.isLetter || $0.isNumber || "_-".contains($0) }),
            !text.split(whereSeparator: { !$0.isHexDigit }).contains(where: { $0.count >= 16 })
        {
            return true
        }
        // The description of a device token's Data is a mistake, not a placeholder.
        guard text.count < 32 || 2 * text.count(where: \.isHexDigit) < text.count else {
            return false
        }
        // Nothing in a header has letters beyond ASCII.
        if text.utf8.contains(where: { "<>{}[]()%\u{1a}".utf8.contains($0) || $0 > 0x7f }) {
            return true
        }
        if text.contains("$") || text.contains("`") || text.contains("&lt;") || text.hasPrefix(":")
            || text.hasPrefix("@")
        {
            return true
        }
        // DEVICE_TOKEN, YOUR-TOKEN-HERE, YOUR TOKEN HERE, deviceToken, your_device_token, JWT
        guard text.allSatisfy({ $0.isLetter || $0.isNumber || "_- ".contains($0) }) else {
            return false
        }
        let lower = text.lowercased()
        return (["token", "jwt"] + instructions).contains { lower.contains($0) }
            || text.contains { "_- ".contains($0) } && text == text.uppercased()
                && !text.contains(where: \.isNumber)
    }

    /// The path of a request with a token of zeros where it lacks the device token: no device token
    /// is as short as what stands for one.
    static func filled(path: String) -> String {
        let device = "/3/device"
        guard path.hasPrefix(device + "/") || path == device,
            path.utf8.count < shortestPath || isIn(String(path.dropFirst(device.count + 1)))
        else { return path }
        return device + "/" + String(repeating: "0", count: 64)
    }

    /// The length of `/3/device/` with 32 digits, in bytes.
    private static let shortestPath = 42

    /// Whether a value begins with another scheme than APNs', and then what stands for the secret.
    static func hasOtherScheme(_ value: String) -> Bool {
        let scheme = value.lowercased().prefix { $0.isLetter }
        let rest = value.dropFirst(scheme.count)
        return ["basic", "key", "token", "jwt", "digest", "apikey"].contains(scheme)
            && [" ", "="].contains(rest.first)
            && "$<{\u{1a}".utf8.contains(rest.dropFirst().utf8.first ?? 0)
    }

    /// The known part of a header's value: a placeholder before a topic's suffix is replaced by a
    /// bundle id. Returns `nil` if nothing is known.
    static func known(_ value: String, of name: String) -> String? {
        let scheme = "bearer "
        let isBearer = value.lowercased().hasPrefix(scheme)
        let isTopic = name.lowercased() == "apns-topic"
        let value = name == ":path" ? filled(path: value) : value
        // A bundle id contains only ASCII characters, so this is a placeholder.
        let isForeign = isTopic && !value.utf8.allSatisfy { $0 < 0x80 }
        let content = isBearer ? String(value.dropFirst(scheme.count)) : value
        guard isForeign || isBearer && content.isEmpty || isIn(content) else { return value }
        guard isTopic else { return nil }
        let marks = "<>{}[]%$*\u{1a}".unicodeScalars
        guard let last = value.unicodeScalars.lastIndex(where: { marks.contains($0) }) else {
            return nil
        }
        var end = String(value.unicodeScalars[value.unicodeScalars.index(after: last)...])
        // `$TOPIC.voip`: the name of the variable ends before the point.
        if value.unicodeScalars[last] == "$" {
            end = String(end.drop { $0 != "." })
        }
        return end.hasPrefix(".") ? "com.example.app" + end : nil
    }
}
