// SPDX-License-Identifier: Apache-2.0

/// Lets so many through at a time, in the order in which they come.
package actor Gate {
    private var room: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Creates a gate.
    package init(_ room: Int) { self.room = room }

    /// Waits for room, and carries out `body`.
    package nonisolated func pass(_ body: () async throws -> Void) async throws {
        await enter()
        do {
            try await body()
        } catch {
            await leave()
            throw error
        }
        await leave()
    }

    private func enter() async {
        guard room == 0 else {
            room -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        room += 1
    }
}
