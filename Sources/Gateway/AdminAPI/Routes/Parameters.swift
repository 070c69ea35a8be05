// SPDX-License-Identifier: Apache-2.0

import Gateway
import Hummingbird
import WakeModel

// Parameters that several routes share: their documentation and their parsing.

extension Operation {
    static let deviceTokenSchema = Schema.string(
        "In hexadecimal.", pattern: "^([0-9A-Fa-f]{2}){1,256}$")
}

extension Operation.Parameter {
    static let wakeID = Operation.Parameter(
        name: "id", place: .path, schema: .string(format: "uuid"),
        description: "The wake's id, which is its apns-id too.")

    static let deviceToken = Operation.Parameter(
        name: "token", place: .path, schema: Operation.deviceTokenSchema,
        description: "The device token. It does not appear in logs.")

    static let topic = Operation.Parameter(
        name: "topic", place: .path, schema: .bundleID(),
        description: "The app's bundle id.")

    static let appOfQuery = Operation.Parameter(
        name: "app", place: .query, schema: .bundleID(),
        description: "The bundle id of an app that is configured.")

    static let environmentOfQuery = Operation.Parameter(
        name: "environment", place: .query, schema: .words(of: APNsEnvironment.self),
        description: "Needed beside an app that is configured for both.")

    static func cursor(_ schema: Schema, _ description: String) -> Operation.Parameter {
        Operation.Parameter(
            name: "cursor", place: .query, schema: schema, description: description)
    }

    static func limit(_ most: Int) -> Operation.Parameter {
        Operation.Parameter(
            name: "limit", place: .query, schema: .integer(in: 1...Int64(most)),
            description: "The most entries; 100 by default.")
    }
}

extension Query {
    /// The default number of entries on a page.
    static let usualLimit = 100

    /// The requested number of entries.
    func limit(_ configuration: AdminConfiguration) throws(Problem) -> Int {
        try integer("limit", in: 1...configuration.pageCount)
            ?? min(Self.usualLimit, configuration.pageCount)
    }
}

extension AdminRequestContext {
    /// Throws for an app that the caller's key may not use. Called before the check that the app is
    /// configured, so that the answer does not reveal whether it is.
    func checkAccess(to app: BundleID, field: String) throws(Problem) {
        guard let caller, let apps = caller.apps, !apps.contains(app) else { return }
        var problem = Problem(
            .appNotAllowed,
            "\(field): the key \(caller.name) may not use the app \(app). Use a key that may.")
        problem.field = field
        throw problem
    }

    /// Throws if the caller's key is limited to some apps, for routes with totals of all apps.
    func checkAccessToAllApps() throws(Problem) {
        guard let caller, caller.apps != nil else { return }
        throw Problem(
            .appNotAllowed,
            "These figures are of all apps together, and the key \(caller.name) is for some. "
                + "Use a key without apps.")
    }

    /// The wake in the path.
    func wakeID() throws(Problem) -> WakeID {
        try parsing(parameters.get("id") ?? "", as: "id") { (text) throws(InvalidField) in
            try WakeID(text)
        }
    }

    /// The device token in the path.
    func deviceToken() throws(Problem) -> DeviceToken {
        try parsing(parameters.get("token") ?? "", as: "token") { (text) throws(InvalidField) in
            try DeviceToken(pasted: text)
        }
    }

    /// Removes the percent-encoding of a part of a path. Returns `nil` if the result is not UTF-8.
    static func percentDecoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, rest.first != UInt8(ascii: "+"),
                let value = UInt8(String(Substring(rest.prefix(2))), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// The apps that an answer covers.
struct AppFilter {
    /// Only this configured app; `nil` for all.
    let app: AppIdentity?
    /// Only apps in this environment; `nil` for both.
    let environment: APNsEnvironment?
}

extension Services {
    /// The device token of a wake whose app the caller may use.
    func device(
        of wake: WakeID, for context: AdminRequestContext
    ) async throws -> DeviceToken {
        let record = try await asking { () async throws(StoreFailure) in
            try await gateway.record(of: wake, among: context.apps)
        }
        guard let record else { throw Problem.noSuchWake }
        return record.deviceToken
    }

    /// The filter that a query requests.
    func filter(_ query: Query, for context: AdminRequestContext) throws(Problem) -> AppFilter {
        try filter(query.string("app"), try query.choice("environment"), for: context)
    }

    /// The filter for a bundle id, an environment, or both.
    func filter(
        _ name: String?, _ environment: APNsEnvironment?, for context: AdminRequestContext
    ) throws(Problem) -> AppFilter {
        AppFilter(
            app: try name.map { (name) throws(Problem) in
                try app(named: name, environment, for: context)
            }, environment: environment)
    }

    /// The configured app with this bundle id, in this environment or in its only one. `field` is
    /// the name of the parameter or member with the bundle id.
    func app(
        named text: String, _ environment: APNsEnvironment?, for context: AdminRequestContext,
        field: String = "app"
    ) throws(Problem) -> AppIdentity {
        let bundleID = try parsing(text, as: field) { (text) throws(InvalidField) in
            try BundleID(text)
        }
        try context.checkAccess(to: bundleID, field: field)
        let configured = gateway.apps.map(\.app).filter { $0.bundleID == bundleID }
        guard let other = configured.first else {
            throw Problem.unknownApp(bundleID.value, environment, field: field)
        }
        let candidates = configured.filter {
            environment == nil || $0.environment == environment
        }
        guard let app = candidates.first else {
            throw Problem.wrongEnvironment(bundleID.value, other.environment)
        }
        guard candidates.count == 1 else { throw Problem.ambiguousEnvironment }
        return app
    }
}
