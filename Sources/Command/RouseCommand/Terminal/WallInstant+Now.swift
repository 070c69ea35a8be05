// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

extension WallInstant {
    /// The present instant by the machine's clock.
    static var now: WallInstant { SystemGatewayClock().now() }
}
