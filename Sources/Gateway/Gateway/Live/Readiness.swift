// SPDX-License-Identifier: Apache-2.0

/// Whether the gateway can do its work.
public struct Readiness: Hashable, Sendable {
    /// What stands in its way, each as a sentence; empty when it is ready.
    public let obstacles: [String]

    /// Names the obstacles.
    public init(obstacles: [String]) { self.obstacles = obstacles }

    /// Whether nothing stands in its way.
    public var isReady: Bool { obstacles.isEmpty }
}
