// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON
import WakeModel

/// What libFuzzer calls with each input: scanner, rules, repairs and history have to answer, with
/// places inside the text, and the quick look has to agree with the rules.
///
/// The first byte chooses how the rest is used, so that one corpus serves for all.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTestOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // SAFETY: libFuzzer passes `count` readable bytes at `start`; they are copied at once.
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let choice = input.first else { return 0 }
    let payload = Array(input.dropFirst())
    check(payload, Int(choice))
    return 0
}

private let validator = WakeValidator()
private let pushValidator = PushValidator()
private let now = WallInstant(secondsSinceEpoch: 1_795_255_200)

private func check(_ payload: [UInt8], _ choice: Int) {
    checkScanner(payload)
    let types = PushType.all.map(\.rawValue) + ["", "hologram"]
    let type = types[choice % types.count]
    // The text up to the first line break that is followed by another is also tried as headers.
    let draft = PushDraft(
        payload: payload, headers: headers(of: payload, type), target: .phone, now: now,
        headersAreComplete: choice >= 128)
    let report = pushValidator.report(on: draft)
    check(report.diagnostics, payload)
    let mended = pushValidator.repaired(draft, includingUnsafe: choice.isMultiple(of: 2))
    if (try? JSONScanner.scan(payload)) != nil {
        precondition((try? JSONScanner.scan(mended)) != nil, "A repair broke the text.")
    }
    checkGlance(payload)
    var history = PushHistory()
    for second in 0..<3 {
        let push = SentPush(
            at: now.advanced(bySeconds: Int64(second)), device: "d", draft: draft)
        for found in history.examine(push) { precondition(!found.message.isEmpty) }
    }
}

private func checkScanner(_ payload: [UInt8]) {
    do throws(JSONSyntaxError) {
        let document = try JSONScanner.scan(payload)
        precondition(Int(document.nodes[0].next) == document.nodes.count)
        for node in document.nodes {
            precondition(node.start >= 0 && node.start < node.end)
            precondition(Int(node.end) <= payload.count)
        }
    } catch {
        precondition((0...payload.count).contains(error.offset))
    }
}

private func check(_ diagnostics: [Diagnostic], _ payload: [UInt8]) {
    for found in diagnostics {
        precondition((0...payload.count).contains(found.offset), "\(found)")
        precondition(found.line >= 1 && found.column >= 1, "\(found)")
        for edit in found.repair?.edits ?? [] {
            precondition(edit.range.upperBound <= payload.count, "\(found)")
        }
    }
}

/// The quick look is used for wakes and not for payloads: both have to find the same.
private func checkGlance(_ payload: [UInt8]) {
    guard let token = try? DeviceToken(hex: "a5a5"), let app = try? BundleID("com.example.app")
    else { return }
    for kind in WakeKind.allCases {
        let expiration: Expiration =
            kind == .voip ? .immediately : .at(now.advanced(bySeconds: 60))
        let request = WakeRequest(
            kind: kind, deviceToken: token, bundleID: app, payload: payload,
            expiration: expiration)
        let byRequest = validator.validate(request, now: now).diagnostics
        let byPayload = validator.diagnostics(ofPayload: payload, as: kind)
        precondition(byRequest == byPayload, "\(byRequest) and \(byPayload)")
        check(byPayload, payload)
    }
}

/// The push type, and pieces of the input as values of the headers that are read closely.
private func headers(of input: [UInt8], _ type: String) -> [PushDraft.Header] {
    let text = String(decoding: input.prefix(256), as: UTF8.self)
    let names = [
        ":path", "apns-topic", "apns-priority", "apns-expiration", "apns-id", "authorization",
    ]
    var headers: [PushDraft.Header] = [.init("apns-push-type", type)]
    for (name, value) in zip(names, text.split(separator: "\n", omittingEmptySubsequences: false)) {
        headers.append(.init(name, name == "authorization" ? "bearer " + value : String(value)))
    }
    return headers
}
