// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import NIOCore
import Synchronization

/// What a request carries along through the routes.
struct AdminRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection, for interim answers and for whether its caller is still there.
    let channel: any Channel
    private let slot = RequestSlot()

    /// The key that the caller showed; `nil` where none is asked for, and until it was looked at.
    ///
    /// All copies of a context have the same one: its route finds it out, and the middleware around
    /// the routes, which has a copy from before, names it in the log.
    var caller: APIKey? {
        get { slot.key.withLock { $0 } }
        nonmutating set { slot.key.withLock { $0 = newValue } }
    }

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// Takes so many bytes of a budget until the request has ended. Whether there was room.
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
    let key = Mutex<APIKey?>(nil)
    let share = Mutex<BodyShare?>(nil)
}
