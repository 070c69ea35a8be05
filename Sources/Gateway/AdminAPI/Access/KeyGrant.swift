// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The rights of a caller with an accepted secret. They end when the key is changed, revoked or
/// expired.
struct KeyGrant: Sendable {
    /// The key, as it was at the authentication.
    let key: APIKey
    /// The secret that the caller sent.
    let secret: APIKey.Secret
    /// The key ring of the key.
    let ring: KeyRing

    /// Whether the rights have ended; see ``end()``.
    var isOver: Bool { ring.isOver(self) }

    /// Returns when the rights end: the key or this secret was revoked or has expired, or the key's
    /// scopes or apps have changed. Also returns when the task is cancelled.
    func end() async { await ring.end(of: self) }
}
