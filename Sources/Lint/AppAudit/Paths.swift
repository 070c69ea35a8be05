// SPDX-License-Identifier: Apache-2.0

/// Operations on paths as text, without access to files.
enum Paths {
    /// Joins a folder and a relative path; an absolute path stays unchanged. Resolves `.` and `..`.
    static func join(_ folder: String, _ path: String) -> String {
        normalised(path.hasPrefix("/") || folder.isEmpty ? path : folder + "/" + path)
    }

    /// The folder of a file; `.` for a name without a folder.
    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The last component of a path.
    static func name(of path: String) -> String {
        var rest = path.utf8[...]
        while rest.last == UInt8(ascii: "/") { rest.removeLast() }
        let slash = rest.lastIndex(of: UInt8(ascii: "/"))
        return String(Substring(rest[(slash.map(rest.index(after:)) ?? rest.startIndex)...]))
    }

    /// The last component of a path without its extension.
    static func stem(of path: String) -> String {
        let name = name(of: path)
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else {
            return name
        }
        return String(name[..<dot])
    }

    /// Whether a path is a folder or below it.
    static func contains(_ folder: String, _ path: String) -> Bool {
        path == folder || path.hasPrefix(folder + "/")
            || (folder == "." && !path.hasPrefix("/") && !path.hasPrefix(".."))
    }

    /// The path without `.`, `..` and duplicate slashes.
    static func normalised(_ path: String) -> String {
        var parts: [Substring] = []
        let isAbsolute = path.hasPrefix("/")
        for part in path.split(separator: "/") {
            switch part {
            case ".": continue
            case "..":
                if let last = parts.last, last != ".." {
                    parts.removeLast()
                } else if !isAbsolute {
                    parts.append(part)
                }
            default: parts.append(part)
            }
        }
        let joined = parts.joined(separator: "/")
        return isAbsolute ? "/" + joined : joined.isEmpty ? "." : joined
    }
}
