// SPDX-License-Identifier: Apache-2.0

import Gateway
import Hummingbird
import WakeModel

/// The query of a request, read by name and type. The router has checked that every parameter is
/// known and given once.
struct Query {
    private let request: Request

    init(_ request: Request) { self.request = request }

    /// A string; `nil` if the parameter is missing.
    func string(_ name: String) -> String? {
        guard request.uri.query != nil else { return nil }
        return request.uri.queryParameters[Substring(name)].map(String.init)
    }

    /// An integer within a range; `nil` if the parameter is missing.
    func integer(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = string(name) else { return nil }
        guard let number = Int(text), range.contains(number), text.first != "+" else {
            throw Problem(
                InvalidField(
                    field: name,
                    problem: "is not a whole number from \(range.lowerBound) to "
                        + "\(range.upperBound)",
                    remedy: "Write digits only."))
        }
        return number
    }

    /// A Boolean; `nil` if the parameter is missing.
    func boolean(_ name: String) throws(Problem) -> Bool? {
        guard let text = string(name) else { return nil }
        guard text == "true" || text == "false" else {
            throw Problem(
                InvalidField(
                    field: name, problem: "is neither true nor false",
                    remedy: "Write \(name)=true, or leave it out."))
        }
        return text == "true"
    }

    /// One of the raw values of an enumeration; `nil` if the parameter is missing.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type = Choice.self
    ) throws(Problem) -> Choice? {
        guard let text = string(name) else { return nil }
        return try Self.choice(name, text)
    }

    /// A comma-separated list of values of an enumeration; empty if the parameter is missing.
    func choices<Choice: RawRepresentable<String> & CaseIterable & Hashable>(
        _ name: String, _ type: Choice.Type = Choice.self
    ) throws(Problem) -> Set<Choice> {
        guard let text = string(name) else { return [] }
        var choices: Set<Choice> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            choices.insert(try Self.choice(name, String(word)))
        }
        return choices
    }

    /// A parsed value; `nil` if the parameter is missing. A problem names the parameter instead of
    /// the field of the type, and has `remedy` if it is given.
    func value<Value>(
        _ name: String, remedy: String? = nil,
        _ parse: (String) throws(InvalidField) -> Value
    ) throws(Problem) -> Value? {
        guard let text = string(name) else { return nil }
        return try parsing(text, as: name, remedy: remedy, parse)
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ text: String
    ) throws(Problem) -> Choice {
        guard let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(
                InvalidField(
                    field: name, problem: "has a value that is not known", remedy: "Use \(words)."))
        }
        return choice
    }
}

/// Parses a text. Throws ``Problem`` for an invalid one, about the field `name`.
func parsing<Value>(
    _ text: String, as name: String? = nil, remedy: String? = nil,
    _ parse: (String) throws(InvalidField) -> Value
) throws(Problem) -> Value {
    do throws(InvalidField) {
        guard let name else { return try parse(text) }
        return try naming(name, remedy: remedy) { () throws(InvalidField) in try parse(text) }
    } catch {
        throw Problem(error)
    }
}

/// Runs `parse`. An error names the field `name`, as the caller wrote it, and has `remedy` if it is
/// given.
func naming<Value>(
    _ name: String, remedy: String? = nil, _ parse: () throws(InvalidField) -> Value
) throws(InvalidField) -> Value {
    do throws(InvalidField) {
        return try parse()
    } catch {
        throw InvalidField(field: name, problem: error.problem, remedy: remedy ?? error.remedy)
    }
}

/// Runs an operation of the store. Throws its failure as a ``Problem``.
func asking<Value: Sendable>(
    _ body: () async throws(StoreFailure) -> Value
) async throws(Problem) -> Value {
    do throws(StoreFailure) {
        return try await body()
    } catch {
        throw Problem(error)
    }
}
