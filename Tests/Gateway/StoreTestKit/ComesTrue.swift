// SPDX-License-Identifier: Apache-2.0

/// Polls a condition that no event announces, for at most twenty seconds; whether it came true.
package func comesTrue(_ condition: () async throws -> Bool) async throws -> Bool {
    for _ in 0..<2_000 {
        if try await condition() { return true }
        try await Task.sleep(for: .milliseconds(10))
    }
    return false
}
