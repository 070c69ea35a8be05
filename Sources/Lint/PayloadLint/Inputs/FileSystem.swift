// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The type of a file.
enum PathKind: Hashable, Sendable {
    case file
    case folder
    /// A pipe, a terminal or a device: can be read only once.
    case stream

    /// The type of the file at a path, following symbolic links; `nil` if there is none.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: self = .folder
        case S_IFREG: self = .file
        default: self = .stream
        }
    }
}

/// Whether a folder on the way to a path lets nobody look for it.
func isHidden(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) != 0 && errno == EACCES
}

/// Whether a path is a symbolic link.
func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
}

/// The absolute path without symbolic links; `nil` if there is no such file.
package func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
}

/// The names in a folder, without `.` and `..`, in the order of their bytes.
func entries(ofFolder path: String) throws(LintProblem) -> [String] {
    guard let stream = opendir(path) else {
        let code = errno
        throw LintProblem(
            code == EACCES ? .notAllowed : .missing,
            "\(path) cannot be listed: \(String(cString: strerror(code))). Check the folder and "
                + "its permissions.")
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let capacity = MemoryLayout.size(ofValue: entry.pointee.d_name)
        // SAFETY: readdir returns an entry whose name ends with a zero byte within `capacity`, and
        // which stays valid until the next call on this stream; the name is copied before that.
        let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
            name.withMemoryRebound(to: CChar.self, capacity: capacity) { String(cString: $0) }
        }
        if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
}
