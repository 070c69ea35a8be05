// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StorePostgreSQL

@Suite("The mailbox of the pool's loop")
struct LinkMailboxTests {
    @Test("A shutdown that is requested while the loop is awake keeps it from sleeping")
    func shutdownWhileAwake() throws {
        let mailbox = try #require(LinkMailbox(callersReaders: 1))
        #expect(mailbox.takeMessages().shutdownDue == nil)
        #expect(mailbox.fallAsleep(knownShutdownDue: nil).mayWait)
        #expect(mailbox.takeMessages().shutdownDue == nil)
        mailbox.requestShutdown(due: 2_000)
        #expect(!mailbox.fallAsleep(knownShutdownDue: nil).mayWait)
        #expect(mailbox.takeMessages().shutdownDue == 2_000)
        #expect(mailbox.fallAsleep(knownShutdownDue: 2_000).mayWait)
        #expect(mailbox.takeMessages().shutdownDue == 2_000)
        // A shorter grace period.
        mailbox.requestShutdown(due: 1_000)
        #expect(!mailbox.fallAsleep(knownShutdownDue: 2_000).mayWait)
        #expect(mailbox.takeMessages().shutdownDue == 1_000)
    }
}
