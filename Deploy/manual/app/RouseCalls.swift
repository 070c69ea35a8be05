// SPDX-License-Identifier: Apache-2.0
//
// The app's side of VoIP pushes, beside RouseWake.swift. It needs the background mode Voice over
// IP. Take it only if the app has calls: App Review refuses the mode otherwise, and an app that
// shows no call for a VoIP push is terminated, and after a few times not launched any more.

import CallKit
import PushKit
import UIKit

/// Turns each VoIP push into a call that rings.
///
/// Make one at each launch, in `application(_:didFinishLaunchingWithOptions:)`, and keep it: a push
/// launches the app, and PushKit asks for the delegate at once.
@MainActor
final class RouseCalls: NSObject {
    /// After so many seconds nobody is on the line any more.
    nonisolated static let staleSeconds: TimeInterval = 30

    private let wakes: RouseWake
    private let registry = PKPushRegistry(queue: .main)
    private let provider: CXProvider
    private let answer: @MainActor (UUID) -> Void
    private let hangUp: @MainActor (UUID) -> Void

    /// `answer` connects to the server and starts the audio, `hangUp` ends it. Once the app is
    /// connected, what happens to the call comes over that connection, and not as another push:
    /// each VoIP push is one call that rings.
    init(
        wakes: RouseWake, answer: @escaping @MainActor (UUID) -> Void,
        hangUp: @escaping @MainActor (UUID) -> Void
    ) {
        self.wakes = wakes
        self.answer = answer
        self.hangUp = hangUp
        let configuration = CXProviderConfiguration()
        configuration.maximumCallGroups = 1
        configuration.supportedHandleTypes = [.generic]
        provider = CXProvider(configuration: configuration)
        super.init()
        // Both delegates are called on the main queue, which is what `assumeIsolated` rests on.
        provider.setDelegate(self, queue: .main)
        registry.delegate = self
        registry.desiredPushTypes = [.voIP]
    }

    /// Rings. Nothing may be waited for before the call is reported.
    private func ring(_ call: IncomingCall, then completion: @escaping @Sendable () -> Void) {
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: .generic, value: call.handle)
        update.hasVideo = false
        let id = call.id
        provider.reportNewIncomingCall(with: id, update: update) { error in
            // An error here is Do Not Disturb or a blocked caller; the push counts as reported.
            MainActor.assumeIsolated { if error != nil { self.hangUp(id) } }
            completion()
        }
        // What cannot be answered has been shown, and ends at once.
        if !call.isComplete || call.isStale {
            provider.reportCall(with: id, endedAt: nil, reason: .unanswered)
        }
        confirm(call)
    }

    private func confirm(_ call: IncomingCall) {
        guard call.isComplete else { return }
        let now = Date.now
        Task {
            await wakes.confirm(
                call.id.uuidString.lowercased(), launchedAt: now, synced: false)
        }
    }
}

/// What a VoIP push says.
nonisolated struct IncomingCall: Sendable {
    let id: UUID
    let handle: String
    /// Whether the push named its call.
    let isComplete: Bool
    /// Whether it comes so late that the caller has gone.
    let isStale: Bool

    /// Reads a payload such as `{"callUUID": "…", "handle": "Ann", "timestamp": 1795289297}`. One
    /// that says less still makes a call: each push must.
    init(_ payload: [AnyHashable: Any], now: Date = .now) {
        let named = (payload["callUUID"] as? String).flatMap { UUID(uuidString: $0) }
        id = named ?? UUID()
        isComplete = named != nil
        handle = payload["handle"] as? String ?? "Unknown"
        let began = (payload["timestamp"] as? NSNumber).map {
            Date(timeIntervalSince1970: $0.doubleValue)
        }
        isStale = began.map { now.timeIntervalSince($0) > RouseCalls.staleSeconds } ?? false
    }
}

// MARK: PushKit

extension RouseCalls: PKPushRegistryDelegate {
    nonisolated func pushRegistry(
        _ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials,
        for type: PKPushType
    ) {
        let token = pushCredentials.token
        MainActor.assumeIsolated { wakes.register(token, as: .voip) }
    }

    nonisolated func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload,
        for type: PKPushType, completion: @escaping @Sendable () -> Void
    ) {
        let call = IncomingCall(payload.dictionaryPayload)
        MainActor.assumeIsolated { ring(call, then: completion) }
    }

    /// iOS 26.4 and later call this one instead, and say whether a call has to be shown. Where none
    /// has to be, a call that is over stays silent.
    @available(iOS 26.4, *)
    nonisolated func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingVoIPPushWith payload: PKPushPayload,
        metadata: PKVoIPPushMetadata,
        withCompletionHandler completion: @escaping @Sendable () -> Void
    ) {
        let call = IncomingCall(payload.dictionaryPayload)
        let mayStaySilent = !metadata.mustReport && (call.isStale || !call.isComplete)
        MainActor.assumeIsolated {
            if mayStaySilent {
                confirm(call)
                completion()
            } else {
                ring(call, then: completion)
            }
        }
    }
}

// MARK: CallKit

extension RouseCalls: CXProviderDelegate {
    nonisolated func providerDidReset(_ provider: CXProvider) {
        // The system has ended all calls.
    }

    nonisolated func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        let id = action.callUUID
        MainActor.assumeIsolated { answer(id) }
        action.fulfill()
    }

    nonisolated func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        let id = action.callUUID
        MainActor.assumeIsolated { hangUp(id) }
        action.fulfill()
    }
}
