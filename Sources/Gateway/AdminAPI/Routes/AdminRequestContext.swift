// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import Logging
import NIOCore
import Synchronization
import WakeModel

/// The state of a request that the middleware and the routes share.
struct AdminRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection, for interim responses and for the detection of a disconnect.
    let channel: any Channel
    /// The id of the request, for the answer and the log.
    let id: String
    private let slot = RequestSlot()

    /// The key of the id in the log.
    static let idKey = "hb.request.id"

    /// The grant of the caller's key; `nil` if no key is required, and before the authentication.
    ///
    /// All copies of a context share it: the route sets it, and the middleware around the routes,
    /// which has an earlier copy, reads it for the log.
    var grant: KeyGrant? {
        get { slot.grant.withLock { $0 } }
        nonmutating set { slot.grant.withLock { $0 = newValue } }
    }

    /// The caller's key.
    var caller: APIKey? { grant?.key }

    /// The apps that the caller may send to and read; `nil` for all.
    var apps: Set<BundleID>? { caller?.apps }

    /// The caller's address and port for the audit log, or a text that names a Unix domain socket.
    var origin: String {
        guard let address = channel.remoteAddress, let host = address.ipAddress else {
            return "unix socket"
        }
        let port = address.port.map { ":\($0)" } ?? ""
        return (host.contains(":") ? "[\(host)]" : host) + port
    }

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        // Hummingbird's, if it has made the logger.
        let known = source.logger[metadataKey: Self.idKey]?.description
        id = Self.padded(known ?? RequestID().description)
        if let known, known != id { self.logger[metadataKey: Self.idKey] = "\(id)" }
    }

    /// The id with all of its digits: Hummingbird leaves out zeros in front.
    static func padded(_ id: String) -> String {
        String(repeating: "0", count: max(0, 32 - id.utf8.count)) + id
    }

    /// Counts bytes against a budget until the request has ended. Returns whether there was room.
    func takeBodyBytes(_ count: Int, of budget: BodyBudget) -> Bool {
        slot.share.withLock { share in
            let present = share ?? BodyShare(of: budget)
            share = present
            return present.take(count)
        }
    }

    /// The name of the caller's key, for digests and logs; empty without a key.
    var callerName: String { caller?.name ?? "" }
}

/// The state that the copies of a request's context share: its grant, and the bytes of its body.
private final class RequestSlot: Sendable {
    let grant = Mutex<KeyGrant?>(nil)
    let share = Mutex<BodyShare?>(nil)
}
