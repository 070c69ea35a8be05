// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import WakeModel

/// Rules about headers that only a draft can violate; types prevent that for a wake.
extension Rules {
    static let draftHeaders: [Rule] = [
        Rule(
            "H001", .error, "the path is not /3/device/ and a device token",
            why: """
                APNs answers BadPath, or MissingDeviceToken where the token is missing. Without -X \
                curl takes a method for an address.
                """,
            from: [.responses], fix: "Send to /3/device/ and the token in hexadecimal.", in: .draft,
            check: wrongPath),
        Rule(
            "H002", .error, "the device token in the path is not hexadecimal",
            why: "APNs answers BadDeviceToken.", from: [.sending, .practice],
            fix: "Write the token's bytes as pairs of hexadecimal digits.", in: .draft
        ) { push, findings in
            guard let text = deviceToken(of: push), !text.isEmpty, !isName(text) else { return }
            do throws(InvalidField) {
                _ = try DeviceToken(hex: text)
            } catch {
                findings.report(
                    .header(":path"), "the device token \(error.problem)", fix: error.remedy)
            }
        },
        Rule(
            "H003", .note, "the device token does not have 64 hexadecimal digits",
            why: "That is allowed: Apple asks that nothing be assumed about the size of tokens.",
            from: [.sending], fix: "Make sure that the token was not cut.", in: .draft
        ) { push, findings in
            guard let text = deviceToken(of: push), let token = try? DeviceToken(hex: text),
                token.hex.utf8.count != 64
            else { return }
            let count = token.hex.utf8.count
            findings.report(
                .header(":path"), "the device token has \(count) digits, not 64",
                fix: count < 64 ? nil : "Compare it with what the app got from the system.")
        },
        Rule(
            "H004", .warning, "apns-push-type is missing",
            why: "watchOS requires it, and newer features of other systems may not work without.",
            from: [.sending, .troubleshooting], fix: "Say the push type.", in: .draft
        ) { push, findings in
            guard let draft = push.draft, draft.pushType == nil,
                draft.lacks("apns-push-type") || draft.names.contains("apns-push-type"),
                // There is no type for updates of passes.
                !push.isForPass, !isMisspelt("apns-push-type", in: push)
            else { return }
            let isForWatch = draft.target == .watchOS
            findings.report(
                .header("apns-push-type"),
                isForWatch ? "apns-push-type is missing, which watchOS requires" : nil,
                fix: "Add apns-push-type; this payload looks like `\(push.judgedType)`.",
                severity: isForWatch ? .error : isWhole(draft) ? nil : .note)
        },
        Rule(
            "H005", .error, "apns-push-type is none of Apple's push types",
            why: "APNs answers InvalidPushType.", from: [.responses],
            fix: "Use one of Apple's push types, in lower case.", in: .draft, check: unknownType),
        Rule(
            "H006", .error, "apns-topic is missing, or a broadcast names no channel",
            why: "APNs answers MissingTopic, or MissingChannelId.",
            from: [.sending, .responses, .channels],
            fix: "Add apns-topic: the app's bundle id and the suffix of the push type.", in: .draft
        ) { push, findings in
            guard let draft = push.draft else { return }
            if draft.isBroadcast {
                if draft.lacks("apns-channel-id") {
                    findings.report(
                        .header("apns-channel-id"), "apns-channel-id is missing",
                        fix: "Add apns-channel-id, the channel of the broadcast.")
                }
                return
            }
            if draft.lacks("apns-topic") || draft.topic?.isEmpty == true {
                // With a certificate for one app, a request does without.
                let isCertain = draft["authorization"] != nil || draft.topic != nil
                findings.report(
                    .header("apns-topic"), "apns-topic is missing",
                    severity: isCertain ? nil : draft.path != nil ? .warning : .note)
            }
        },
        Rule(
            "H022", .error, "apns-topic has what no topic has",
            why: "APNs answers BadTopic or TopicDisallowed.", from: [.responses, .sending],
            fix: "Use the bundle id: letters, digits, dots, hyphens and underscores.", in: .draft
        ) { push, findings in
            guard let topic = push.draft?.topic, !topic.isEmpty else { return }
            let isOfTopic = { (character: Unicode.Scalar) in
                character.properties.isAlphabetic && character.isASCII
                    || ("0"..."9").contains(character) || "-._".unicodeScalars.contains(character)
            }
            // Words stand there for people.
            let spaces = topic.count(where: { $0 == " " })
            guard spaces == 0 || spaces == 1 && topic.contains(".") else { return }
            if beginsWithTeam(topic) {
                findings.report(
                    .header("apns-topic"), "apns-topic begins with a team id",
                    fix: "Leave out the team id: the topic begins with the bundle id.")
            }
            if let other = topic.unicodeScalars.first(where: { !isOfTopic($0) }) {
                findings.report(
                    .header("apns-topic"), "apns-topic has \(shown(String(other)))")
            }
        },
        Rule(
            "H007", .error, "topic or payload does not fit the push type",
            why: """
                APNs refuses a topic that is not the push type's. Firebase sends to the token of a \
                Live Activity only if it is given.
                """,
            from: [.sending],
            fix: "Use the bundle id with the suffix of the push type, if it has one.",
            for: .every.subtracting([.voip, .unlisted]), in: .draft, check: wrongSuffix),
        Rule(
            "H008", .error, "apns-priority is not 1, 5 or 10", why: "APNs answers BadPriority.",
            from: [.responses, .sending], fix: "Use 10, 5 or 1.", in: .draft
        ) { push, findings in
            guard let value = push.draft?["apns-priority"], priority(of: push) == nil else {
                return
            }
            findings.report(
                .header(priorityHeader), "apns-priority is \(shown(value)), not 1, 5 or 10")
        },
        Rule(
            "H009", .error, "apns-id is not a UUID", why: "APNs answers BadMessageId.",
            from: [.sending, .responses],
            fix: "Use a UUID in lower case, 8-4-4-4-12, or leave the header out.", in: .draft
        ) { push, findings in
            guard let value = push.draft?["apns-id"] else { return }
            guard let id = try? APNsID(value) else {
                findings.report(.header("apns-id"))
                return
            }
            if id.description != value {
                findings.report(
                    .header("apns-id"), "apns-id is a UUID in upper case",
                    fix: "Write it in lower case.", severity: .warning)
            }
        },
        Rule(
            "H010", .error, "apns-expiration is not a whole number of seconds",
            why: "APNs answers BadExpirationDate.", from: [.responses],
            fix: "Use 0, or a time in seconds since 1970 without sign and fraction.", in: .draft
        ) { push, findings in
            if case .malformed = expiration(of: push) { findings.report(.header(expirationHeader)) }
        },
        Rule(
            "H015", .error, "a header appears twice", why: "APNs answers DuplicateHeaders.",
            from: [.responses], fix: "Send each header once.", in: .draft
        ) { push, findings in
            var seen: Set<String> = []
            var reported: Set<String> = []
            for name in push.draft?.names ?? [] where !seen.insert(name).inserted {
                guard reported.insert(name).inserted else { continue }
                findings.report(.header(name), "\(shown(name)) appears twice")
            }
        },
        Rule(
            "H016", .error, "apns-collapse-id has more than 64 bytes",
            why: "APNs answers BadCollapseId.", from: [.sending, .responses],
            fix: "Shorten it, for example to a digest.", in: .draft
        ) { push, findings in
            guard let count = push.draft?["apns-collapse-id"]?.utf8.count,
                count > CollapseID.maximumByteCount
            else { return }
            findings.report(
                .header(collapseIDHeader),
                "apns-collapse-id has \(count) bytes in UTF-8, more than 64")
        },
        Rule(
            "H017", .warning, "a header is none of Apple's",
            why: "APNs ignores headers that it does not know.", from: [.practice],
            fix: "Remove the header, or write the name as Apple does.", in: .draft,
            check: unknownHeaders),
        Rule(
            "H018", .note, "a header's name has capitals",
            why: """
                HTTP/2 has names in lower case only. Most libraries write them so; a request that \
                is sent with capitals is malformed.
                """,
            from: [.rfc9113], fix: "Write header names in lower case.", in: .draft
        ) { push, findings in
            guard let draft = push.draft else { return }
            for (field, name) in zip(draft.fields, draft.names) where field.name != name {
                findings.report(.header(name), "\(shown(field.name)) has capitals")
            }
        },
        Rule(
            "H019", .error, "this push type needs a provider token",
            why: "APNs takes only some push types from a sender with a certificate.",
            from: [.sending, .fileProvider], fix: "Authenticate with a provider token.",
            for: [.location, .fileprovider, .liveactivity, .widgets, .controls],
            in: .draft
        ) { push, findings in
            if usesCertificate(push) { findings.report(.header("authorization")) }
        },
        Rule(
            "H020", .warning, "a header belongs to another API",
            why: "A channel is for broadcasts, and a topic is for pushes to a device.",
            from: [.channels, .troubleshooting], fix: "Leave the header out.", in: .draft
        ) { push, findings in
            guard let draft = push.draft else { return }
            if !draft.isBroadcast, draft.names.contains("apns-channel-id") {
                findings.report(.header("apns-channel-id"), "a push to a device names a channel")
            } else if draft.isBroadcast, draft.topic != nil {
                findings.report(.header("apns-topic"), "a broadcast names a topic")
            }
        },
    ]

    /// Whether a topic begins as an application identifier does: `ABCDE12345.com.example.app`.
    private static func beginsWithTeam(_ topic: String) -> Bool {
        let parts = topic.utf8.split(separator: UInt8(ascii: "."))
        guard parts.count > 3, parts[0].count == 10,
            ["com", "org", "net", "io", "de", "app", "dev", "co"].contains(where: {
                parts[1].elementsEqual($0.utf8)
            })
        else { return false }
        let isDigit = { (byte: UInt8) in byte &- UInt8(ascii: "0") < 10 }
        let isCapital = { (byte: UInt8) in byte &- UInt8(ascii: "A") < 26 }
        return parts[0].allSatisfy { isDigit($0) || isCapital($0) }
            && parts[0].contains(where: isDigit) && parts[0].contains(where: isCapital)
    }

    static let connectionHeaders: [Rule] = [
        Rule(
            "H021", .error, "the request is not sent with HTTP/2",
            why: "APNs speaks HTTP/2 only; a connection with an older version fails.",
            from: [.sending], fix: "Send it with HTTP/2.", in: .draft
        ) { push, findings in
            guard let version = push.draft?[":version"], !version.hasPrefix("HTTP/2") else {
                return
            }
            findings.report(.header(":version"), "the request is sent with \(shown(version))")
        }
    ]

    static let priorityHeader = "apns-priority"

    /// A header's value or name for a message: shortened, and without control characters.
    static func shown(_ text: String) -> String {
        let limit = 48
        let characters = text.unicodeScalars.prefix(limit).map { scalar in
            scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value) ? "\u{fffd}" : scalar
        }
        var shown = "`"
        shown.unicodeScalars.append(contentsOf: characters)
        return shown + (text.unicodeScalars.count > limit ? "…`" : "`")
    }

    /// Whether a draft is a whole request to APNs. Otherwise it may be the part of a message for
    /// Firebase that goes to APNs, to which Firebase adds topic and push type.
    private static func isWhole(_ draft: DraftHeaders) -> Bool {
        draft.path != nil || draft.topic != nil || draft["authorization"] != nil
            || draft.opaque.contains("apns-topic") || draft.isBroadcast
            || draft.names.contains("apns-push-type")
    }

    /// Whether a text in the place of a device token or an id is a name for it: it is short, and
    /// has another letter than hexadecimal digits: `my-device`, `token-1`.
    private static func isName(_ text: String) -> Bool {
        text.utf8.count < 32 && text.contains { $0.isASCII && $0.isLetter && !$0.isHexDigit }
    }

    /// The priority that a draft gives; `nil` if none or a wrong one.
    static func priority(of push: ValidationContext) -> Priority? {
        guard let text = push.draft?["apns-priority"], let value = UInt8(text),
            let priority = Priority(rawValue: value), priority.description == text
        else { return nil }
        return priority
    }

    /// Whether the push has priority 10, which is the default.
    static func isSentAtOnce(_ push: ValidationContext) -> Bool {
        priority(of: push) == .immediate || push.draft?.lacks("apns-priority") == true
    }

    /// Whether the sender authenticates with a certificate, as far as it is known.
    static func usesCertificate(_ push: ValidationContext) -> Bool {
        switch push.settings.authentication {
        case .certificate: true
        case .token: false
        case .unstated: push.draft?.path != nil && push.draft?.lacks("authorization") == true
        }
    }

    /// The device token in the path; `nil` if the draft has no path to a device.
    private static func deviceToken(of push: ValidationContext) -> String? {
        let start = "/3/device/"
        guard let path = push.draft?.path, path.hasPrefix(start) else { return nil }
        return String(path.dropFirst(start.count))
    }

    private static func wrongPath(_ push: ValidationContext, _ findings: inout Findings) {
        if let method = push.draft?[":method"], method != "POST" {
            findings.report(
                .header(":method"), "the request is a \(shown(method)), not a POST",
                fix: "Send a POST request with the payload as its body.")
        }
        guard let draft = push.draft, let path = draft.path, !draft.isBroadcast else { return }
        if deviceToken(of: push)?.isEmpty == true || path == "/3/device" {
            findings.report(.header(":path"), "the path has no device token")
        } else if deviceToken(of: push) == nil {
            findings.report(.header(":path"))
        }
    }

    private static func unknownType(_ push: ValidationContext, _ findings: inout Findings) {
        guard let given = push.draft?.pushType, push.type == .unlisted,
            !push.settings.extraPushTypes.contains(given)
        else { return }
        let letters = NearMiss.letters(Array(given.utf8.prefix(40))[...])
        let near = PushType.all.map(\.rawValue).first {
            NearMiss.distance(letters, Array($0.utf8), limit: $0.utf8.count > 6 ? 2 : 1) != nil
        }
        findings.report(
            .header("apns-push-type"), "\(shown(given)) is none of Apple's push types",
            fix: near.map { "Write `\($0)`." }
                ?? "Use one of \(PushType.all.map(\.rawValue).joined(separator: ", ")).")
    }

    private static func wrongSuffix(_ push: ValidationContext, _ findings: inout Findings) {
        if let given = push.mistakenType, let type = push.type.types.first {
            findings.report(
                .header("apns-push-type"),
                "the payload is for \(type), and the push type is \(shown(given))",
                fix: type.topicSuffix.isEmpty
                    ? "Use push type \(type)."
                    : "Use push type \(type) and the topic that ends in \(type.topicSuffix).")
            return
        }
        if let draft = push.draft, draft.isBroadcast,
            draft.path?.hasSuffix(PushType.liveactivity.topicSuffix) == true
        {
            findings.report(
                .header(":path"), "the bundle id in the path of a broadcast has a suffix",
                fix: "Leave out `\(PushType.liveactivity.topicSuffix)`.")
        }
        guard let topic = push.draft?.topic, !topic.isEmpty, let type = push.type.types.first else {
            return
        }
        let suffix = type.topicSuffix
        if type == .mdm, !topic.hasPrefix("com.apple.mgmt.") {
            findings.report(
                .header("apns-topic"), "the topic of \(type) pushes begins with com.apple.mgmt",
                fix: "Use the user id in the subject of the push certificate.", severity: .warning)
        } else if suffix.isEmpty {
            guard let foreign = typeSuffix(of: topic) else { return }
            findings.report(
                .header("apns-topic"),
                "the topic ends in \(foreign), and \(type) pushes have no suffix",
                fix: "Use the bundle id alone.")
        } else if !topic.hasSuffix(suffix) || topic == suffix {
            findings.report(
                .header("apns-topic"), "the topic of \(type) pushes ends in \(suffix)",
                fix: "Use the bundle id and \(suffix).")
        }
    }

    /// The suffix of a push type at the end of a topic, if there is one.
    static func typeSuffix(of topic: String) -> String? {
        PushType.all.map(\.topicSuffix).first { !$0.isEmpty && topic.hasSuffix($0) }
    }

    private static let knownHeaders = [
        "apns-push-type", "apns-topic", "apns-priority", "apns-expiration", "apns-id",
        "apns-collapse-id", "apns-channel-id", "apns-request-id", "apns-unique-id",
    ]

    /// Apple's payload keys that are hardly names of headers elsewhere.
    private static let keysOfPayload = Set(
        APSKey.allCases.map { "\($0.name)" }.filter { $0.contains("-") }
            + ["alert", "badge", "sound"])

    /// Common wrong names for Apple's headers, without hyphens.
    private static let otherNames = [
        "apnsalerttype": "apns-push-type", "apnstype": "apns-push-type",
        "apnsnotificationtype": "apns-push-type", "apnsttl": "apns-expiration",
        "apnsexpiry": "apns-expiration", "apnsbundleid": "apns-topic",
        "apnscollapsekey": "apns-collapse-id", "apnsmessageid": "apns-id",
    ]

    /// Reports headers in the payload, as members or in `headers`.
    private static func headersInPayload(_ push: ValidationContext, _ findings: inout Findings) {
        guard push.hasRootObject, let document = push.document else { return }
        func look(at object: Int) {
            for member in document.members(of: object) {
                let name = String(decoding: document.text(member.key), as: UTF8.self)
                if knownHeaders.contains(name) {
                    findings.report(
                        .node(member.key), "\(shown(name)) is in the payload",
                        fix: "Send it as a header of the request.")
                } else if object == 0, name == "headers", document.kind(member.value) == .object {
                    look(at: member.value)
                }
            }
        }
        look(at: 0)
    }

    private static func unknownHeaders(_ push: ValidationContext, _ findings: inout Findings) {
        headersInPayload(push, &findings)
        guard let draft = push.draft else { return }
        // A name is wrong whatever its value is.
        for name in draft.names + draft.opaque.subtracting(draft.names).sorted() {
            if keysOfPayload.contains(name) {
                findings.report(
                    .header(name), "\(shown(name)) is a key of the payload and no header",
                    fix: draft[name] == "" ? "Leave it out." : "Put it into `aps`.")
            }
            if lacksPrefix(name, push) {
                findings.report(
                    .header(name), "\(shown(name)) is none of Apple's headers",
                    fix: "Write `apns-\(name)`.")
            }
            guard name.hasPrefix("apns"), !knownHeaders.contains(name) else { continue }
            findings.report(
                .header(name), "\(shown(name)) is none of Apple's headers",
                fix: header(near: name).map { "Write `\($0)`." })
        }
    }

    /// Whether a header has the name of one of Apple's without its prefix, and that is not there.
    private static func lacksPrefix(_ name: String, _ push: ValidationContext) -> Bool {
        guard let draft = push.draft, draft.isForFirebase || draft.isComplete,
            ["topic", "push-type", "priority", "expiration", "collapse-id"].contains(name),
            !draft.names.contains("apns-" + name), !draft.opaque.contains("apns-" + name)
        else { return false }
        // HTTP has a `priority` of its own, such as `u=1` (RFC 9218).
        return name != "priority"
            || draft[name].map { ["high", "normal", "10", "5", "1"].contains($0) } == true
    }

    /// The header that an unknown one was probably meant for.
    private static func header(near name: String) -> String? {
        let letters = NearMiss.letters(Array(name.utf8.prefix(40))[...])
        return otherNames[String(decoding: letters, as: UTF8.self)]
            ?? knownHeaders.first {
                NearMiss.distance(letters, NearMiss.letters(Array($0.utf8)[...]), limit: 2) != nil
            }
    }

    /// Whether a header is there by a wrong name, of which rule H017 speaks.
    static func isMisspelt(_ header: String, in push: ValidationContext) -> Bool {
        push.draft.map { $0.names + $0.opaque }?.contains { name in
            name.hasPrefix("apns") && !knownHeaders.contains(name)
                && self.header(near: name) == header
                || header == "apns-" + name && lacksPrefix(name, push)
        } ?? false
    }
}
