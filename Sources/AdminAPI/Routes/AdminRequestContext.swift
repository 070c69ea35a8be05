// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import NIOCore

/// What a request carries along through the routes.
struct AdminRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection, for interim answers.
    let channel: any Channel
    /// The key that the caller showed; `nil` where none is asked for.
    var caller: APIKey?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The caller's name, for digests and logs.
    var callerName: String { caller?.name ?? "" }
}
