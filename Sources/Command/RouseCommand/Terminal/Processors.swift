// SPDX-License-Identifier: Apache-2.0

import CProcess
import NIOCore

/// The processors of the machine.
enum Processors {
    /// The number that this process may use, by its affinity and, in a container, by its
    /// control group, as for `docker run --cpus`.
    static var usableCount: Int { min(Int(CProcess_processor_count()), System.coreCount) }
}
