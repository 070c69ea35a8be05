// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A file system in memory, of a size that the test chooses. Needs the right to mount one.
package struct SmallDisk {
    package let folder: String

    package static var canMount: Bool {
        guard geteuid() == 0, let folder = try? makeFolder() else { return false }
        defer { rmdir(folder) }
        guard mount("tmpfs", folder, "tmpfs", 0, "size=64k") == 0 else { return false }
        umount(folder)
        return true
    }

    private static func makeFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "rouse-disk-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    // MS_RDONLY | MS_REMOUNT and MNT_DETACH of <sys/mount.h>, which Swift imports differently from
    // one C library to the next.
    private static let readOnlyRemount: UInt = 1 | 32
    private static let detach: CInt = 2

    package init(kibibytes: Int) throws {
        folder = try Self.makeFolder()
        try #require(mount("tmpfs", folder, "tmpfs", 0, "size=\(kibibytes)k") == 0)
    }

    package func makeReadOnly() throws {
        try #require(mount("tmpfs", folder, "tmpfs", Self.readOnlyRemount, "") == 0)
    }

    package func remove() {
        umount2(folder, Self.detach)
        rmdir(folder)
    }

    /// Writes a file that takes all room that is left.
    package func fill() throws {
        let block = Data(count: 4_096)
        let file = open(filler, O_WRONLY | O_CREAT, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        while block.withUnsafeBytes({ write(file, $0.baseAddress, $0.count) }) > 0 {}
    }

    /// Removes what ``fill()`` wrote.
    package func empty() { unlink(filler) }

    private var filler: String { folder + "/filler" }
}
