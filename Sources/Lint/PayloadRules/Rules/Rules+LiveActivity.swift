// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import WakeModel

/// Rules about pushes that start, update or end a Live Activity (facts §5.6).
extension Rules {
    static let liveActivity: [Rule] = [
        Rule(
            "LA001", .error, "a Live Activity push does not say when or what",
            why: "`timestamp` and `event` are required, and `event` is start, update or end.",
            from: [.liveActivities], fix: "Add the key.", for: .liveactivity, check: missingEvent),
        Rule(
            "LA002", .error, "a time is not a number of seconds",
            why: "Times of a Live Activity are numbers of seconds since 1970.",
            from: [.liveActivities], fix: "Write it in whole seconds, without quotes.",
            for: .liveactivity, check: wrongTimes),
        Rule(
            "LA003", .error, "a start lacks what starts a Live Activity",
            why: "A push that starts one needs `attributes-type`, `attributes` and an `alert`.",
            from: [.liveActivities], fix: "Add the key.", for: .liveactivity
        ) { push, findings in
            guard event(of: push) == .start, let aps = push.aps else { return }
            for key in [APSKey.attributesType, .attributes, .alert]
            where !push.apsKeys.contains(key) && !isMisspelt(key, in: push) {
                let isBeside = key != .alert && push.rootMember(key.name) != nil
                findings.report(
                    .node(aps.value), "a start has no `\(key.name)`",
                    fix: isBeside
                        ? "Move `\(key.name)` from beside `aps` into it." : "Add `\(key.name)`.")
            }
        },
        Rule(
            "LA004", .error, "an update has no `content-state`",
            why: "It carries what the activity shows; an end should carry the last state.",
            from: [.liveActivities], fix: "Add `content-state`.", for: .liveactivity
        ) { push, findings in
            guard let aps = push.aps, !push.apsKeys.contains(.contentState),
                !isMisspelt(.contentState, in: push)
            else { return }
            switch event(of: push) {
            case .update: findings.report(.node(aps.value))
            case .end:
                findings.report(
                    .node(aps.value), "an end has no `content-state`", severity: .warning)
            case .start, nil: break
            }
        },
        Rule(
            "LA005", .error, "a Live Activity push is sent at another priority than 5 or 10",
            why: "Apple allows 5 and 10 for Live Activities.", from: [.liveActivities],
            fix: "Use 5, or 10 for what the user must see at once.", for: .liveactivity, in: .draft
        ) { push, findings in
            if priority(of: push) == .powerFirst { findings.report(.header(priorityHeader)) }
        },
        Rule(
            "LA007", .error, "the push asks for what does not go together",
            why: """
                A broadcast cannot start a Live Activity, and an activity is updated either by a \
                channel or by a token.
                """,
            from: [.liveActivities, .proposal], fix: "Start it by a push to the device.",
            for: .liveactivity, in: .draft
        ) { push, findings in
            if push.draft?.isBroadcast == true, event(of: push) == .start,
                let member = push.member(.event)
            {
                findings.report(.node(member.value), "a broadcast starts a Live Activity")
            }
            guard push.apsKeys.contains(.inputPushChannel),
                let token = push.member(.inputPushToken)
            else { return }
            findings.report(
                .node(token.key), "`input-push-channel` and `input-push-token` are both set",
                fix: "Keep one of the two.", severity: .warning)
        },
        Rule(
            "LA008", .warning, "`content-state` looks like the work of a custom encoder",
            why: """
                The system decodes it with the default strategies of JSONDecoder: keys as the \
                properties are called, dates as seconds since 2001.
                """,
            from: [.liveActivities], fix: "Encode it with a JSONEncoder without strategies.",
            for: .liveactivity, check: customEncoding),
    ]

    /// Faults that the other rules do not cover: keys of another push, and a time in the distant
    /// past.
    static let liveActivityContent: [Rule] = [
        Rule(
            "LA009", .warning, "a Live Activity push has keys of another push",
            why: """
                A Live Activity shows its `content-state`. Its alert is an object with `title` and \
                `body`, it counts on no badge, and it is dismissed only when it ends.
                """,
            from: [.liveActivities], fix: "Remove the key.", for: .liveactivity
        ) { push, findings in
            if let member = push.member(.badge) {
                findings.report(
                    .node(member.key), "a Live Activity push has a `badge`",
                    repair: removing(member.key, push))
            }
            if let member = push.member(.sound) {
                let hasAlert = push.apsKeys.contains(.alert)
                findings.report(
                    .node(member.key),
                    hasAlert
                        ? "the `sound` of a Live Activity is beside its alert"
                        : "a Live Activity push has a `sound` and no alert that plays it",
                    fix: hasAlert
                        ? "Move `sound` into `alert`."
                        : "Put `sound` into an `alert` with `title` and `body`, or remove it.")
            }
            if event(of: push) == .update, let member = push.member(.dismissalDate),
                push.document?.kind(member.value) != .null
            {
                findings.report(
                    .node(member.key), "`dismissal-date` has no effect in an update",
                    fix: "Send it with the event \"end\", or use `stale-date`.")
            }
            if let member = push.member(.alert), push.document?.kind(member.value) == .string {
                findings.report(
                    .node(member.value), "the alert of a Live Activity is a text",
                    fix: "Write it as an object with `title` and `body`.")
            }
        },
        Rule(
            "LA010", .warning, "`timestamp` is years old",
            why: "The system passes over a push that is older than what it shows.",
            from: [.liveActivities], fix: "Use the time at which the push is made.",
            for: .liveactivity, in: .draft
        ) { push, findings in
            guard let now = push.draft?.now, let member = push.member(.timestamp),
                let document = push.document, document.kind(member.value) == .number,
                let seconds = document.double(member.value), seconds < latestSecond,
                Double(now.millisecondsSinceEpoch) / 1_000 - seconds > longAgoSeconds
            else { return }
            findings.report(.node(member.value))
        },
    ]

    /// Two years, so that examples in repositories need no daily update.
    private static let longAgoSeconds = 2.0 * 365 * 86_400

    /// The event of a Live Activity push.
    enum ActivityEvent {
        case start
        case update
        case end
    }

    /// The event, if it is one of Apple's.
    static func event(of push: ValidationContext) -> ActivityEvent? {
        guard let member = push.member(.event), let document = push.document,
            document.kind(member.value) == .string
        else { return nil }
        if document.hasText(member.value, "start") { return .start }
        if document.hasText(member.value, "update") { return .update }
        return document.hasText(member.value, "end") ? .end : nil
    }

    private static func missingEvent(_ push: ValidationContext, _ findings: inout Findings) {
        guard push.apsObject != nil, let aps = push.aps else { return }
        if !push.apsKeys.contains(.timestamp), !isMisspelt(.timestamp, in: push) {
            findings.report(
                .node(aps.value), "`timestamp` is missing",
                fix: "Add `timestamp`, the time in seconds since 1970.")
        }
        if let member = push.member(.event) {
            if event(of: push) == nil {
                findings.report(
                    .node(member.value), "`event` is none of start, update and end",
                    fix: "Write \"start\", \"update\" or \"end\".")
            }
        } else if !isMisspelt(.event, in: push) {
            findings.report(
                .node(aps.value), "`event` is missing",
                fix: "Add `event` with \"start\", \"update\" or \"end\".")
        }
    }

    /// From here on a number of seconds is the year 5138, so that it is in milliseconds.
    static let latestSecond = 100_000_000_000.0

    private static func wrongTimes(_ push: ValidationContext, _ findings: inout Findings) {
        guard let document = push.document else { return }
        for key in [APSKey.timestamp, .staleDate, .dismissalDate] {
            guard let member = push.member(key) else { continue }
            switch document.kind(member.value) {
            case .null: continue
            case .number:
                guard let seconds = document.double(member.value), seconds >= latestSecond else {
                    continue
                }
                findings.report(
                    .node(member.value), "`\(key.name)` is in milliseconds",
                    fix: "Divide it by 1000.", repair: inSeconds(member.value, document))
            case let kind:
                let number = APSKey.Shape.number.intended(by: member.value, in: document)
                findings.report(
                    .node(member.value), "`\(key.name)` is \(kind.noun), not a number of seconds",
                    repair: number.map {
                        Repair(edits: [document.replacing(member.value, with: $0)], isSafe: true)
                    })
            }
        }
    }

    /// Converts an integer in milliseconds to seconds, by removing its last three digits.
    private static func inSeconds(_ value: Int, _ document: JSONDocument) -> Repair? {
        let literal = document.literal(value)
        guard literal.count == 13, !document.nodes[value].traits.contains(.notInteger) else {
            return nil
        }
        let end = literal.endIndex
        return Repair(edits: [.init(range: (end - 3)..<end, replacement: [])], isSafe: true)
    }

    private static func customEncoding(_ push: ValidationContext, _ findings: inout Findings) {
        guard let state = push.member(.contentState), let document = push.document,
            document.kind(state.value) == .object
        else { return }
        var hasSnakeCase = false
        let snakeCaseCount = document.members(of: state.value)
            .count { isSnakeCase(document.text($0.key)) }
        // Where the last object ends that is a member in it.
        var innerEnd = state.value
        let hasCodingKey = { (value: Int) in
            snakeCaseCount > 1 && document.kind(value - 1) == .key
                && isSnakeCase(document.text(value - 1))
        }
        for node in (state.value + 1)..<Int(document.nodes[state.value].next) {
            switch document.kind(node) {
            case .key where !hasSnakeCase && isSnakeCase(document.text(node)):
                // The app's CodingKeys may have this spelling.
                hasSnakeCase = true
                findings.report(
                    .node(node), "a key of `content-state` is in snake case",
                    fix: "Call it as the Swift property or its coding key is called.",
                    severity: .note)
            case .string where isISODate(document.text(node)):
                findings.report(
                    .node(node), "a date of `content-state` is text",
                    fix: """
                        If the app holds it as a Date, write seconds since 2001, as JSONEncoder \
                        does by default.
                        """,
                    // Such an object may be a dictionary of texts. Keys that are all in snake case
                    // speak of coding keys, and of a text by choice.
                    severity: node < innerEnd || hasCodingKey(node) ? .note : nil)
            case .object where document.kind(node - 1) == .key:
                innerEnd = max(innerEnd, Int(document.nodes[node].next))
            default: break
            }
        }
    }

    /// Lower-case letters and digits with an underscore between them.
    private static func isSnakeCase(_ text: ArraySlice<UInt8>) -> Bool {
        guard let underscore = text.firstIndex(of: UInt8(ascii: "_")) else { return false }
        let isInside = underscore > text.startIndex && text.last != UInt8(ascii: "_")
        return isInside
            && text.allSatisfy {
                $0 == UInt8(ascii: "_") || $0 &- UInt8(ascii: "a") < 26
                    || $0 &- UInt8(ascii: "0") < 10
            }
    }

    /// Whether a text starts like `2026-11-21T09:34:00` (RFC 3339).
    private static func isISODate(_ text: ArraySlice<UInt8>) -> Bool {
        let pattern = "dddd-dd-ddTdd:dd".utf8
        guard text.count >= pattern.count else { return false }
        return zip(text, pattern).allSatisfy { byte, expected in
            expected == UInt8(ascii: "d") ? byte &- UInt8(ascii: "0") < 10 : byte == expected
        }
    }
}
