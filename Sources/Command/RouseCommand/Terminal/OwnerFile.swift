// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// Files that only their owner can read: signing keys, digests of API keys.
///
/// Each is written completely under a temporary name in the same folder, then renamed: readers see
/// the old or the new one, also after a loss of power. None is written through a link, which
/// another user may have created.
struct OwnerFile {
    /// The mode of each.
    static let mode: mode_t = 0o600

    private let path: String
    /// Its name in errors.
    private let field: String

    /// The file at this path.
    init(_ path: String, _ field: String) {
        self.path = path
        self.field = "\(field) (\(path))"
    }

    /// Creates the file, or replaces it, once `confirm` has returned; a failure leaves the old one.
    ///
    /// A file written by root gets the owner of the file that it replaces, or of the folder, so
    /// that a gateway that runs as another user can still read it. `isDurable` is whether it
    /// survives a loss of power.
    func replace(
        with bytes: [UInt8], isDurable: Bool = true,
        after confirm: () throws(CommandFailure) -> Void = {}
    ) throws(CommandFailure) {
        let draft = try writeDraft(bytes, isDurable: isDurable)
        do throws(CommandFailure) {
            try confirm()
        } catch {
            unlink(draft)
            throw error
        }
        guard rename(draft, path) == 0 else { throw giveUp(draft) }
        if isDurable { try syncFolder() }
    }

    /// Makes the file; fails if there is one, or a link.
    func create(with bytes: [UInt8]) throws(CommandFailure) {
        let draft = try writeDraft(bytes, isDurable: true)
        // In contrast to a rename, this replaces nothing.
        guard link(draft, path) == 0 else { throw giveUp(draft) }
        unlink(draft)
        try syncFolder()
    }

    private func writeDraft(
        _ bytes: [UInt8], isDurable: Bool
    ) throws(CommandFailure) -> String {
        // A unique name, so that two programs that create one file do not write into the same one.
        let draft = "\(path).\(getpid()).new"
        // Removes the file of an interrupted run, which is never written to.
        unlink(draft)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = open(draft, flags, Self.mode)
        guard descriptor >= 0 else { throw unwritable(errno) }
        defer { close(descriptor) }
        handToOwner(descriptor)
        var rest = bytes[...]
        while !rest.isEmpty {
            // SAFETY: `write` reads at most as many bytes as the slice has, which is valid and
            // unchanged until the closure returns.
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw giveUp(draft) }
            rest = rest.dropFirst(count)
        }
        guard !isDurable || fsync(descriptor) == 0 else { throw giveUp(draft) }
        return draft
    }

    private func handToOwner(_ descriptor: Int32) {
        guard geteuid() == 0 else { return }
        var status = stat()
        guard lstat(path, &status) == 0 || stat(folder, &status) == 0 else { return }
        _ = fchown(descriptor, status.st_uid, status.st_gid)
    }

    /// The name of a file is durable once its folder is.
    private func syncFolder() throws(CommandFailure) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unwritable(errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw unwritable(errno) }
    }

    private var folder: String {
        URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
    }

    private func giveUp(_ draft: String) -> CommandFailure {
        let code = errno
        unlink(draft)
        return unwritable(code)
    }

    private func unwritable(_ code: Int32) -> CommandFailure {
        switch code {
        case ENOENT:
            CommandFailure(
                .notAllowed, "\(field) cannot be written: there is no such folder. Make it first.")
        case EEXIST:
            CommandFailure(.usage, "\(field) exists already. Name another file, or remove it.")
        default:
            CommandFailure(
                [ENOSPC, EDQUOT, EFBIG, EIO].contains(code) ? .output : .notAllowed,
                "\(field) cannot be written: \(String(cString: strerror(code))).")
        }
    }
}
