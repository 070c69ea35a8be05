// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Gateway
import Glibc
import StorePostgreSQL
import StoreSQLite

/// Looks at the place of a gateway's store, and changes nothing there: whether the store can be
/// made or written, and whether what is there is one.
enum StoreCheck {
    /// What every database of SQLite begins with (sqlite.org/fileformat.html §1.3), its final zero
    /// included.
    private static let magic = Array("SQLite format 3\0".utf8)
    /// How long the header of a database is, in bytes.
    private static let headerByteCount = 100
    /// What is left of a disk where a store is soon full, in bytes.
    private static let littleRoom: UInt64 = 256 << 20
    /// What is left where a store is full already, in bytes.
    private static let noRoom: UInt64 = 4 << 20

    /// What was found.
    static func findings(of configuration: ServeConfiguration) async -> [DoctorChecks.Finding] {
        if let url = configuration.storeURL { return await shared(url, configuration) }
        let path = SQLiteWakeStore.place(of: configuration.storePath)
        if let fault = folderFault(path) ?? fault(of: path) { return [fault] }
        let room = roomFault(folder(of: path))
        if let room, room.state == .wrong { return [room] }
        let isThere = access(path, F_OK) == 0
        var findings: [DoctorChecks.Finding] = [
            .fine("store", isThere ? "\(path) can be written." : "\(path) will be made.")
        ]
        if let room { findings.append(room) }
        if configuration.storeDurability != .disk {
            findings.append(
                .warning(
                    "store",
                    "store-durability is \(configuration.storeDurability.rawValue): a power cut "
                        + "may take the last second of what was answered.",
                    "Write disk if an accepted wake must survive that."))
        }
        return findings
    }

    /// Whether the database answers, holds a store of this program's version, and keeps what it
    /// acknowledges.
    private static func shared(
        _ url: String, _ configuration: ServeConfiguration
    ) async -> [DoctorChecks.Finding] {
        let settings = configuration.sharedStoreSettings
        do throws(StoreFailure) {
            let (version, remarks) = try await PostgreSQLWakeStore.survey(
                url: url, settings: settings)
            return (version.map { [tables($0)] } ?? [])
                + remarks.map { remark in
                    switch remark.weight {
                    case .losesCommits where !settings.acceptsLoss:
                        .wrong(
                            "store", remark.problem,
                            "\(remark.cure) \(DatabaseRemark.acceptance)", .unavailable)
                    case .refused: .wrong("store", remark.problem, remark.cure, .unavailable)
                    case .warning, .losesCommits:
                        .warning("store", remark.problem, remark.cure)
                    }
                }
        } catch {
            return [
                .wrong(
                    "store", "The database cannot be used: \(error)",
                    "See to what it says, or name another one under store.", .unavailable)
            ]
        }
    }

    private static func tables(_ version: Int) -> DoctorChecks.Finding {
        let known = PostgreSQLWakeStore.schemaVersion
        if version == known {
            return .fine("store", "The database answers; its tables are of version \(version).")
        }
        guard version <= known else {
            return .wrong(
                "store",
                "The database's tables are of version \(version), newer than \(known).",
                "Use the version of rouse that made them.")
        }
        return .wrong(
            "store",
            version == 0
                ? "The database holds no store."
                : "The database's tables are of version \(version), older than \(known).",
            "Run rouse store migrate with this configuration.")
    }

    private static func folder(of path: String) -> String {
        URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
    }

    /// Whether the disk of a folder has little room for a store, or none; `nil` if it has enough or
    /// does not say.
    static func roomFault(_ folder: String) -> DoctorChecks.Finding? {
        var status = statvfs()
        guard statvfs(folder, &status) == 0, status.f_frsize > 0 else { return nil }
        let bytes = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        // What overflows is without a limit.
        guard !bytes.overflow, bytes.partialValue < littleRoom else { return nil }
        let problem = "The disk of \(folder) has \(bytes.partialValue >> 20) MiB left."
        let cure = "Make room: a gateway whose disk is full accepts nothing."
        return bytes.partialValue < noRoom
            ? .wrong("store", problem, cure, .unavailable) : .warning("store", problem, cure)
    }

    private static func folderFault(_ path: String) -> DoctorChecks.Finding? {
        let folder = folder(of: path)
        guard access(folder, F_OK) == 0 else {
            return .wrong(
                "store", "\(path) has no folder yet.",
                "Make it for the gateway's user: install -d -m 0700 \(folder)", .notAllowed)
        }
        // The lock and the log are beside the file itself.
        let files = [path] + ["-wal", "-shm", ".lock"].map { path + $0 }
        let isWritable = files.allSatisfy { access($0, F_OK) != 0 || access($0, R_OK | W_OK) == 0 }
        guard access(folder, W_OK) == 0, isWritable else {
            return .wrong(
                "store", "\(path) cannot be written.",
                "Let this user write the file, those beside it and its folder.", .notAllowed)
        }
        return nil
    }

    private static func fault(of path: String) -> DoctorChecks.Finding? {
        var status = stat()
        guard stat(path, &status) == 0 else { return makingFault(path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            return .wrong("store", "\(path) is no file.", "Name the file itself under store.")
        }
        guard status.st_nlink == 1 else {
            return .wrong(
                "store", "\(path) has \(status.st_nlink) names (hard links).",
                "Remove the other names, or give a copy of the file.")
        }
        guard status.st_uid == geteuid() || geteuid() == 0 else {
            return .wrong(
                "store", "\(path) is another user's.",
                "Run the doctor as the gateway's user, or give the file to this one.", .notAllowed)
        }
        // A gateway makes a store of an empty file.
        guard status.st_size > 0 else { return makingFault(path) }
        guard isDatabase(path, status.st_size) else {
            return .wrong(
                "store", "\(path) is no database of SQLite.",
                "Name another file under store, or restore this one from a backup.")
        }
        return versionFault(path)
    }

    private static func makingFault(_ path: String) -> DoctorChecks.Finding? {
        SQLiteWakeStore.refusalToMake(path: path).map {
            .wrong("store", $0, "Bring the database back to its place, or restore a backup.")
        }
    }

    private static func versionFault(_ path: String) -> DoctorChecks.Finding? {
        do throws(StoreFailure) {
            if let refusal = try SQLiteWakeStore.refusal(path: path) {
                return .wrong(
                    "store", refusal, "Do as it says, or name another file under store.")
            }
            guard try SQLiteWakeStore.isOfNewerVersion(path: path) else { return nil }
            return .wrong(
                "store", "\(path) was written by a newer version of rouse.",
                "Use that version, or name another file under store.")
        } catch {
            return .wrong(
                "store", "\(path) cannot be read: \(error.message)",
                "Name another file under store, or restore this one from a backup.")
        }
    }

    private static func isDatabase(_ path: String, _ byteCount: Int) -> Bool {
        guard byteCount >= headerByteCount else { return false }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        return Descriptor(descriptor).read(upTo: magic.count) == magic
    }
}
