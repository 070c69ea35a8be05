// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// What a caller who showed a secret may do, for as long as that lasts.
struct KeyGrant: Sendable {
    /// The key, as it was when the secret was shown.
    let key: APIKey
    /// The secret that was shown.
    let secret: APIKey.Secret
    /// Where the key is from.
    let ring: KeyRing

    /// Whether the caller may not go on by now; see ``end()``.
    var isOver: Bool { ring.isOver(self) }

    /// Returns when the caller may not go on: its key or this secret was revoked or has expired, or
    /// the key's scopes or apps are others. Returns when the task is cancelled too.
    func end() async { await ring.end(of: self) }
}
