// SPDX-License-Identifier: Apache-2.0

import Gateway
import PayloadRules
import WakeModel

/// The schemas that have a name in the OpenAPI document.
enum Component: String, CaseIterable {
    case problem = "Problem"
    case diagnostic = "Diagnostic"
    case health = "Health"
    case readiness = "Readiness"
    case validationRequest = "ValidationRequest"
    case validationReport = "ValidationReport"

    var schema: Schema {
        switch self {
        case .problem: Self.problemSchema
        case .diagnostic: Self.diagnosticSchema
        case .health:
            .object([.required("status", .words(["alive"]))])
        case .readiness:
            .object([
                .required("status", .words(["ready", "not-ready"])),
                .required(
                    "reasons", .array(of: .string(), "What stands in the way, in sentences.")),
            ])
        case .validationRequest: ValidateRoutes.requestSchema
        case .validationReport: ValidateRoutes.reportSchema
        }
    }

    private static var problemSchema: Schema {
        .object([
            .required("type", .words(ProblemCode.allCases.map(\.type))),
            .required("title", .string("The problem in a few words.")),
            .required("status", .integer("The HTTP status.", in: 400...599)),
            .required("code", .words(of: ProblemCode.self, "Never changes its meaning.")),
            .required("detail", .string("This occurrence, in words.")),
            .optional("diagnostics", .array(of: .named(.diagnostic), "The rules' findings.")),
        ])
    }

    private static var diagnosticSchema: Schema {
        .object([
            .required("rule", .string("The rule, as `rouse rules` tells it.", example: "BG001")),
            .required("severity", .words(of: Severity.self)),
            .required("message", .string("What is wrong.")),
            .required("fix", .string("What to do.")),
            .optional("header", .string("The header that it is about.")),
            .required("pointer", .string("A JSON pointer into the payload (RFC 6901).")),
            .required("line", .integer("From 1, in the payload.", in: 0...Int64.max)),
            .required("column", .integer("From 1, in bytes.", in: 0...Int64.max)),
            .required("offset", .count("From 0, in bytes.")),
        ])
    }
}
