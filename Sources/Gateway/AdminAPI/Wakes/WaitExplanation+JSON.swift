// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

extension WaitExplanation {
    /// The reasons why a wake waits, as data and as messages.
    var json: JSONValue {
        .object([
            ("message", .string(message)),
            ("earliest", isNever ? nil : .string(earliest.description)),
            ("open_ended", .boolean(isOpenEnded)),
            ("will_expire", .boolean(willExpire)),
            (
                "reasons",
                .array(
                    reasons.map { reason in
                        .object([
                            ("reason", .string(DelayReasonWord.word(for: reason.kind))),
                            ("until", reason.until.map { .string($0.description) }),
                            ("message", .string(reason.sentence)),
                        ])
                    })
            ),
        ])
    }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        .object([
            .required("message", .string("When it goes, or why not, with all reasons by name.")),
            .optional(
                "earliest",
                .instant(
                    "When it may be sent at the earliest, as things are; not there for a dead "
                        + "token.")),
            .required(
                "open_ended", .boolean("Whether it may wait longer, for something unforeseeable.")),
            .required(
                "will_expire", .boolean("Whether its deadline comes first, as things are.")),
            .required(
                "reasons",
                .array(
                    of: .object([
                        .required("reason", .words(DelayReasonWord.all)),
                        .optional("until", .instant("Until when at least.")),
                        .required("message", .string()),
                    ]), "All that keeps it back.")),
        ])
    }
}
