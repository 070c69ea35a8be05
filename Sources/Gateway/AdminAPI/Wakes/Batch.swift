// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

/// The places of a request for many wakes: what the gateway is asked for them, and what is wrong
/// with the others.
struct Batch {
    private enum Place {
        /// It is asked for by this inquiry.
        case asked(Int)
        /// It asks for the same wake as an earlier place.
        case duplicate(of: Int)
        /// It could not be parsed, or may not be asked for.
        case refused(Problem)
    }

    /// What the gateway is asked, in order.
    private(set) var inquiries: [Inquiry] = []
    private var places: [Place] = []

    /// An empty one, with memory for so many places.
    init(capacity: Int) {
        inquiries.reserveCapacity(capacity)
        places.reserveCapacity(capacity)
    }

    /// How many places there are.
    var count: Int { places.count }

    /// Asks for a wake at the next place.
    mutating func ask(_ inquiry: Inquiry) {
        places.append(.asked(inquiries.count))
        inquiries.append(inquiry)
    }

    /// Gives the next place the answer of an earlier one.
    mutating func repeatAnswer(of place: Int) { places.append(.duplicate(of: place)) }

    /// Refuses the next place.
    mutating func refuse(_ problem: Problem) { places.append(.refused(problem)) }

    /// What the answer for an item that is taken comes to, in bytes; memory is set aside for it.
    private static let answerByteCount = 320

    /// The answer for each place, in order, with pauses for others; what the rules found in wakes
    /// that were taken only on demand. Throws what kept the gateway from taking any.
    func answer(
        _ answers: [AdmissionResult], withDiagnostics: Bool, _ turn: WorkTurn
    ) async throws(Problem) -> JSONValue {
        // Written one by one: values for all of them would be a tree of thousands of pieces.
        var items = [UInt8(ascii: "[")]
        items.reserveCapacity(places.count * Self.answerByteCount)
        var text = AcceptedWakeText(withDiagnostics: withDiagnostics)
        var acceptedCount = 0
        var obstacle: Problem?
        for (index, place) in places.enumerated() {
            await turn.pause()
            if index > 0 { items.append(UInt8(ascii: ",")) }
            var origin: Int?
            if case .duplicate(let first) = place { origin = first }
            do throws(Problem) {
                let accepted = try accepted(at: place, answers)
                acceptedCount += 1
                items.append(contentsOf: #"{"status":202,"#.utf8)
                if accepted.wake.isRepeated { items.append(contentsOf: #""replayed":true,"#.utf8) }
                if let origin { items.append(contentsOf: #""duplicate_of":\#(origin),"#.utf8) }
                items.append(contentsOf: #""wake":"#.utf8)
                text.append(accepted, to: &items)
                items.append(UInt8(ascii: "}"))
            } catch {
                if error.code == .overloaded || error.code == .unavailable { obstacle = error }
                JSONValue.object([
                    ("status", .integer(Int64(error.code.status))),
                    ("duplicate_of", origin.map { .integer(Int64($0)) }),
                    ("problem", error.document),
                ])
                .append(to: &items)
            }
        }
        items.append(UInt8(ascii: "]"))
        if acceptedCount == 0, let obstacle { throw obstacle }
        return .object([
            ("accepted", .integer(Int64(acceptedCount))),
            ("refused", .integer(Int64(places.count - acceptedCount))),
            ("items", .raw(items)),
        ])
    }

    private func accepted(
        at place: Place, _ answers: [AdmissionResult]
    ) throws(Problem) -> AcceptedWake {
        switch place {
        case .asked(let number): try AcceptedWake(answers[number], to: inquiries[number])
        case .duplicate(let first): try accepted(at: places[first], answers)
        case .refused(let problem): throw problem
        }
    }

    /// What the OpenAPI document says of an answer.
    static var schema: Schema {
        .object([
            .required("accepted", .count("Items with the status 202.")),
            .required("refused", .count("The others.")),
            .required(
                "items",
                .array(
                    of: .object([
                        .required("status", .integer("202, or the problem's.", in: 202...599)),
                        .optional(
                            "replayed",
                            .boolean(
                                "true where the wake was there already, as Idempotency-Replayed "
                                    + "is for a single wake.")),
                        .optional(
                            "duplicate_of",
                            .count(
                                "The place, from 0, of the same device token earlier in the "
                                    + "request: one wake is for both.")),
                        .optional("wake", .named(.acceptedWake)),
                        .optional("problem", .named(.problem)),
                    ]), "In the order of the request.")),
        ])
    }
}

// What the routes for many wakes have in common.

extension Operation.Parameter {
    /// Over how long the wakes of a request are spread.
    static let spread = Operation.Parameter(
        name: "spread", place: .query, schema: .integer(in: 0...WakeTerms.maximumSpreadSeconds),
        description: "Spread the due times evenly over so many seconds. Calls are not spread.")

    /// Whether accepted wakes come with what the rules found.
    static let diagnostics = Operation.Parameter(
        name: "diagnostics", place: .query, schema: .boolean(),
        description: "true to have the rules' warnings and notes with each accepted wake too; "
            + "those of a refused one are always there.")
}

extension Query {
    /// Over how many seconds the wakes of a request are spread.
    func spread() throws(Problem) -> Int {
        try integer("spread", in: 0...Int(WakeTerms.maximumSpreadSeconds)) ?? 0
    }
}

extension Problem {
    /// A wake among many that is to be spread by itself; `place` is where it says so.
    static func spreadAmongMany(_ place: String) -> Problem {
        Problem(
            InvalidField(
                field: "spread_seconds", problem: "stands in \(place)",
                remedy: "Add ?spread= to the path: it is spread as a whole."))
    }
}
