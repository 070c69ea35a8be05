// SPDX-License-Identifier: Apache-2.0

/// The tags that group operations in the OpenAPI document. Generated clients have a module for
/// each.
enum OperationTag: String, CaseIterable {
    case wakes
    case devices
    case events
    case channels
    case apps
    case operation

    /// The tag of a route.
    init(path: String) {
        let parts = path.split(separator: "/")
        guard parts.first == "v1", parts.count > 1 else {
            self = .operation
            return
        }
        switch parts[1] {
        case "wakes", "validate": self = .wakes
        case "devices", "receipts", "users": self = .devices
        case "feedback", "events", "webhooks": self = .events
        case "channels": self = .channels
        case "apps": self = .apps
        default: self = .operation
        }
    }

    /// The entry in the document's list of tags.
    var json: JSONValue {
        .object([("name", .string(rawValue)), ("description", .string(description))])
    }

    private var description: String {
        switch self {
        case .wakes: "Ask for wakes, see what became of them, cancel them."
        case .devices: "Budgets, registrations, signals and receipts of devices."
        case .events: "Outcomes and dead device tokens, as they come about."
        case .channels: "Broadcasts to Live Activities, and the channels that carry them."
        case .apps: "The apps and their queues: state, pausing, resuming."
        case .operation: "Health, figures, and this document."
        }
    }
}
