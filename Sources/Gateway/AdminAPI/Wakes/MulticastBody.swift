// SPDX-License-Identifier: Apache-2.0

import Gateway
import OpenSSLCrypto
import StrictJSON
import WakeModel

/// The body of `POST /v1/wakes/multicast`: a wake for each of many device tokens.
struct MulticastBody {
    /// The maximum number of device tokens of a request.
    static let maximumCount = 10_000

    private static let field = "device_tokens"
    private static let names = WakeTerms.names.union([field])

    /// The members that all wakes share.
    let terms: WakeTerms
    /// The elements of `device_tokens`, verbatim.
    private let tokens: [ArraySlice<UInt8>]
    /// A digest of the body without its tokens. With one token it identifies the request for a
    /// device, so that the whole body is not hashed once for each token.
    private let digest: [UInt8]

    /// The number of device tokens.
    var count: Int { tokens.count }

    /// Parses a body. Throws ``Problem`` with the codes `malformed-body`, `body-too-large` and
    /// `invalid-field`. The tokens are parsed later, one by one, because an invalid one refuses
    /// only its own place.
    init(_ text: [UInt8], now: WallInstant) throws(Problem) {
        let limit = Self.maximumCount
        let members = try Members(parsing: text)
        let list: ArraySlice<UInt8>
        do throws(InvalidField) {
            guard !members.has("device_token") else {
                throw InvalidField(
                    field: "device_token", problem: "is for a single wake",
                    remedy: "Give the list \(Self.field), or send it to /v1/wakes.")
            }
            try members.check(names: Self.names)
            list = try members.required(Self.field)
            guard list.first == UInt8(ascii: "[") else {
                throw InvalidField(
                    field: Self.field, problem: "is not a JSON array",
                    remedy: "Give a list of device tokens, each in quotes.")
            }
            terms = try WakeTerms(members, now: now)
        } catch {
            throw Problem(error)
        }
        guard terms.spreadSeconds == nil else { throw Problem.spreadAmongMany("a multicast") }
        do throws(JSONFault) {
            tokens = try JSONItems(array: Array(list), limit: limit).items
        } catch {
            var problem = Problem(error)
            problem.detail =
                error.isTooMuch
                ? "\(Self.field) has more than \(limit) tokens. Send the rest in another request."
                : "\(Self.field): \(error.problem), at byte \(list.startIndex + error.offset)."
            problem.field = Self.field
            throw problem
        }
        guard !tokens.isEmpty else {
            throw Problem(
                InvalidField(
                    field: Self.field, problem: "is empty",
                    remedy: "Give 1 to \(limit) device tokens."))
        }
        digest = SHA256.digest(of: Array(text[..<list.startIndex] + text[list.endIndex...]))
    }

    /// Parses the device token at a place. Throws ``Problem`` for an invalid one.
    func deviceToken(at place: Int) throws(Problem) -> DeviceToken {
        do throws(InvalidField) {
            let name = "\(Self.field)[\(place)]"
            guard let text = JSONText.decode(tokens[place]) else {
                throw Members.noString(name, tokens[place])
            }
            return try naming(name) { () throws(InvalidField) in try DeviceToken(pasted: text) }
        } catch {
            throw Problem(error)
        }
    }

    /// The bytes that are equal for two equal requests for this device.
    func requestBytes(for device: DeviceToken) -> [UInt8] { digest + Array(device.hex.utf8) }

    /// The schema in the OpenAPI document.
    static var schema: Schema {
        WakeTerms.schema(devices: [
            .required(
                field,
                .array(
                    of: .meant(
                        WakeBody.deviceTokenSchema,
                        "A device token; what is none gets its problem in its place."),
                    "All of them get the same payload. One that appears again is woken once.",
                    count: 1...maximumCount))
        ])
    }
}
