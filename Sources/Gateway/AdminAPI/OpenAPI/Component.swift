// SPDX-License-Identifier: Apache-2.0

import Gateway
import PayloadRules
import WakeBudget
import WakeModel

/// The named schemas of the OpenAPI document.
enum Component: String, CaseIterable {
    case problem = "Problem"
    case diagnostic = "Diagnostic"
    case health = "Health"
    case readiness = "Readiness"
    case validationRequest = "ValidationRequest"
    case validationReport = "ValidationReport"
    case wakeRequest = "WakeRequest"
    case multicastRequest = "MulticastRequest"
    case backgroundPayload = "BackgroundPayload"
    case voipPayload = "VoIPPayload"
    case acceptedWake = "AcceptedWake"
    case batchAnswer = "BatchAnswer"
    case decision = "Decision"
    case wake = "Wake"
    case wakeLookup = "WakeLookup"
    case wakePage = "WakePage"
    case outcome = "Outcome"
    case attempt = "Attempt"
    case waiting = "Waiting"
    case device = "Device"
    case deviceQueue = "DeviceQueue"
    case budget = "Budget"
    case deviceLookup = "DeviceLookup"
    case deviceForget = "DeviceForget"
    case signals = "Signals"
    case deviceSignals = "DeviceSignals"
    case registration = "Registration"
    case deviceRegistration = "DeviceRegistration"
    case deviceAnswer = "DeviceAnswer"
    case userAnswer = "UserAnswer"
    case userDevices = "UserDevices"
    case userRemoval = "UserRemoval"
    case receipt = "Receipt"
    case receipts = "Receipts"
    case receiptAnswers = "ReceiptAnswers"
    case channelCreation = "ChannelCreation"
    case channel = "Channel"
    case channelList = "ChannelList"
    case broadcastRequest = "BroadcastRequest"
    case broadcast = "Broadcast"
    case feedbackEntry = "FeedbackEntry"
    case feedbackPage = "FeedbackPage"
    case app = "App"
    case appList = "AppList"
    case queue = "Queue"
    case stats = "Stats"
    case history = "History"
    case webhookList = "WebhookList"
    case webhookHealth = "WebhookHealth"
    case webhookMessage = "WebhookMessage"
    case webhookEvent = "WebhookEvent"
    case appHold = "AppHold"

    var schema: Schema {
        switch self {
        case .problem: Self.problemSchema
        case .diagnostic: Self.diagnosticSchema
        case .health: .object([.required("status", .words(["alive"]))])
        case .readiness: Self.readinessSchema
        case .validationRequest: ValidateRoutes.requestSchema
        case .validationReport: ValidateRoutes.reportSchema
        case .wakeRequest: WakeBody.schema
        case .multicastRequest: MulticastBody.schema
        case .backgroundPayload: Self.payload(.background)
        case .voipPayload: Self.payload(.voip)
        case .acceptedWake: AcceptedWake.schema
        case .batchAnswer: Batch.schema
        case .decision: WakeDecision.schema
        case .wake: WakeRecord.schema
        case .wakeLookup: WakeLookupBody.schema
        case .wakePage:
            .object([
                .required("wakes", .array(of: .named(.wake))),
                .optional("next", .string("The cursor of the next page.", format: "uuid")),
            ])
        case .outcome: WakeEnd.schema
        case .attempt: AttemptRecord.schema
        case .waiting: WaitExplanation.schema
        case .device: .object([.required("queues", .array(of: .named(.deviceQueue)))])
        case .deviceQueue: DeviceView.schema
        case .budget: Explanation.schema
        case .deviceLookup: DeviceLookupBody.schema
        case .deviceForget: DeviceBody.schema
        case .signals: SignalsBody.schema(namesDevice: false)
        case .deviceSignals: SignalsBody.schema(namesDevice: true)
        case .registration: RegistrationBody.schema(namesDevice: false)
        case .deviceRegistration: RegistrationBody.schema(namesDevice: true)
        case .deviceAnswer:
            .object([
                .required(
                    "ended", .array(of: .string(format: "uuid"), "Wakes that ended because of it."))
            ])
        case .userAnswer: Batch.userSchema
        case .userDevices: UserDevice.listSchema
        case .userRemoval:
            .object([.required("removed", .count("How many registrations were removed."))])
        case .receipt: ReceiptsBody.receiptSchema
        case .receipts: ReceiptsBody.schema
        case .receiptAnswers: ReceiptRoutes.answerSchema
        case .channelCreation: ChannelCreationBody.schema
        case .channel: ChannelRoutes.channelSchema
        case .channelList: ChannelRoutes.listSchema
        case .broadcastRequest: BroadcastBody.schema
        case .broadcast: ChannelRoutes.broadcastSchema
        case .feedbackEntry: FeedbackEntry.schema
        case .feedbackPage:
            .object([
                .required("entries", .array(of: .named(.feedbackEntry))),
                .required("cursor", .sequenceNumber("Where to go on.")),
            ])
        case .app: AppStatus.schema
        case .appList: .object([.required("apps", .array(of: .named(.app)))])
        case .queue: QueueStatus.schema
        case .stats: GatewayStats.schema
        case .history: MetricsHistory.schema
        case .webhookList:
            .object([.required("endpoints", .array(of: .named(.webhookHealth)))])
        case .webhookHealth: WebhookHealth.schema
        case .webhookMessage:
            .object([.required("events", .array(of: .named(.webhookEvent)))])
        case .webhookEvent: WebhookItem.schema
        case .appHold: AppHold.schema
        }
    }

    private static func payload(_ kind: WakeKind) -> Schema {
        Schema(json: .raw(Array(PayloadSchema.accepted(of: kind).utf8)))
    }

    private static var readinessSchema: Schema {
        .object([
            .required("status", .words(["ready", "not-ready"])),
            .required("reasons", .array(of: .string(), "What prevents it, in sentences.")),
            .required(
                "warnings", .array(of: .string(), "What does not, and somebody should look at.")),
        ])
    }

    private static var problemSchema: Schema {
        .object([
            .required("type", .words(ProblemCode.allCases.map(\.type))),
            .required("title", .string("The problem in a few words.")),
            .required("status", .integer("The HTTP status.", in: 400...599)),
            .required("code", .words(of: ProblemCode.self, "Never changes its meaning.")),
            .required("detail", .string("This occurrence, in words.")),
            .optional("field", .string("The member, parameter or header that is to blame.")),
            .optional("diagnostics", .array(of: .named(.diagnostic), "The rules' findings.")),
            .optional(
                "apns",
                .meant(
                    Problem.APNsAnswer.schema, "What APNs answered to a request about a channel.")
            ),
            .optional(
                "certainty",
                .words(of: Certainty.self, "With apns-unanswered: whether it can have been done.")
            ),
        ])
    }

    private static var diagnosticSchema: Schema {
        .object([
            .required("rule", .string("The rule's id, as in `rouse rules`.", example: "BG001")),
            .required("severity", .words(of: Severity.self)),
            .required("message", .string("What is wrong.")),
            .required("fix", .string("What to do.")),
            .optional("header", .string("The header that it is about.")),
            .required("pointer", .string("A JSON pointer into the payload (RFC 6901).")),
            .required("line", .integer("From 1, in the payload.", in: 0...Int64.max)),
            .required("column", .integer("From 1, in characters.", in: 0...Int64.max)),
            .required("offset", .count("From 0, in bytes.")),
        ])
    }
}
