// SPDX-License-Identifier: Apache-2.0

public import Gateway
public import WakeModel

/// An answer of APNs to a request about a channel, or why there is none.
public typealias ChannelResult<Value: Hashable & Sendable> = Result<
    ChannelAnswer<Value>, SendFailure
>

/// What asks APNs about the broadcast channels of apps, and sends to them.
///
/// Nothing of it is kept or queued: each call is one request to APNs and its answer.
public protocol ChannelService: Sendable {
    /// Makes a channel.
    func createChannel(
        of app: AppIdentity, storing storage: ChannelStorage
    ) async -> ChannelResult<ChannelID>

    /// Reads what a channel stores.
    func storage(
        of channel: ChannelID, of app: AppIdentity
    ) async -> ChannelResult<ChannelStorage>

    /// Reads the ids of all channels of an app.
    func channels(of app: AppIdentity) async -> ChannelResult<[ChannelID]>

    /// Deletes a channel, for good.
    func deleteChannel(
        _ channel: ChannelID, of app: AppIdentity
    ) async -> ChannelResult<Acknowledgement>

    /// Sends a broadcast for an app, whose bundle id it has.
    func send(
        _ broadcast: Broadcast, for app: AppIdentity
    ) async -> ChannelResult<Acknowledgement>
}
