// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import PayloadRules
import WakeModel

/// An accepted wake, as the API returns it.
struct AcceptedWake {
    let wake: AdmittedWake

    /// Reads the wake from an admission result. Throws ``Problem`` for every other result;
    /// `inquiry` names the app in it.
    init(_ result: AdmissionResult, to inquiry: Inquiry? = nil) throws(Problem) {
        switch result {
        case .admitted(let wake): self.wake = wake
        case .invalid(let diagnostics):
            throw Problem.invalidWake(diagnostics)
        case .unknownApp:
            throw Problem.unknownApp(inquiry?.request.bundleID.value, inquiry?.environment)
        case .wrongEnvironment(let configured):
            throw Problem.wrongEnvironment(inquiry?.request.bundleID.value, configured)
        case .ambiguousEnvironment:
            throw Problem.ambiguousEnvironment
        case .wrongCredential(let why):
            var problem = Problem(.wrongCredential, why)
            problem.field = "kind"
            throw problem
        case .idempotencyConflict:
            throw Problem.idempotencyConflict
        case .overloaded(let seconds):
            throw Problem(.overloaded, "Try again later.").retrying(afterSeconds: seconds)
        case .unavailable(let reason):
            throw Problem(.unavailable, reason)
                .retrying(afterSeconds: Problem.unavailablePauseSeconds)
        case .damaged(let reason):
            throw Problem(.damagedRow, reason)
        }
    }

    /// `Location`, and `Idempotency-Replayed` for a repeated request. The latter is a header
    /// because the body of a repetition is the same, byte for byte.
    var headers: HTTPFields {
        var headers = HTTPFields()
        headers[.location] = "/v1/wakes/\(wake.id)"
        if wake.isRepeated, let name = HTTPField.Name("idempotency-replayed") {
            headers[name] = "true"
        }
        return headers
    }

    var json: JSONValue { json(wake.decision.message(until: wake.deadline), nil) }

    /// The answer to `wait=outcome` when the wake has not ended in time: the decision made at
    /// acceptance, the present state, and why the wake still waits.
    func json(in state: WakeState, _ waiting: WaitExplanation) -> JSONValue {
        json(wake.decision.pastMessage, (state, waiting))
    }

    private func json(
        _ message: String, _ present: (state: WakeState, waiting: WaitExplanation)?
    ) -> JSONValue {
        .object([
            ("id", .string(wake.id.description)),
            ("accepted_at", .string(wake.acceptedAt.description)),
            ("deadline", .string(wake.deadline.description)),
            ("decision", wake.decision.json(message, until: wake.deadline)),
            ("state", present.map { .string($0.state.rawValue) }),
            ("waiting", present.map(\.waiting.json)),
            (
                "diagnostics",
                wake.diagnostics.isEmpty ? nil : .array(wake.diagnostics.map(\.json))
            ),
        ])
    }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object([
            .required("id", .string("The wake's id, and its apns-id.", format: "uuid")),
            .required("accepted_at", .instant()),
            .required("deadline", .instant("From when on it is never sent any more.")),
            .required("decision", .named(.decision)),
            .optional("state", .words(of: WakeState.self)),
            .optional("waiting", .named(.waiting)),
            .optional(
                "diagnostics",
                .array(of: .named(.diagnostic), "What the rules found: warnings and notes.")),
        ])
    }
}

extension Problem {
    /// A push in which the rules found errors. All findings are in it, errors first, because they
    /// are the reason; findings of one severity keep the rules' order.
    static func invalidWake(_ diagnostics: [Diagnostic]) -> Problem {
        var problem = Problem(.invalidWake, "See the diagnostics.")
        problem.diagnostics = Severity.allCases.sorted(by: >).flatMap { severity in
            diagnostics.filter { $0.severity == severity }
        }
        // A finding with a header is about another member of the body than the payload.
        if problem.diagnostics.first?.header == nil { problem.field = "payload" }
        return problem
    }

    /// No app with this bundle id is configured. `field` is the member or parameter that has it.
    ///
    /// The message repeats only a name with a dot. Text without one is not a bundle id, and may be
    /// a token or another secret in the wrong place.
    static func unknownApp(
        _ name: String?, _ environment: APNsEnvironment?, field: String = "app"
    ) -> Problem {
        let place = environment.map { " for \($0)" } ?? ""
        var problem = Problem(
            .unknownApp,
            (name.flatMap { $0.contains(".") ? "The app \($0)" : nil } ?? "The app")
                + " is not configured\(place). Add it to apps in the gateway's configuration.")
        problem.field = field
        return problem
    }

    /// The app is configured for this environment, and the request names the other one.
    static func wrongEnvironment(_ name: String?, _ configured: APNsEnvironment) -> Problem {
        let app = name.map { "The app \($0)" } ?? "The app"
        let other = APNsEnvironment.allCases.first { $0 != configured } ?? configured
        var problem = Problem(
            .unknownApp,
            "\(app) is configured for \(configured) and not for \(other). Leave environment "
                + "out, or add the app for \(other) to apps in the gateway's configuration.")
        problem.field = "environment"
        return problem
    }

    static var idempotencyConflict: Problem {
        var problem = Problem(.idempotencyConflict, "Use a new key for a new request.")
        problem.field = "Idempotency-Key"
        return problem
    }

    static var ambiguousEnvironment: Problem {
        Problem(.ambiguousEnvironment, "Add environment: production or sandbox.")
    }
}
