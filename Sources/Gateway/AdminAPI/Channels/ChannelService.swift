// SPDX-License-Identifier: Apache-2.0

public import Gateway
public import WakeModel

/// An answer of APNs to a request about a channel, or why there is none.
public typealias ChannelResult<Value: Hashable & Sendable> = Result<
    ChannelAnswer<Value>, SendFailure
>

/// A client for APNs' broadcast channels: manages the channels of apps and sends to them.
///
/// Each call is one request to APNs and its answer; nothing is stored or queued.
public protocol ChannelService: Sendable {
    /// Creates a channel.
    func createChannel(
        of app: AppIdentity, storing storage: ChannelStorage
    ) async -> ChannelResult<ChannelID>

    /// Reads the storage policy of a channel.
    func storage(
        of channel: ChannelID, of app: AppIdentity
    ) async -> ChannelResult<ChannelStorage>

    /// Reads the ids of all channels of an app.
    func channels(of app: AppIdentity) async -> ChannelResult<[ChannelID]>

    /// Deletes a channel. This cannot be undone.
    func deleteChannel(
        _ channel: ChannelID, of app: AppIdentity
    ) async -> ChannelResult<Acknowledgement>

    /// Sends a broadcast. `app` has the broadcast's bundle id, and selects the environment.
    func send(
        _ broadcast: Broadcast, for app: AppIdentity
    ) async -> ChannelResult<Acknowledgement>
}
