// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The values that detect a replaced file.
struct FileStamp: Hashable, Sendable {
    private static let missing: Int64 = -1

    private let parts: [Int64]

    /// Whether the first file is not there.
    var isMissing: Bool { parts.first == Self.missing }

    /// The stamp of files; a missing one has a distinct stamp.
    init(paths: [String]) {
        parts = paths.flatMap { path -> [Int64] in
            var status = stat()
            guard stat(path, &status) == 0 else { return [Self.missing] }
            return [
                Int64(bitPattern: UInt64(status.st_ino)), Int64(status.st_size),
                Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec),
            ]
        }
    }
}

/// Credentials that were opened, for reloads: a key whose file is the same keeps its provider
/// token, because APNs refuses a key whose token changes too often (facts §4.1). Used by one task
/// at a time; the lock makes it safe for several.
final class CredentialCache: Sendable {
    private let opened = Mutex<[CredentialSource: (stamp: FileStamp, credential: Credential)]>([:])

    /// The credential, opened now or before, and the stamp of its files.
    func open(
        _ source: CredentialSource, _ variables: Variables
    ) throws(CommandFailure) -> (Credential, FileStamp) {
        let stamp = FileStamp(paths: source.paths)
        if let known = opened.withLock({ $0[source] }), known.stamp == stamp {
            return (known.credential, stamp)
        }
        let credential = try source.open(variables)
        opened.withLock { $0[source] = (stamp, credential) }
        return (credential, stamp)
    }
}

extension CredentialSource {
    /// Its files.
    fileprivate var paths: [String] {
        switch self {
        case .key(.file(let path), _, _), .pkcs12(let path): [path]
        case .key(.variable, _, _): []
        case .certificate(let path, let keyPath): [path, keyPath]
        }
    }
}
