// SPDX-License-Identifier: Apache-2.0

import Gateway
import StrictJSON
import WakeModel

/// The members of a body, read by name and type.
///
/// A linear search, because there are few members.
struct Members {
    private let members: [(name: String, value: ArraySlice<UInt8>)]

    init(_ members: JSONMembers) { self.members = members.members }

    /// Reads a body that must be one object. Throws ``Problem`` with `malformed-body`.
    init(parsing text: [UInt8]) throws(Problem) {
        do throws(JSONFault) {
            self.init(try JSONMembers(text))
        } catch {
            throw Problem(error)
        }
    }

    /// Whether the member is present.
    func has(_ name: String) -> Bool { raw(name) != nil }

    /// The bytes of a member, unchanged; `nil` if it is missing.
    func raw(_ name: String) -> ArraySlice<UInt8>? {
        members.first { $0.name == name }?.value
    }

    /// Throws for a member that is not among `names`, because it is probably misspelt.
    func check(names: Set<String>) throws(InvalidField) {
        let others = members.lazy.map(\.name).filter { !names.contains($0) }
        guard let unknown = others.min() else { return }
        throw InvalidField(
            field: Self.shown(unknown), problem: "is an unknown field",
            remedy: "Use \(names.sorted().joined(separator: ", ")).")
    }

    /// The bytes of a required member.
    func required(_ name: String) throws(InvalidField) -> ArraySlice<UInt8> {
        guard let value = raw(name) else {
            throw InvalidField(field: name, problem: "is missing", remedy: "Add it to the body.")
        }
        return value
    }

    /// A string; `nil` if the member is missing.
    func string(_ name: String) throws(InvalidField) -> String? {
        guard let value = raw(name) else { return nil }
        guard let text = JSONText.decode(value) else { throw Self.noString(name, value) }
        return text
    }

    /// The fault of a value that ``JSONText`` does not decode.
    static func noString(_ name: String, _ value: ArraySlice<UInt8>) -> InvalidField {
        guard value.first == UInt8(ascii: "\"") else {
            return InvalidField(
                field: name, problem: "is not a JSON string", remedy: "Put it into quotes.")
        }
        return InvalidField(
            field: name,
            problem: "is not text: it has bad UTF-8, an unknown escape, or half a surrogate pair",
            remedy: "Let a JSON library write it.")
    }

    /// A required string.
    func requiredString(_ name: String) throws(InvalidField) -> String {
        _ = try required(name)
        return try string(name) ?? ""
    }

    /// An integer; `nil` if the member is missing.
    func integer(_ name: String) throws(InvalidField) -> Int64? {
        guard let value = raw(name) else { return nil }
        let text = String(decoding: value, as: UTF8.self)
        // JSON has one type of number: 60.0 and 6e1 are integers too (RFC 8259 §6).
        guard value.first == UInt8(ascii: "-") || value.first.map(Self.isDigit) == true,
            let number = Int64(text) ?? Double(text).flatMap(Int64.init(exactly:))
        else {
            throw InvalidField(
                field: name, problem: "is not a whole number",
                remedy: "Write digits only, without quotes.")
        }
        return number
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// An integer within a range; `nil` if the member is missing.
    func integer(
        _ name: String, in range: ClosedRange<Int64>
    ) throws(InvalidField) -> Int64? {
        guard let number = try integer(name) else { return nil }
        guard range.contains(number) else {
            throw InvalidField(
                field: name, problem: "is not from \(range.lowerBound) to \(range.upperBound)",
                remedy: "Give a number in that range.")
        }
        return number
    }

    /// A Boolean; `nil` if the member is missing.
    func boolean(_ name: String) throws(InvalidField) -> Bool? {
        guard let value = raw(name) else { return nil }
        switch String(decoding: value, as: UTF8.self) {
        case "true": return true
        case "false": return false
        default:
            throw InvalidField(
                field: name, problem: "is neither true nor false",
                remedy: "Write true or false, without quotes.")
        }
    }

    /// A time (RFC 3339); `nil` if the member is missing.
    func instant(_ name: String) throws(InvalidField) -> WallInstant? {
        guard let value = raw(name) else { return nil }
        guard let instant = JSONText.decode(value).flatMap({ WallInstant(rfc3339: $0) }) else {
            throw InvalidField(
                field: name, problem: "is not a string with a time of RFC 3339",
                remedy: "Write it as \"2026-11-21T09:34:00Z\".")
        }
        return instant
    }

    /// The member `device_token`; `nil` if it is missing.
    func deviceToken() throws(InvalidField) -> DeviceToken? {
        guard let text = try string("device_token") else { return nil }
        return try naming("device_token") { () throws(InvalidField) in
            try DeviceToken(pasted: text)
        }
    }

    /// The required member `device_token`.
    func requiredDeviceToken(
        orInstead other: String? = nil
    ) throws(InvalidField) -> DeviceToken {
        if let other, !has("device_token") {
            throw InvalidField(
                field: "device_token", problem: "is missing",
                remedy: "Add it to the body, or \(other) instead of it.")
        }
        guard let token = try deviceToken() else {
            _ = try required("device_token")
            preconditionFailure("A member that is there has a value.")
        }
        return token
    }

    /// The member `wake`, the id of a wake; `nil` if it is missing.
    func wakeID() throws(InvalidField) -> WakeID? {
        guard let text = try string("wake") else { return nil }
        return try naming("wake") { () throws(InvalidField) in try WakeID(text) }
    }

    /// One of the raw values of an enumeration; `nil` if the member is missing.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type = Choice.self
    ) throws(InvalidField) -> Choice? {
        guard let word = try string(name) else { return nil }
        guard let choice = Choice(rawValue: word) else {
            let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw InvalidField(
                field: name, problem: "has a value that is not known",
                remedy: "Use one of \(words).")
        }
        return choice
    }

    /// A required value of an enumeration.
    func requiredChoice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String
    ) throws(InvalidField) -> Choice {
        guard let choice: Choice = try choice(name) else {
            _ = try required(name)
            preconditionFailure("A member that is there has a value.")
        }
        return choice
    }

    /// A member name that is safe to repeat in an answer: bounded, without control characters, not
    /// empty.
    private static func shown(_ name: String) -> String {
        let scalars = name.unicodeScalars.filter { $0.value >= 0x20 }.prefix(40)
        return scalars.isEmpty ? "\"\"" : String(String.UnicodeScalarView(scalars))
    }
}
