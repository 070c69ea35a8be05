// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("Documents")
struct DocumentReaderTests {
    private static func read(
        _ text: String, name: String = "a.json", as kind: InputKind? = nil
    ) -> PushDocument {
        DocumentReader(assumptions: PushAssumptions(), forcedKind: kind)
            .read(Array(text.utf8), name: name)
    }

    private static func payload(_ document: PushDocument) -> String? {
        document.item.map { String(decoding: $0.draft.payload, as: UTF8.self) }
    }

    @Test(
        "the kind is told by the content",
        arguments: [
            ("{\"aps\":{}}", InputKind.payload), ("[]", .payload), ("", .payload),
            ("{\"headers\":{},\"payload\":{}}", .request),
            ("{\"body\":{},\"headers\":{}}", .request),
            ("{\"payload\":{}}", .payload), ("{\"headers\":{}}", .payload),
            ("{\"Simulator Target Bundle\":\"x\",\"aps\":{}}", .apns),
            ("{\"h\\u0065aders\":{},\"payload\":{}}", .request),
            ("headers: {}\npayload: {}\n", .request), ("aps: {}\n", .payload),
            ("\u{feff}headers: {}\npayload: {}\n", .request),
        ])
    func kinds(text: String, kind: InputKind) {
        #expect(Self.read(text).kind == kind)
        // A line of JSON lines is told in the same way, though without reading YAML.
        guard text.hasPrefix("{") else { return }
        let reader = DocumentReader(assumptions: PushAssumptions(), forcedKind: nil)
        #expect(reader.readLine(Array(text.utf8)).kind == kind)
    }

    @Test(
        "headers beside a body are of a request to APNs only where something says so",
        arguments: [
            (#"{"headers":{"Accept":"*/*"},"body":"{\"a\":1}"}"#, false),
            (#"{"headers":{"x-event":"push"},"payload":{"ref":"r"}}"#, false),
            (#"{"headers":[{"name":"a"}],"body":{}}"#, false),
            ("headers:\n  Accept: a\nbody:\n  name: x\n", false),
            (#"{"headers":{"Accept":"*/*"},"body":"{\"aps\":{}}"}"#, true),
            (#"{"headers":{"APNs-Topic":"$TOPIC"},"body":{"v":1}}"#, true),
            (#"{"headers":{":path":"/3/device/00"},"body":{"v":1}}"#, true),
            ("headers:\n  apns-topic: a\nbody:\n  name: x\n", true),
        ])
    func otherRequests(text: String, isForAPNs: Bool) {
        let reader = DocumentReader(assumptions: PushAssumptions(), forcedKind: nil)
        let document = reader.read(Array(text.utf8), name: "a")
        #expect(document.isForeign == !isForAPNs)
        #expect(document.faults.isEmpty)
        #expect(document.items.allSatisfy { $0.isAddressed != isForAPNs })
        let forced = DocumentReader(assumptions: PushAssumptions(), forcedKind: .request)
        #expect(!forced.read(Array(text.utf8), name: "a").isForeign)
    }

    @Test("a kind can be forced")
    func forced() {
        let request = "{\"headers\":{\"apns-priority\":\"5\"},\"payload\":{}}"
        let payload = Self.read(request, as: .payload)
        #expect(payload.kind == .payload)
        #expect(Self.payload(payload) == request)
        let missing = Self.read("{\"aps\":{}}", as: .request)
        #expect(missing.kind == .request)
        #expect(missing.item == nil)
        #expect(missing.faults.map(\.message) == ["the request document has no `payload`"])
        #expect(Self.read("{}", as: .apns).kind == .apns)
        #expect(Self.read("a: 1", name: "a.yaml", as: .request).faults.count == 1)
    }

    @Test(
        "the simulator's key is not sent",
        arguments: [
            ("{\"Simulator Target Bundle\":\"x\",\"a\":1}", "{\"a\":1}"),
            ("{\"a\":1 , \"Simulator Target Bundle\" : \"x\" }", "{\"a\":1 }"),
            ("{\"a\":1,\"Simulator Target Bundle\":\"x\",\"b\":2}", "{\"a\":1,\"b\":2}"),
            ("{\"Simulator Target Bundle\":\"x\"}", "{}"),
        ])
    func simulator(text: String, payload: String) throws {
        let document = Self.read(text)
        #expect(Self.payload(document) == payload)
        let item = try #require(document.item)
        // Every byte of the payload is where the map says.
        for (offset, byte) in item.draft.payload.enumerated() {
            guard case .offset(let place) = item.places.place(ofOffset: offset) else {
                Issue.record("no offset")
                continue
            }
            #expect(Array(text.utf8)[place] == byte)
        }
    }

    @Test("headers keep names, values and places")
    func headers() throws {
        let text = """
            {"headers": {"apns-priority": 5, "Apns-Topic": "a\\u0062", "apns-id": null},
             "payload": {"aps": {}}}
            """
        let document = Self.read(text)
        let item = try #require(document.item)
        #expect(
            item.draft.headers == [
                PushDraft.Header("apns-priority", "5"), PushDraft.Header("Apns-Topic", "ab"),
            ])
        #expect(item.draft.headersAreComplete)
        #expect(item.places.headers.map(\.name) == ["apns-priority", "apns-topic"])
        #expect(
            item.places.headers.map(\.pointer) == ["/headers/apns-priority", "/headers/Apns-Topic"])
        #expect(document.faults.map(\.pointer) == ["/headers/apns-id"])
        #expect(item.places.pointer == "/payload")
        #expect(Self.payload(document) == "{\"aps\": {}}")
    }

    @Test("a payload that is a text is read, and its places are those in the file")
    func quoted() throws {
        let text = #"{"headers":{},"payload":"{\"aps\":{\"b\u0061dge\":\"\ud83d\ude00é\"}}"}"#
        let document = Self.read(text)
        #expect(Self.payload(document) == "{\"aps\":{\"badge\":\"😀é\"}}")
        let item = try #require(document.item)
        let offset = try #require(item.draft.payload.firstIndex(of: UInt8(ascii: "d")))
        #expect(
            item.places.place(ofOffset: offset)
                == .offset(Array(text.utf8).firstIndex(of: 0x64, from: 30)))
        #expect(item.places.editableRange(0..<1) == nil)
    }

    private static let wrongTexts: [[UInt8]] = {
        let utf8 = [#"{"aps":{"content-available":1}}"#, #"{"headers":{},"payload":{"v":1}}"#]
        let ascii: [UInt8] = Array(#"{"aps":{"v":1}}"#.utf8)
        return utf8.map { Array("\u{feff}\($0)".utf8) }
            + [ascii.flatMap { [0, $0] }, ascii.flatMap { [$0, 0] }]
    }()

    @Test(
        "JSON in the wrong encoding is not taken for YAML, and stays as it is",
        arguments: wrongTexts)
    func wrongEncoding(bytes: [UInt8]) throws {
        let reader = DocumentReader(assumptions: PushAssumptions(), forcedKind: nil)
        for name in ["a.json", "a"] {
            let document = reader.read(bytes, name: name)
            #expect(document.faults.isEmpty)
            let draft = try #require(document.item).draft
            #expect(draft.payload == bytes)
            #expect(PushValidator().report(on: draft).diagnostics.map(\.rule) == ["G005"])
        }
    }

    @Test("a line is never YAML")
    func line() {
        let reader = DocumentReader(assumptions: PushAssumptions(), forcedKind: nil)
        #expect(reader.readLine(Array("a: \"headers\"".utf8)).kind == .payload)
    }

    @Test("headers that are no object are a fault")
    func badHeaders() {
        let document = Self.read("{\"headers\":1,\"payload\":{\"aps\":{}}}")
        #expect(document.faults.map(\.pointer) == ["/headers"])
        #expect(document.item != nil)
    }
}

extension [UInt8] {
    /// The first index of a byte from some index on; -1 without one.
    fileprivate func firstIndex(of byte: UInt8, from start: Int) -> Int {
        self[start...].firstIndex(of: byte) ?? -1
    }
}
