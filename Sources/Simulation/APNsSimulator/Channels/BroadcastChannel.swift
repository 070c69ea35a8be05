// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A broadcast channel of an app.
public struct BroadcastChannel: Hashable, Sendable {
    /// Its id.
    public var id: ChannelID
    /// What is kept of it for devices that are offline.
    public var storage: ChannelStorage
    /// How many broadcasts were taken.
    public var broadcastCount = 0
    /// The payload that is kept; `nil` for none.
    public var storedPayload: [UInt8]?

    init(id: ChannelID, storage: ChannelStorage) {
        self.id = id
        self.storage = storage
    }
}

/// The broadcast API (facts §2.5). The simulator serves it on the port of pushes, where Apple has
/// other hosts; its channels have no subscribers.
extension APNsSimulator {
    /// The channels of an app, in the order in which they were made.
    public func channels(of bundleID: BundleID) -> [BroadcastChannel] {
        state.channels.channels(of: bundleID.value)
    }

    /// Makes a channel, as a request would. `nil` when the app has as many as it may.
    @discardableResult
    public func createChannel(
        of bundleID: BundleID, storing storage: ChannelStorage = .none
    ) -> ChannelID? {
        state.channels.create(of: bundleID.value, storing: storage)
    }
}
