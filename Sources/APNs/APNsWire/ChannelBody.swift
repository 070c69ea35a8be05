// SPDX-License-Identifier: Apache-2.0

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
        var reader = AnswerReader(bytes: body)
        guard reader.skip(UInt8(ascii: "{")) else { return }
        while let name = reader.string(), reader.skip(UInt8(ascii: ":")) {
            if name == "channels" {
                channels = Self.list(&reader)
                guard channels != nil else { return }
            } else {
                guard let value = reader.value() else { return }
                if name == "message-storage-policy", case .scalar(let text) = value {
                    storage = Int(text).flatMap(ChannelStorage.init(policy:))
                }
            }
            guard reader.skip(UInt8(ascii: ",")) else { return }
        }
    }

    /// An array of ids; `nil` for anything else, also for one that does not end.
    private static func list(_ reader: inout AnswerReader) -> [ChannelID]? {
        guard reader.skip(UInt8(ascii: "[")) else { return nil }
        if reader.skip(UInt8(ascii: "]")) { return [] }
        var channels: [ChannelID] = []
        repeat {
            guard let text = reader.string(), let channel = try? ChannelID(text) else {
                return nil
            }
            channels.append(channel)
        } while reader.skip(UInt8(ascii: ","))
        return reader.skip(UInt8(ascii: "]")) ? channels : nil
    }
}
