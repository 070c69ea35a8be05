// SPDX-License-Identifier: Apache-2.0

import StrictJSON
internal import WakeModel

/// The members of the bodies of the broadcast API:
/// `{"message-storage-policy":1,"push-type":"LiveActivity"}` and `{"channels":["…","…"]}`.
struct ChannelBody {
    /// What a channel stores; `nil` when the member is missing or has an unknown value.
    private(set) var storage: ChannelStorage?
    /// The ids of the list; `nil` when the body is not a list of ids.
    private(set) var channels: [ChannelID]?

    /// Reads as far as the body is a JSON object. Members of other names are passed over.
    init(_ body: [UInt8]) {
        for (name, value) in AnswerMembers(body) {
            switch name {
            case "channels": channels = Self.list(value)
            case "message-storage-policy":
                storage = Int(String(decoding: value, as: UTF8.self)).flatMap(
                    ChannelStorage.init(policy:))
            default: break
            }
        }
    }

    /// An array of ids; `nil` for anything else.
    private static func list(_ text: ArraySlice<UInt8>) -> [ChannelID]? {
        guard let document = try? JSONScanner.scan(Array(text)), document.kind(0) == .array else {
            return nil
        }
        var channels: [ChannelID] = []
        for element in document.elements(of: 0) {
            guard let text = JSONText.decode(document.literal(element)),
                let channel = try? ChannelID(text)
            else { return nil }
            channels.append(channel)
        }
        return channels
    }
}
