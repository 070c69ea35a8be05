// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushTransport
import Synchronization
import Testing
import WakeModel

@testable import LoopKit

@Suite("Refusals after the end")
struct LateRefusalsTests {
    /// A connection whose sink can reach it.
    private final class StoreConnection: Sendable {
        let answered = Mutex<[TransportRequest.ID]>([])
        private let box = Mutex<LateRefusals?>(nil)

        init(_ react: @escaping @Sendable (TransportRequest.ID, StoreConnection) -> Void) {
            let refusals = LateRefusals { [weak self] batch in
                guard let self else { return }
                for completion in batch {
                    #expect(completion.result == .failure(Self.failure))
                    answered.withLock { $0.append(completion.id) }
                    react(completion.id, self)
                }
            }
            box.withLock { $0 = refusals }
        }

        static let failure = TransportFailure(
            .shutDown, certainty: .notSent, detail: "the transport is shut down")

        func deliver(_ ids: TransportRequest.ID...) {
            box.withLock { $0 }?.deliver(
                ids.map { Completion(id: $0, result: .failure(Self.failure), context: nil) })
        }

        func refuse(_ ids: TransportRequest.ID...) {
            let request = WireRequest(
                to: nil, sharedHeaders: SharedHeaders([]), apnsID: APNsID(high: 0, low: 1),
                body: [1])
            box.withLock { $0 }?.refuse(
                ids.map { TransportRequest(id: $0, request: request, timeout: .seconds(1)) })
        }
    }

    @Test("one from inside the sink waits until the sink has returned, and is told before the end")
    func nested() {
        let depth = Mutex((now: 0, most: 0))
        let connection = StoreConnection { id, connection in
            depth.withLock { depth in
                depth.now += 1
                depth.most = max(depth.most, depth.now)
            }
            if id < 10 { connection.refuse(id * 10, id * 10 + 1) }
            depth.withLock { $0.now -= 1 }
        }
        connection.refuse(1, 2)
        #expect(connection.answered.withLock { $0 } == [1, 2, 10, 11, 20, 21])
        #expect(depth.withLock { $0.most } == 1)
        connection.refuse()
        connection.refuse(30)
        #expect(connection.answered.withLock { $0.last } == 30)
    }

    @Test("what is submitted from inside the last outcomes waits for their end too")
    func lastOutcomes() {
        let isInside = Mutex(false)
        let connection = StoreConnection { id, connection in
            #expect(!isInside.withLock { $0 }, "the sink was entered again")
            isInside.withLock { $0 = true }
            if id < 10 { connection.refuse(id * 10) }
            isInside.withLock { $0 = false }
        }
        connection.deliver(1, 2)
        #expect(connection.answered.withLock { $0 } == [1, 2, 10, 20])
        connection.deliver()
        connection.refuse(3)
        #expect(connection.answered.withLock { $0 } == [1, 2, 10, 20, 3, 30])
    }

    @Test("a thread outside the sink waits for nobody")
    func otherThread() {
        let connection = StoreConnection { id, connection in
            guard id == 1 else { return }
            let other = Thread { connection.refuse(2) }
            other.start()
            while !other.isFinished { usleep(1000) }
            #expect(connection.answered.withLock { $0 } == [1, 2])
        }
        connection.refuse(1)
    }
}
