// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import NIOCore
import Synchronization
import WakeModel

/// What a request carries along through the routes.
struct AdminRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection, for interim answers and for whether its caller is still there.
    let channel: any Channel
    private let slot = RequestSlot()

    /// What the key that the caller showed grants; `nil` where none is asked for, and until it was
    /// looked at.
    ///
    /// All copies of a context have the same one: its route finds it out, and the middleware around
    /// the routes, which has a copy from before, names it in the log.
    var grant: KeyGrant? {
        get { slot.grant.withLock { $0 } }
        nonmutating set { slot.grant.withLock { $0 = newValue } }
    }

    /// The key that the caller showed.
    var caller: APIKey? { grant?.key }

    /// The apps that the caller may ask for and read of; `nil` for all.
    var apps: Set<BundleID>? { caller?.apps }

    /// Where the caller is, for the audit log: its address and port, or that it came by a socket of
    /// this machine.
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
    }

    /// Takes so many bytes of a budget until the request has ended. Returns whether the budget had
    /// them.
    func takeBodyBytes(_ count: Int, of budget: BodyBudget) -> Bool {
        slot.share.withLock { share in
            let present = share ?? BodyShare(of: budget)
            share = present
            return present.take(count)
        }
    }

    /// The caller's name, for digests and logs.
    var callerName: String { caller?.name ?? "" }
}

/// Where the copies of one request's context keep its caller, and what its body has taken.
private final class RequestSlot: Sendable {
    let grant = Mutex<KeyGrant?>(nil)
    let share = Mutex<BodyShare?>(nil)
}
