// SPDX-License-Identifier: Apache-2.0

/// One value of a JWT's header or claims, with the difference between a number and a text kept:
/// it is what most faulty tokens get wrong.
enum JSONValue: Decodable, Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case decimal(Double)
    case boolean(Bool)
    case null
    /// An object or a list.
    case other

    init(from decoder: any Decoder) throws {
        guard let container = try? decoder.singleValueContainer() else {
            self = .other
            return
        }
        if container.decodeNil() {
            self = .null
        } else if let boolean = try? container.decode(Bool.self) {
            self = .boolean(boolean)
        } else if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let decimal = try? container.decode(Double.self) {
            self = .decimal(decimal)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else {
            self = .other
        }
    }
}
