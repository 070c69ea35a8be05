// SPDX-License-Identifier: Apache-2.0

import Gateway
import Glibc

/// The real path of a store's file, all symbolic links resolved.
///
/// SQLite resolves links and keeps `-wal` and `-shm` next to the file itself. The lock file must be
/// there too, or two gateways that use different names would not share it.
enum StorePath {
    /// The number of links to missing files that are followed: as many as Linux follows
    /// (path_resolution(7)).
    private static let maximumLinks = 40

    /// The real path of a file that is there; `nil`, with the reason in `errno`, when there is
    /// none.
    static func existing(_ path: String) -> String? {
        // SAFETY: realpath returns a new terminated string, which is copied and freed.
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// The real path of a file that exists, or that opening this path would create. A path that
    /// cannot be resolved is returned as far as it was followed; opening it reports why.
    static func resolve(_ path: String) -> String {
        var path = path
        for _ in 0..<maximumLinks {
            if let real = existing(path) { return real }
            guard let target = target(of: path) else { break }
            // A link's target is relative to the folder of the link.
            path = target.hasPrefix("/") ? target : split(path).folder + "/" + target
        }
        let (folder, name) = split(path)
        guard !name.isEmpty, let real = existing(folder) else { return path }
        return real == "/" ? real + name : real + "/" + name
    }

    /// The length of a file; `nil` when there is none.
    static func byteCount(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Refuses what is not a regular file, such as a folder or a pipe, whose opening could block,
    /// and a file with several hard links. A file's companions have the name by which it was
    /// opened, so under two names it would have two locks, of two owners, and two logs. Throws a
    /// ``Gateway/StoreFailure`` of kind `unavailable`.
    ///
    /// Checked by name: opening and closing the file would drop the locks that SQLite has on it in
    /// this process.
    static func checkFile(_ path: String) throws(StoreFailure) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreFailure(
                kind: .unavailable,
                message: "The store \(path) is no file. Name the file itself.")
        }
        guard status.st_nlink > 1 else { return }
        throw StoreFailure(
            kind: .unavailable,
            message: "The store \(path) has \(status.st_nlink) names (hard links). Its lock and "
                + "its log are beside one of them only, so it is not opened by any. Remove the "
                + "other names, or give a copy of the file.")
    }

    /// The folder of a path's last name, and the name.
    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let folder = path[..<slash]
        return (folder.isEmpty ? "/" : String(folder), String(path[path.index(after: slash)...]))
    }

    /// The target of a symbolic link; `nil` for everything else.
    private static func target(of path: String) -> String? {
        // SAFETY: readlink writes at most as many bytes as the buffer has, and says how many; so
        // many are initialized. They are bytes of a name, whose type is that of C's characters.
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            let length = buffer.withMemoryRebound(to: CChar.self) { buffer in
                buffer.baseAddress.map { readlink(path, $0, buffer.count) } ?? -1
            }
            count = max(0, length)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
