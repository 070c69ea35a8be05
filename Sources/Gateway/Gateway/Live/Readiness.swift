// SPDX-License-Identifier: Apache-2.0

/// Whether the gateway can do its work.
public struct Readiness: Hashable, Sendable {
    /// The reasons why it is not ready, each as a sentence; empty when it is.
    public let obstacles: [String]

    /// Creates a readiness.
    public init(obstacles: [String]) { self.obstacles = obstacles }

    /// Whether there are no obstacles.
    public var isReady: Bool { obstacles.isEmpty }
}
