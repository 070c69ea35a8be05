// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WakeModel

/// A request of the broadcast API that is valid, as far as that is decidable without the channels.
struct ChannelCall: Hashable, Sendable {
    /// The app, from the path.
    let bundleID: String
    let action: Action

    enum Action: Hashable, Sendable {
        case create(ChannelStorage)
        case read(String)
        case list
        case delete(String)
        /// `isStored` is whether the expiration lets APNs keep it.
        case send(to: String, [UInt8], isStored: Bool)
    }

    /// The answer to a call that was carried out.
    struct Reply: Hashable, Sendable {
        var status: Int
        /// The channel that was made.
        var channelID: String?
        var body: [UInt8] = []
    }
}

/// The paths of the broadcast API (facts §2.5).
enum ChannelPath: Hashable, Sendable {
    /// One channel of an app.
    case channels(of: String)
    /// All of them.
    case allChannels(of: String)
    /// Sends to one.
    case broadcast(of: String)

    /// `nil` for any other path.
    init?(_ path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, parts[0].isEmpty else { return nil }
        self.init(parts: Array(parts.dropFirst()))
    }

    private init?(parts: [String]) {
        switch (parts.count, parts[0], parts[1]) {
        case (4, "1", "apps") where !parts[2].isEmpty && parts[3] == "channels":
            self = .channels(of: parts[2])
        case (4, "1", "apps") where !parts[2].isEmpty && parts[3] == "all-channels":
            self = .allChannels(of: parts[2])
        case (4, "4", "broadcasts") where parts[2] == "apps" && !parts[3].isEmpty:
            self = .broadcast(of: parts[3])
        default: return nil
        }
    }

    /// The app.
    var bundleID: String {
        switch self {
        case .channels(let bundleID), .allChannels(let bundleID), .broadcast(let bundleID):
            bundleID
        }
    }

    /// The methods that it takes.
    var methods: Set<String> {
        switch self {
        case .channels: ["POST", "GET", "DELETE"]
        case .allChannels: ["GET"]
        case .broadcast: ["POST"]
        }
    }
}

/// The body of a request to make a channel, and what is wrong with it.
struct ChannelSetup: Decodable {
    let storage: ChannelStorage

    /// Why a body is refused. A type of its own, so that it passes through a decoder.
    struct Refusal: Error {
        let reason: RejectionReason
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private static let policyKey = Key(stringValue: "message-storage-policy")
    private static let typeKey = Key(stringValue: "push-type")

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        let known = [Self.policyKey.stringValue, Self.typeKey.stringValue]
        guard members.allKeys.allSatisfy({ known.contains($0.stringValue) }) else {
            throw Refusal(reason: .badRequestParams)
        }
        guard members.contains(Self.typeKey) else { throw Refusal(reason: .missingPushType) }
        guard (try? members.decode(String.self, forKey: Self.typeKey)) == "LiveActivity" else {
            throw Refusal(reason: .invalidPushType)
        }
        guard let policy = try? members.decode(Int.self, forKey: Self.policyKey),
            let storage = ChannelStorage(policy: policy)
        else { throw Refusal(reason: .badRequestParams) }
        self.storage = storage
    }

    /// Reads a body, or says why it is refused.
    static func read(_ body: [UInt8]) -> Result<ChannelSetup, Refusal> {
        do {
            return .success(try JSONDecoder().decode(ChannelSetup.self, from: Data(body)))
        } catch let refusal as Refusal {
            return .failure(refusal)
        } catch {
            return .failure(Refusal(reason: .badRequestPayload))
        }
    }
}

/// Any JSON object.
struct AnyJSONObject: Decodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: Key.self) }

    /// Whether a body is one.
    static func matches(_ body: [UInt8]) -> Bool {
        (try? JSONDecoder().decode(AnyJSONObject.self, from: Data(body))) != nil
    }
}
