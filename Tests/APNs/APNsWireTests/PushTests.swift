// SPDX-License-Identifier: Apache-2.0

import APNsWire
import PushTransport
import Testing
import WakeModel

@Suite("Push")
struct PushTests {
    private let device: DeviceToken
    private let app: BundleID
    private let id = APNsID(entropy: 1, 2)

    init() throws {
        device = try DeviceToken(hex: String(repeating: "c0ffee11", count: 8))
        app = try BundleID("com.example.app")
    }

    private func bytes(_ count: Int) -> [UInt8] {
        Array(repeating: UInt8(ascii: "x"), count: count)
    }

    @Test("each kind takes its type's largest payload and not one byte more")
    func size() throws {
        typealias Factory = ([UInt8]) throws -> Push
        let factories: [(PushType, Factory)] = [
            (.background, { try .background(to: device, of: app, payload: $0, apnsID: id) }),
            (.voip, { try .voip(to: device, of: app, payload: $0, apnsID: id) }),
            (
                .location,
                { try .location(to: device, of: app, payload: $0, isImmediate: true, apnsID: id) }
            ),
            (.pushtotalk, { try .pushToTalk(to: device, of: app, payload: $0, apnsID: id) }),
            (.fileprovider, { try .fileProvider(to: device, of: app, payload: $0, apnsID: id) }),
            (.complication, { try .complication(to: device, of: app, payload: $0, apnsID: id) }),
            (.widgets, { try .widgets(to: device, of: app, payload: $0, apnsID: id) }),
            (.controls, { try .controls(to: device, of: app, payload: $0, apnsID: id) }),
        ]
        for (type, make) in factories {
            let limit = type == .voip ? 5120 : 4096
            let push = try make(bytes(limit))
            #expect(push.type == type)
            #expect(push.payload.count == limit)
            #expect(type.allowedPriorities.contains(push.priority))
            #expect(push.topic == app.topic(for: type))
            #expect(push.apnsID == id)
            let tooLarge = #expect(throws: InvalidField.self) { try make(bytes(limit + 1)) }
            #expect(
                tooLarge?.problem.contains("\(limit + 1) bytes, more than the \(limit)") == true)
            let empty = #expect(throws: InvalidField.self) { try make([]) }
            #expect(empty?.problem.contains("is empty") == true)
        }
    }

    @Test("a wake is a push of its kind; VoIP without an expiration gets 0")
    func wakes() throws {
        let background = try Push.wake(
            .background, to: device, of: app, payload: bytes(1), expiration: nil,
            collapseID: CollapseID("x"), apnsID: id)
        let direct = try Push.background(
            to: device, of: app, payload: bytes(1), collapseID: CollapseID("x"), apnsID: id)
        #expect(background == direct)
        #expect(background.priority == .powerConsiderate)
        #expect(background.expiration == nil)
        let call = try Push.wake(
            .voip, to: device, of: app, payload: bytes(1), expiration: nil, apnsID: id)
        #expect(call == (try .voip(to: device, of: app, payload: bytes(1), apnsID: id)))
        #expect(call.priority == .immediate)
        #expect(call.expiration == .immediately)
    }

    @Test("no description or dump of a push or its request shows token, payload or JWT")
    func redaction() throws {
        let push = try Push.background(
            to: device, of: app, payload: Array("{\"a\":1}".utf8), apnsID: id)
        var encoder = RequestEncoder(providerToken: "jwt.s3cret.jwt")
        let request = encoder.encode(push)
        var shown = "\(push) \(String(reflecting: push)) \(request) \(String(reflecting: request))"
        dump(push, to: &shown)
        dump(request, to: &shown)
        dump(request.sharedHeaders, to: &shown)
        dump(TransportRequest(id: 1, request: request, timeout: .seconds(1)), to: &shown)
        #expect(!shown.contains("c0ffee11"))
        #expect(!shown.contains("s3cret"))
        #expect(!shown.contains("123, 34, 97") && !shown.contains("- 123\n"))
        #expect("\(push)".hasPrefix("background push \(id) of com.example.app to device#"))
    }
}
