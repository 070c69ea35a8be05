// SPDX-License-Identifier: Apache-2.0

import APNsWire
import PushTransport
import Testing
import WakeModel

@Suite("Request encoder")
struct RequestEncoderTests {
    /// A push of some kind and the fields it must have, in order, after `authorization`.
    struct Golden {
        let name: String
        let push: Push
        let shared: [String]
        let own: [String]
        var isUrgent = false
    }

    static let id = "123e4567-e89b-42d3-a456-426614174000"
    static let payload = Array(#"{"aps":{"content-available":1}}"#.utf8)
    static let hex = String(repeating: "a5", count: 32)

    static func goldens() throws -> [Golden] {
        let device = try DeviceToken(hex: hex.uppercased())
        let app = try BundleID("com.example.app")
        let apnsID = try APNsID(id)
        let later = Expiration.at(WallInstant(secondsSinceEpoch: 1_795_253_640))
        return [
            Golden(
                name: "background",
                push: try .background(to: device, of: app, payload: payload, apnsID: apnsID),
                shared: ["com.example.app", "background", "5"], own: ["apns-id: \(id)"]),
            Golden(
                name: "background with expiration and collapse id",
                push: try .background(
                    to: device, of: app, payload: payload, expiration: later,
                    collapseID: CollapseID("sync"), apnsID: apnsID),
                shared: ["com.example.app", "background", "5"],
                own: [
                    "apns-id: \(id)", "apns-expiration: 1795253640", "apns-collapse-id: sync",
                ]),
            Golden(
                name: "voip",
                push: try .voip(to: device, of: app, payload: payload, apnsID: apnsID),
                shared: ["com.example.app.voip", "voip", "10"],
                own: ["apns-id: \(id)", "apns-expiration: 0"], isUrgent: true),
            Golden(
                name: "voip with expiration",
                push: try .voip(
                    to: device, of: app, payload: payload, expiration: later, apnsID: apnsID),
                shared: ["com.example.app.voip", "voip", "10"],
                own: ["apns-id: \(id)", "apns-expiration: 1795253640"], isUrgent: true),
            Golden(
                name: "location, at once",
                push: try .wake(.location, to: device, of: app, payload: payload, apnsID: apnsID),
                shared: ["com.example.app.location-query", "location", "10"],
                own: ["apns-id: \(id)"]),
            Golden(
                name: "location, when convenient",
                push: try .wake(
                    .location, to: device, of: app, payload: payload, priority: .powerConsiderate,
                    expiration: later, apnsID: apnsID),
                shared: ["com.example.app.location-query", "location", "5"],
                own: ["apns-id: \(id)", "apns-expiration: 1795253640"]),
            Golden(
                name: "push to talk",
                push: try .wake(.pushtotalk, to: device, of: app, payload: payload, apnsID: apnsID),
                shared: ["com.example.app.voip-ptt", "pushtotalk", "10"],
                own: ["apns-id: \(id)", "apns-expiration: 0"], isUrgent: true),
            Golden(
                name: "file provider",
                push: try .wake(
                    .fileprovider, to: device, of: app, payload: payload, apnsID: apnsID),
                shared: ["com.example.app.pushkit.fileprovider", "fileprovider", "5"],
                own: ["apns-id: \(id)"]),
            Golden(
                name: "complication",
                push: try .wake(
                    .complication, to: device, of: app, payload: payload, apnsID: apnsID),
                shared: ["com.example.app.complication", "complication", "5"],
                own: ["apns-id: \(id)"]),
            Golden(
                name: "widgets",
                push: try .wake(
                    .widgets, to: device, of: app, payload: payload, priority: .powerFirst,
                    apnsID: apnsID),
                shared: ["com.example.app.push-type.widgets", "widgets", "1"],
                own: ["apns-id: \(id)"]),
            Golden(
                name: "controls",
                push: try .wake(.controls, to: device, of: app, payload: payload, apnsID: apnsID),
                shared: ["com.example.app.push-type.controls", "controls", "10"],
                own: ["apns-id: \(id)", "apns-expiration: 0"]),
        ]
    }

    private func lines(_ fields: [HeaderField]) -> [String] {
        fields.map { "\($0.name): \($0.value)" }
    }

    @Test("every push kind has exactly these fields, in this order", arguments: 0..<11)
    func golden(index: Int) throws {
        let golden = try Self.goldens()[index]
        var encoder = RequestEncoder(providerToken: "a.b.c")
        let request = encoder.encode(golden.push)
        #expect(request.path == "/3/device/" + Self.hex, "\(golden.name)")
        #expect(
            lines(request.sharedHeaders.fields) == [
                "authorization: bearer a.b.c", "apns-topic: \(golden.shared[0])",
                "apns-push-type: \(golden.shared[1])", "apns-priority: \(golden.shared[2])",
            ])
        #expect(lines(request.headers) == golden.own)
        #expect(request.body == Self.payload)
        #expect(request.isUrgent == golden.isUrgent)
    }

    @Test("there is a golden request for each type that wakes an app")
    func goldensAreComplete() throws {
        let types = try Set(Self.goldens().map(\.push.type))
        #expect(try Self.goldens().count == 11)
        #expect(Set(PushType.all).subtracting(types) == [.alert, .mdm, .liveactivity])
    }

    @Test("without a provider token there is no authorization field")
    func certificate() throws {
        var encoder = RequestEncoder(providerToken: nil)
        let request = encoder.encode(try Self.goldens()[0].push)
        #expect(
            lines(request.sharedHeaders.fields) == [
                "apns-topic: com.example.app", "apns-push-type: background", "apns-priority: 5",
            ])
    }

    @Test("pushes with the same topic, type and priority share one block; others do not")
    func sharing() throws {
        var encoder = RequestEncoder(providerToken: "a.b.c")
        let pushes = try Self.goldens().map(\.push)
        let first = encoder.encode(pushes[0]).sharedHeaders
        #expect(encoder.encode(pushes[1]).sharedHeaders === first)
        #expect(encoder.encode(pushes[2]).sharedHeaders !== first)
        #expect(encoder.encode(pushes[4]).sharedHeaders !== encoder.encode(pushes[5]).sharedHeaders)
    }

    @Test("more topics than are remembered are encoded all the same")
    func manyTopics() throws {
        var encoder = RequestEncoder(providerToken: nil)
        for number in 0..<(2 * RequestEncoder.maximumSharedBlocks) {
            let push = try Push.background(
                to: DeviceToken(hex: "00"), of: BundleID("com.example.app\(number)"),
                payload: Self.payload, apnsID: APNsID(Self.id))
            let fields = encoder.encode(push).sharedHeaders.fields
            #expect(fields.first?.value == "com.example.app\(number)")
        }
    }
}
