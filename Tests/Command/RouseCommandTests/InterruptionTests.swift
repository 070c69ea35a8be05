// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import RouseCommand

@Suite("Interruptions")
struct InterruptionTests {
    @Test("Asking whether a signal is ignored changes nothing, and loses no signal that is pending")
    func question() async {
        let isPending = await withCheckedContinuation { continuation in
            // A thread of its own, where the signal waits.
            Thread.detachNewThread {
                var signals = sigset_t()
                sigemptyset(&signals)
                sigaddset(&signals, SIGUSR2)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                pthread_kill(pthread_self(), SIGUSR2)
                let answer = isIgnored(SIGUSR2)
                var pending = sigset_t()
                sigpending(&pending)
                let isPending = sigismember(&pending, SIGUSR2) == 1
                var none = timespec()
                sigtimedwait(&signals, nil, &none)
                continuation.resume(returning: !answer && isPending)
            }
        }
        #expect(isPending)
        let former = signal(SIGUSR2, SIG_IGN)
        #expect(isIgnored(SIGUSR2))
        signal(SIGUSR2, former)
    }
}
