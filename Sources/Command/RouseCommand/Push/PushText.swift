// SPDX-License-Identifier: Apache-2.0

import APNsWire
import PayloadRules
import PushTransport
import WakeModel

/// `rouse push` for a person.
struct PushText {
    private let console: Console

    /// Writes to this console.
    init(_ console: Console) { self.console = console }

    /// What to ask where nothing arrives.
    static func doubts(of type: PushType) -> String {
        let start = "If nothing arrives: is the device online"
        return switch type {
        case .background:
            start + ", was the app force-quit, is Background App Refresh on? iOS grants a few "
                + "silent wakes an hour."
        case .voip:
            start + ", and did the app report each earlier call to CallKit? iOS sends no more "
                + "calls to one that did not."
        default: start + ", and is the app installed and allowed to do this?"
        }
    }

    /// What is about to be sent, and what the rules remark.
    func announce(_ plan: PushPlan) {
        let push = plan.push
        console.say(
            "Push", "\(push.type), \(push.payload.count) bytes, to \(push.deviceToken)")
        console.say(
            "Headers",
            "apns-topic \(push.topic), priority \(push.priority), expiration "
                + Self.words(push.expiration)
                + (push.collapseID == nil ? "" : ", with a collapse id"))
        console.say("apns-id", push.apnsID.description)
        let environment = plan.environment.map { " (\($0))" } ?? ""
        console.say(
            "Server", "\(plan.transport.host):\(plan.transport.port)\(environment)")
        console.say("As", plan.credential.summary)
        for finding in plan.findings { say(finding) }
    }

    /// What came of it.
    func tell(_ reply: SingleReply, to push: Push) {
        let time = "after \(reply.milliseconds) ms"
        switch reply.result {
        case .success(.accepted(let acceptance)):
            console.say("Answer", "200: accepted, \(time)", .good)
            console.say("Meaning", PushOutcome.Acceptance.meaning)
            if let id = acceptance.apnsUniqueID {
                console.say("Next", "Look in the Delivery Log of Apple's console for \(id).")
            } else {
                console.say("Next", Self.doubts(of: push.type))
            }
        case .success(.rejected(let rejection)):
            console.say("Answer", "\(rejection.words), \(time)", .bad)
            console.say("Meaning", rejection.meaning)
            if let timestamp = rejection.timestamp { console.say("Since", "\(timestamp)") }
            console.say("Next", rejection.advice.remedy)
        case .failure(let failure):
            console.say("Answer", "none, \(time): \(failure)", .bad)
            console.say("Meaning", failure.meaning)
            console.say("Next", failure.remedy)
        }
        if let skew = reply.clockSkew, abs(skew.components.seconds) > 5 {
            console.say(
                "Clock",
                "The server's clock is \(skew.components.seconds) s ahead of this machine's; "
                    + "set this one.", .doubtful)
        }
    }

    /// One finding of the rules.
    func say(_ finding: Diagnostic) {
        let colour: Console.Colour? =
            switch finding.severity {
            case .error: .bad
            case .warning: .doubtful
            case .note: nil
            }
        console.say("Remark", finding.description, colour)
    }

    private static func words(_ expiration: Expiration?) -> String {
        switch expiration {
        case nil: "none"
        case .immediately: "0 (one attempt)"
        case .at(let instant): "\(instant)"
        }
    }
}

extension PushOutcome.Rejection {
    /// Status and reason: `400 BadDeviceToken`.
    var words: String { "\(status) \(reason?.rawValue.printable ?? "without a reason")" }

    /// What the reason means.
    var meaning: String {
        if let meaning = reason?.entry?.meaning { return meaning }
        return reason == nil
            ? "APNs gave no reason, or this is not APNs." : "This reason is new to Rouse."
    }
}
