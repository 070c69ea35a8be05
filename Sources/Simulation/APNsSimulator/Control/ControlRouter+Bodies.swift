// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WakeModel

extension ControlRouter {
    /// A body as a document of this type. Throws ``InvalidField`` for a member that is missing, has
    /// another type, or is none of the document's: that one is most likely misspelt, and a fault
    /// without its limits would be another fault.
    static func parse<Document: Codable>(
        _ type: Document.Type, _ body: [UInt8]
    ) throws(InvalidField) -> Document {
        let data = Data(body)
        do {
            let document = try JSONDecoder().decode(type, from: data)
            let names = try JSONDecoder().decode(MemberNames.self, from: data)
            let known = try JSONDecoder().decode(
                MemberNames.self, from: try JSONEncoder().encode(document))
            if let unknown = names.firstPath(missingIn: known) {
                throw InvalidField(
                    field: unknown, problem: "is an unknown field",
                    remedy: "Check how it is spelt; \(documentation)")
            }
            return document
        } catch let error as InvalidField {
            throw error
        } catch {
            throw invalid(error)
        }
    }

    /// The device token of a member.
    static func deviceToken(_ text: String, _ field: String) throws(InvalidField) -> DeviceToken {
        do throws(InvalidField) {
            return try DeviceToken(hex: text)
        } catch {
            throw InvalidField(field: field, problem: error.problem, remedy: error.remedy)
        }
    }

    static let documentation = "see the documentation of the simulator's control endpoint."

    private static func invalid(_ error: any Error) -> InvalidField {
        switch error as? DecodingError {
        case .keyNotFound(let key, let context):
            return InvalidField(
                field: path(context.codingPath + [key]), problem: "is missing",
                remedy: "Add it; \(documentation)")
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context):
            guard !context.codingPath.isEmpty else { break }
            return InvalidField(
                field: path(context.codingPath), problem: "has another type than it needs",
                remedy: "Write it as a text, a number, or true or false; \(documentation)")
        default: break
        }
        return InvalidField(
            field: "body", problem: "is not the JSON object that this path takes",
            remedy: "\(documentation.prefix(1).uppercased())\(documentation.dropFirst())")
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.map(\.stringValue).joined(separator: ".")
    }
}

/// The names of an object's members, of the objects within them too. Members that are null are left
/// out: they count as missing.
private struct MemberNames: Decodable {
    private var members: [String: MemberNames] = [:]

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        guard let object = try? decoder.container(keyedBy: Name.self) else { return }
        for name in object.allKeys where try !object.decodeNil(forKey: name) {
            members[name.stringValue] = try object.decode(MemberNames.self, forKey: name)
        }
    }

    /// The first member, in the order of the alphabet, that the other one does not have.
    func firstPath(missingIn other: MemberNames) -> String? {
        for (name, inner) in members.sorted(by: { $0.key < $1.key }) {
            guard let known = other.members[name] else { return name }
            if let path = inner.firstPath(missingIn: known) { return "\(name).\(path)" }
        }
        return nil
    }
}
