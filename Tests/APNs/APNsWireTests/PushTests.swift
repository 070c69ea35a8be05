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
        for kind in WakeKind.allCases {
            let type = kind.pushType
            func make(_ payload: [UInt8]) throws -> Push {
                try .wake(kind, to: device, of: app, payload: payload, apnsID: id)
            }
            let limit = type == .voip ? 5120 : 4096
            let push = try make(bytes(limit))
            #expect(push.type == type)
            #expect(push.payload.count == limit)
            #expect(push.priority == kind.defaultPriority)
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

    @Test("a kind takes the priorities that Apple allows for it, and no other")
    func priorities() throws {
        for kind in WakeKind.allCases {
            for priority in Priority.allCases {
                func make() throws -> Push {
                    try .wake(
                        kind, to: device, of: app, payload: bytes(1), priority: priority,
                        apnsID: id)
                }
                if kind.allowedPriorities.contains(priority) {
                    #expect(try make().priority == priority)
                } else {
                    let refusal = #expect(throws: InvalidField.self) { try make() }
                    #expect(refusal?.field == "priority")
                }
            }
        }
    }

    @Test(
        "what is worth nothing later has expiration 0 unless it says another; a call never merges")
    func headers() throws {
        for kind in WakeKind.allCases {
            let push = try Push.wake(
                kind, to: device, of: app, payload: bytes(1), collapseID: CollapseID("x"),
                apnsID: id)
            let isNow = [.voip, .pushtotalk, .controls].contains(kind)
            #expect(push.expiration == (isNow ? .immediately : nil))
            #expect((push.collapseID == nil) == (kind == .voip))
        }
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
