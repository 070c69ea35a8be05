// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

/// The items of a request for many wakes, in order: each has inquiries to the gateway, or a
/// problem.
struct Batch {
    private enum Place {
        /// A wake on one device, with this inquiry.
        case asked(Int)
        /// The same device as at an earlier place of a multicast.
        case duplicate(of: Int)
        /// An item that was refused before the gateway was asked.
        case refused(Problem)
        /// A wake on each device of a user, with these inquiries.
        case user(Range<Int>)
    }

    /// A place for a user whose devices are looked up.
    private struct OpenPlace {
        let place: Int
        let user: UserID
        let terms: WakeTerms
        let mark: IdempotencyKey?
    }

    /// The maximum number of wakes of a request that names users.
    static let maximumWakeCount = 10_000

    /// The inquiries to the gateway, in order.
    private(set) var inquiries: [Inquiry] = []
    private var places: [Place] = []
    private var openPlaces: [OpenPlace] = []
    /// Resolved places with an idempotency key;
    /// ``submit(to:spreadSeconds:caller:withDiagnostics:)`` may resolve them again.
    private var markedPlaces: [OpenPlace] = []
    /// The number of inquiries that no place refers to, because their places were resolved again.
    private var replacedCount = 0

    /// Creates an empty batch that reserves memory for so many places.
    init(capacity: Int) {
        inquiries.reserveCapacity(capacity)
        places.reserveCapacity(capacity)
    }

    /// Whether ``resolveUsers(by:)`` has places to resolve.
    var hasUsers: Bool { !openPlaces.isEmpty }

    /// Adds a request for a wake as the next place.
    mutating func ask(_ inquiry: Inquiry) {
        places.append(.asked(inquiries.count))
        inquiries.append(inquiry)
    }

    /// Adds a request for a wake on each device of a user as the next place; see
    /// ``resolveUsers(by:)``.
    mutating func ask(user: UserID, _ terms: WakeTerms, _ mark: IdempotencyKey?) {
        openPlaces.append(
            OpenPlace(place: places.count, user: user, terms: terms, mark: mark))
        places.append(.refused(.noDevices))
    }

    /// Looks up the users' devices and adds an inquiry for each device. Throws when the store
    /// fails.
    mutating func resolveUsers(by gateway: Gateway) async throws(Problem) {
        let open = openPlaces
        openPlaces = []
        var targets: [UserTarget] = []
        var asked: [OpenPlace] = []
        for place in open {
            // Checked first: the answer to an invalid request must not depend on whether the user
            // has devices.
            if let refusal = try place.terms.refusal(by: gateway) {
                places[place.place] = .refused(refusal)
            } else if let queue = gateway.queue(place.terms) {
                targets.append(
                    UserTarget(user: place.user, queue: queue, idempotency: place.mark))
                asked.append(place)
            }
        }
        // In parts, because a user may have hundreds of devices: the limit of the request is
        // checked before each part, so that no more devices are read than it allows.
        for start in stride(from: 0, to: targets.count, by: Self.resolvedAtOnce) {
            let part = start..<min(start + Self.resolvedAtOnce, targets.count)
            guard inquiries.count - replacedCount < Self.maximumWakeCount else {
                for place in asked[part] { places[place.place] = .refused(Self.tooManyDevices) }
                continue
            }
            let resolutions = try await asking { () async throws(StoreFailure) in
                try await gateway.resolve(Array(targets[part]))
            }
            for (place, resolution) in zip(asked[part], resolutions) { take(resolution, at: place) }
        }
    }

    /// The number of users that are looked up at a time.
    private static let resolvedAtOnce = 64

    private static let tooManyDevices = Problem(
        .bodyTooLarge,
        "The request's users have more than \(maximumWakeCount) devices together. Send the rest in "
            + "another request.")

    /// Submits the inquiries and returns an answer for each. Throws when the store fails to return
    /// a user's devices.
    ///
    /// A request with the same idempotency key may be accepted between ``resolveUsers(by:)`` and
    /// this call, when the user has other devices. The gateway then answers `idempotencyConflict`
    /// for this user and accepts none of the wakes. The user is resolved once more, to the devices
    /// of the accepted request, and gets the answers of their wakes.
    mutating func submit(
        to gateway: Gateway, spreadSeconds: Int, caller: String, withDiagnostics: Bool = true
    ) async throws(Problem) -> [AdmissionResult] {
        var answers = await gateway.accept(
            inquiries, spreadSeconds: spreadSeconds, caller: caller,
            withDiagnostics: withDiagnostics)
        openPlaces = markedPlaces.filter { open in
            guard case .user(let range) = places[open.place] else { return false }
            guard answers[range].contains(.idempotencyConflict) else { return false }
            replacedCount += range.count
            return true
        }
        guard hasUsers else { return answers }
        for open in openPlaces { places[open.place] = .refused(.noDevices) }
        try await resolveUsers(by: gateway)
        answers += await gateway.accept(
            Array(inquiries[answers.count...]), spreadSeconds: spreadSeconds, caller: caller,
            withDiagnostics: withDiagnostics)
        return answers
    }

    private mutating func take(_ resolution: UserResolution, at place: OpenPlace) {
        switch resolution {
        case .idempotencyConflict: places[place.place] = .refused(Problem.idempotencyConflict)
        case .devices(let devices) where devices.isEmpty: break
        case .devices(let devices):
            guard inquiries.count - replacedCount + devices.count <= Self.maximumWakeCount else {
                places[place.place] = .refused(Self.tooManyDevices)
                return
            }
            let first = inquiries.count
            for device in devices {
                inquiries.append(
                    place.terms.inquiry(to: device.deviceToken, device.idempotency))
            }
            places[place.place] = .user(first..<inquiries.count)
            if place.mark != nil { markedPlaces.append(place) }
        }
    }

    /// Adds a place that has the same device as an earlier one.
    mutating func repeatAnswer(of place: Int) { places.append(.duplicate(of: place)) }

    /// Adds a place that is refused.
    mutating func refuse(_ problem: Problem) { places.append(.refused(problem)) }

    /// The approximate size of the answer for an accepted item, in bytes, to reserve memory.
    private static let answerByteCount = 320

    /// Writes the answer for each place, in order. With `withDiagnostics`, accepted wakes have the
    /// rules' findings. Throws ``Problem`` when no wake was accepted because the gateway is
    /// overloaded or its store fails.
    ///
    /// Pauses between items, so that a long list does not delay other requests.
    func answer(
        _ answers: [AdmissionResult], withDiagnostics: Bool, _ turn: WorkTurn
    ) async throws(Problem) -> JSONValue {
        // Bytes, because a `JSONValue` for thousands of items takes much more memory.
        var items = [UInt8(ascii: "[")]
        items.reserveCapacity(places.count * Self.answerByteCount)
        var text = AcceptedWakeText(withDiagnostics: withDiagnostics)
        var acceptedCount = 0
        var obstacle: Problem?
        for (index, place) in places.enumerated() {
            await turn.pause()
            if index > 0 { items.append(UInt8(ascii: ",")) }
            if case .user(let range) = place {
                let (written, found) = append(range, answers, to: &items, &text)
                acceptedCount += written > 0 ? 1 : 0
                obstacle = found ?? obstacle
                continue
            }
            do throws(Problem) {
                let accepted = try accepted(at: place, answers)
                acceptedCount += 1
                // The answer of the first place is not repeated: a small request with thousands of
                // duplicates would get a large answer.
                if case .duplicate(let first) = place {
                    items.append(contentsOf: #"{"status":202,"duplicate_of":\#(first)}"#.utf8)
                    continue
                }
                items.append(contentsOf: #"{"status":202,"#.utf8)
                if accepted.wake.isRepeated { items.append(contentsOf: #""replayed":true,"#.utf8) }
                items.append(contentsOf: #""wake":"#.utf8)
                text.append(accepted, to: &items)
                items.append(UInt8(ascii: "}"))
            } catch {
                if error.code == .overloaded || error.code == .unavailable { obstacle = error }
                var origin: Int?
                if case .duplicate(let first) = place { origin = first }
                JSONValue.object([
                    ("status", .integer(Int64(error.code.status))),
                    ("duplicate_of", origin.map { .integer(Int64($0)) }),
                    ("problem", origin == nil ? error.document : nil),
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

    /// Appends the answer for a user, with an item for each device. Returns the number of accepted
    /// wakes, and the last problem that was an overload or a failure of the store.
    private func append(
        _ range: Range<Int>, _ answers: [AdmissionResult], to items: inout [UInt8],
        _ text: inout AcceptedWakeText
    ) -> (accepted: Int, obstacle: Problem?) {
        var acceptedCount = 0
        var obstacle: Problem?
        var status = 202
        var wakes: [UInt8] = []
        for number in range {
            if number > range.lowerBound { wakes.append(UInt8(ascii: ",")) }
            let device = inquiries[number].request.deviceToken.description
            do throws(Problem) {
                let accepted = try AcceptedWake(answers[number], to: inquiries[number])
                acceptedCount += 1
                wakes.append(contentsOf: #"{"status":202,"device":"\#(device)","#.utf8)
                if accepted.wake.isRepeated { wakes.append(contentsOf: #""replayed":true,"#.utf8) }
                wakes.append(contentsOf: #""wake":"#.utf8)
                text.append(accepted, to: &wakes)
                wakes.append(UInt8(ascii: "}"))
            } catch {
                if error.code == .overloaded || error.code == .unavailable { obstacle = error }
                status = error.code.status
                JSONValue.object([
                    ("status", .integer(Int64(status))), ("device", .string(device)),
                    ("problem", error.document),
                ])
                .append(to: &wakes)
            }
        }
        JSONValue.object([
            ("status", .integer(acceptedCount > 0 ? 202 : Int64(status))),
            ("accepted", .integer(Int64(acceptedCount))),
            ("refused", .integer(Int64(range.count - acceptedCount))),
            ("items", .raw(Array("[".utf8) + wakes + Array("]".utf8))),
        ])
        .append(to: &items)
        return (acceptedCount, obstacle)
    }

    /// Returns the answer to a request that is for one user. Throws a problem that concerns all
    /// devices, or an overload or a failure of the store when no wake was accepted.
    func userAnswer(_ answers: [AdmissionResult]) throws(Problem) -> JSONValue {
        guard case .user(let range) = places[0] else {
            if case .refused(let problem) = places[0] { throw problem }
            preconditionFailure("The place is for a user.")
        }
        let first = range.lowerBound
        if answers[first].concernsAll { _ = try AcceptedWake(answers[first], to: inquiries[first]) }
        var items: [UInt8] = []
        var text = AcceptedWakeText(withDiagnostics: true)
        let (accepted, obstacle) = append(range, answers, to: &items, &text)
        if accepted == 0, let obstacle { throw obstacle }
        return .raw(items)
    }

    private func accepted(
        at place: Place, _ answers: [AdmissionResult]
    ) throws(Problem) -> AcceptedWake {
        switch place {
        case .asked(let number): try AcceptedWake(answers[number], to: inquiries[number])
        case .duplicate(let first): try accepted(at: places[first], answers)
        case .refused(let problem): throw problem
        case .user: preconditionFailure("A user has an answer for each device.")
        }
    }

    /// The schema of an answer in the OpenAPI document.
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
                                    + "request: one wake is for both, and its answer is there.")),
                        .optional("wake", .named(.acceptedWake)),
                        .optional("problem", .named(.problem)),
                        .optional("accepted", .count("For a user: the wakes that were accepted.")),
                        .optional("refused", .count("For a user: the others.")),
                        .optional("items", userItems),
                    ]), "In the order of the request.")),
        ])
    }

    private static var userItems: Schema {
        .array(
            of: .object([
                .required("status", .integer("202, or the problem's.", in: 202...599)),
                .required("device", .string("A digest of the device token.")),
                .optional("replayed", .boolean("true where the wake was there already.")),
                .optional("wake", .named(.acceptedWake)),
                .optional("problem", .named(.problem)),
            ]), "For a user: an answer for each device.")
    }

    /// The schema of the answer to a single request for a user, in the OpenAPI document.
    static var userSchema: Schema {
        .object([
            .required(
                "status", .integer("202 where any was accepted, or a problem's.", in: 202...599)),
            .required("accepted", .count("The wakes that were accepted.")),
            .required("refused", .count("The others.")),
            .required("items", userItems),
        ])
    }
}

// Shared by the routes for many wakes.

extension Operation.Parameter {
    /// `spread`: the time over which the wakes of a request are spread.
    static let spread = Operation.Parameter(
        name: "spread", place: .query, schema: .integer(in: 0...WakeTerms.maximumSpreadSeconds),
        description: "Spread the due times evenly over so many seconds. Calls are not spread.")

    /// `diagnostics`: whether the answer has the rules' findings for accepted wakes.
    static let diagnostics = Operation.Parameter(
        name: "diagnostics", place: .query, schema: .boolean(),
        description: "true to have the rules' warnings and notes with each accepted wake too; "
            + "those of a refused one are always there.")
}

extension Query {
    /// The value of `spread` in seconds; 0 by default.
    func spread() throws(Problem) -> Int {
        try integer("spread", in: 0...Int(WakeTerms.maximumSpreadSeconds)) ?? 0
    }
}

extension Problem {
    /// `spread_seconds` in a request for many wakes; `place` says where it is given.
    static func spreadAmongMany(_ place: String) -> Problem {
        Problem(
            InvalidField(
                field: "spread_seconds", problem: "is given in \(place)",
                remedy: "Add ?spread= to the path: it is spread as a whole."))
    }
}

extension WakeTerms {
    /// The reason to refuse these terms for every device; `nil` when there is none.
    func refusal(by gateway: Gateway) throws(Problem) -> Problem? {
        let any = try parsing(String(repeating: "0", count: 64)) {
            (text) throws(InvalidField) in try DeviceToken(hex: text)
        }
        let inquiry = inquiry(to: any, nil)
        guard let result = gateway.refusal(of: inquiry) else { return nil }
        do throws(Problem) {
            _ = try AcceptedWake(result, to: inquiry)
            return nil
        } catch {
            return error
        }
    }
}

extension Gateway {
    /// The queue of a wake with these terms; `nil` unless exactly one configured app matches.
    fileprivate func queue(_ terms: WakeTerms) -> WakeQueueKey? {
        let found = apps.map(\.app).filter {
            $0.bundleID == terms.bundleID
                && (terms.environment == nil || $0.environment == terms.environment)
        }
        guard let app = found.first, found.count == 1 else { return nil }
        return WakeQueueKey(app: app, kind: terms.kind)
    }
}

extension AdmissionResult {
    /// Whether the result depends on the terms alone, so that every device with them has the same.
    var concernsAll: Bool {
        switch self {
        case .invalid, .unknownApp, .wrongEnvironment, .ambiguousEnvironment, .wrongCredential:
            true
        case .admitted, .idempotencyConflict, .overloaded, .unavailable, .damaged: false
        }
    }
}
