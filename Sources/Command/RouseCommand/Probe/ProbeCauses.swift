// SPDX-License-Identifier: Apache-2.0

import PushTransport
import WakeModel

/// `rouse probe --why`: what can keep the app from being woken, given the answers, in the order in
/// which it is looked at. The manual's page *Why did my app not wake?* has the same with sources.
struct ProbeCause: Encodable, Hashable {
    /// Where the cause is.
    enum Place: String, Encodable {
        case server
        case apple
        case phone
        case app
    }

    /// How sure it is (facts §0).
    enum Confidence: String, Encodable {
        case documented
        case appleEngineer = "apple-engineer"
        case observed
    }

    let place: Place
    /// What it is.
    let cause: String
    /// What to look at, or to do.
    let look: String
    let confidence: Confidence

    init(_ place: Place, _ cause: String, look: String, _ confidence: Confidence = .documented) {
        self.place = place
        self.cause = cause
        self.look = look
        self.confidence = confidence
    }
}

extension ProbeFindings {
    /// What is left to look at.
    var causes: [ProbeCause] {
        switch verdict {
        case .alive: Self.onTheServer + atApple + Self.onThePhone + Self.inTheApp
        case .dead: Self.reinstalled
        case .otherTopic: Self.otherTopic
        case .unknownEverywhere, .unknown: Self.unknownToken
        case .credentialRefused, .unexplained, .postponed, .unreachable:
            [
                ProbeCause(
                    .server, "No push gets as far as the token.",
                    look: "What the answers above say; rouse doctor.")
            ]
        }
    }

    private static let onTheServer = [
        ProbeCause(
            .server, "The gateway keeps the wake back: its budget, a paused or a held app.",
            look: "rouse device TOKEN says every reason with its time."),
        ProbeCause(
            .server,
            "A push that another program sends differs from this one, which had the type "
                + "background, priority 5, the plain bundle id as topic, and only "
                + "content-available in aps.",
            look: "rouse validate --push-type background FILE."),
    ]

    /// What APNs can have done with an accepted push.
    private var atApple: [ProbeCause] {
        let ids = answers.compactMap { answer -> String? in
            guard case .success(.accepted(let acceptance)) = answer.result else { return nil }
            return acceptance.apnsUniqueID
        }
        let log = "Delivery Log of Apple's Push Notifications Console"
        let look =
            ids.isEmpty
            ? "The \(log) has single pushes to the sandbox only."
            : "The \(log): look for \(ids.joined(separator: ", "))."
        return [
            ProbeCause(
                .apple,
                "APNs keeps the push while the phone is offline or saves its power, and discards "
                    + "it when it expires. It keeps one for each app: a newer one takes its place.",
                look: look),
            ProbeCause(
                .apple, "The phone's daily budget for silent pushes is used up, by all apps.",
                look: "Try again tomorrow."),
        ]
    }

    /// In the order in which they are met most often.
    private static let onThePhone = [
        ProbeCause(
            .phone, "The app was force-quit in the app switcher.",
            look: "Open it once, and send again."),
        ProbeCause(
            .phone, "It was launched for a push within the last 15 minutes or so.",
            look: "One push in half an hour.", .appleEngineer),
        ProbeCause(
            .phone, "Background App Refresh is off, for the phone or for the app.",
            look: "Settings, General, Background App Refresh.", .appleEngineer),
        ProbeCause(
            .phone, "Low Power Mode is on.",
            look: "Settings, Battery."),
        ProbeCause(
            .phone, "The battery is below about 20 % and not charging.",
            look: "Charge it.", .appleEngineer),
        ProbeCause(
            .phone, "The app was not opened for a long time.",
            look: "Open it.", .appleEngineer),
        ProbeCause(
            .phone, "The phone decided otherwise.",
            look: "Console on a Mac, the phone at the left, process:dasd and the bundle id: "
                + "Must Not Proceed and its rationale. process:apsd shows whether the push came.",
            .observed),
    ]

    private static let inTheApp = [
        ProbeCause(
            .app,
            "It lacks the background mode remote-notification or the push entitlement, has no "
                + "application(_:didReceiveRemoteNotification:fetchCompletionHandler:) in its app "
                + "delegate, or does not complete on every path within 30 seconds.",
            look: "rouse audit --sends background FOLDER."),
        ProbeCause(
            .app, "A task of BGTaskScheduler that the handler hands work to does not run.",
            look: "In lldb: e -l objc -- (void)[[BGTaskScheduler sharedScheduler] "
                + "_simulateLaunchForTaskWithIdentifier:@\"IDENTIFIER\"]"),
    ]

    private static let reinstalled = [
        ProbeCause(
            .app, "The app was removed, or has another token since.",
            look: "Register with APNs at each launch, and send the token to the server each time.")
    ]

    private static let otherTopic = [
        ProbeCause(
            .server, "The token is another app's, or PushKit's token for calls.",
            look: "Which bundle id, and which of the two tokens, the app stores where.")
    ]

    private static let unknownToken = [
        ProbeCause(
            .server,
            "The token is of the other environment: builds from Xcode have sandbox tokens, those "
                + "from TestFlight and the App Store production ones.",
            look: "rouse probe without --production and --sandbox asks both."),
        ProbeCause(
            .server, "The token was cut or changed on its way to the server.",
            look: "Compare it with what the app received, digit by digit.", .observed),
        ProbeCause(
            .server, "The token is of another app, or of the same one on a phone that was erased.",
            look: "Have the app register again, and take what it gets.", .observed),
    ]
}
