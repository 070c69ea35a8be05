// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Gateway
import GatewayTestKit
import Synchronization
import WakeModel

/// The channels of a gateway in a test: one of the sample app is there, and what was asked for is
/// kept. A test can have the next request refused or unanswered.
final class ScriptedChannels: ChannelService {
    private struct State {
        var channels: [AppIdentity: [ChannelID: ChannelStorage]] = [:]
        var created = 0
        var lastChanged: ChannelID?
        var broadcasts: [Broadcast] = []
        var rejection: ChannelRejection?
        var failure: SendFailure?
    }

    /// The channel that is there at first; its id needs an escape in a path.
    let first: ChannelID
    private let state: Mutex<State>

    init() {
        guard let first = try? ChannelID("ab/+cd==") else { preconditionFailure("It is one.") }
        self.first = first
        state = Mutex(State(channels: [Samples.app: [first: .latest]]))
    }

    /// An id as it stands in a path.
    static func encoded(_ channel: ChannelID) -> String {
        channel.value.replacing("/", with: "%2F").replacing("+", with: "%2B")
            .replacing("=", with: "%3D")
    }

    /// The channel that was made or deleted last.
    var lastChanged: ChannelID { state.withLock { $0.lastChanged } ?? first }

    /// What was sent.
    var broadcasts: [Broadcast] { state.withLock { $0.broadcasts } }

    func rejectNext(_ rejection: ChannelRejection) { state.withLock { $0.rejection = rejection } }

    func failNext(_ failure: SendFailure) { state.withLock { $0.failure = failure } }

    private func answer<Value>(
        _ status: Int, _ app: AppIdentity, _ channel: ChannelID? = nil,
        _ body: (inout State) -> Value
    ) -> ChannelResult<Value> {
        state.withLock { state in
            if let failure = state.failure.take() { return .failure(failure) }
            if let rejection = state.rejection.take() { return .success(.rejected(rejection)) }
            if let channel, state.channels[app]?[channel] == nil {
                return .success(
                    .rejected(ChannelRejection(status: 400, reason: .channelNotRegistered)))
            }
            let receipt = ChannelReceipt(
                status: status, requestID: "123e4567-e89b-42d3-a456-426614174000")
            return .success(.done(body(&state), receipt))
        }
    }

    func createChannel(
        of app: AppIdentity, storing storage: ChannelStorage
    ) async -> ChannelResult<ChannelID> {
        answer(201, app) { state in
            state.created += 1
            guard let channel = try? ChannelID("new\(state.created)") else {
                preconditionFailure("It is one.")
            }
            state.channels[app, default: [:]][channel] = storage
            state.lastChanged = channel
            return channel
        }
    }

    func storage(
        of channel: ChannelID, of app: AppIdentity
    ) async -> ChannelResult<ChannelStorage> {
        answer(200, app, channel) { $0.channels[app]?[channel] ?? .none }
    }

    func channels(of app: AppIdentity) async -> ChannelResult<[ChannelID]> {
        answer(200, app) { state in
            (state.channels[app] ?? [:]).keys.sorted { $0.value < $1.value }
        }
    }

    func deleteChannel(
        _ channel: ChannelID, of app: AppIdentity
    ) async -> ChannelResult<Acknowledgement> {
        answer(204, app, channel) { state in
            state.channels[app]?[channel] = nil
            state.lastChanged = channel
            return Acknowledgement()
        }
    }

    func send(
        _ broadcast: Broadcast, for app: AppIdentity
    ) async -> ChannelResult<Acknowledgement> {
        answer(200, app, broadcast.channel) { state in
            state.broadcasts.append(broadcast)
            return Acknowledgement()
        }
    }
}
