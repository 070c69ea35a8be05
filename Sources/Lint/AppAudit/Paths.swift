// SPDX-License-Identifier: Apache-2.0

/// Paths as text: joined and shortened, never followed.
enum Paths {
    /// A path below a folder; a path from the root stays as it is. `.` and `..` are worked out.
    static func join(_ folder: String, _ path: String) -> String {
        normalised(path.hasPrefix("/") || folder.isEmpty ? path : folder + "/" + path)
    }

    /// The folder of a file; `.` for a name alone.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The last part of a path.
    static func name(of path: String) -> String {
        String(path.split(separator: "/").last ?? "")
    }

    /// The last part of a path without its ending.
    static func stem(of path: String) -> String {
        let name = name(of: path)
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// Whether a path is a folder, or lies below it.
    static func contains(_ folder: String, _ path: String) -> Bool {
        path == folder || path.hasPrefix(folder + "/")
            || (folder == "." && !path.hasPrefix("/") && !path.hasPrefix(".."))
    }

    /// The same path without `.`, `..` and doubled slashes.
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
