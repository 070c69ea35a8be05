// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The end of a connection on which nothing was said for too long.
extension ConnectionHandler {
    /// Answers the requests whose rest did not come with `IdleTimeout`, and ends the connection
    /// with the same reason. What came whole is still answered.
    func endSilence() {
        guard phase == .serving || phase == .draining else { return }
        let unfinished = requests.values.filter { !$0.isComplete }.map(\.stream).sorted()
        for stream in unfinished { answer(stream, with: .rejected(.idleTimeout)) }
        if phase == .serving {
            sendGoAway(
                Fault.GoAway(reason: .idleTimeout, lastStream: .highestSeen),
                stream: session.lastStream)
        }
        flush()
    }
}
