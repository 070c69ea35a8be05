// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// Every way in which the API says no: the one table of codes. A code never changes its meaning.
public enum ProblemCode: String, Hashable, Sendable, CaseIterable {
    /// The body is not a JSON object of the expected form.
    case malformedBody = "malformed-body"
    /// A member of the body, a header or a path parameter has a value that cannot be.
    case invalidField = "invalid-field"
    /// The rules found errors: APNs or iOS would not honour the push.
    case invalidWake = "invalid-wake"
    /// No such app is configured.
    case unknownApp = "unknown-app"
    /// The app is configured for both environments and the request names none.
    case ambiguousEnvironment = "ambiguous-environment"
    /// No valid API key was shown.
    case unauthorized
    /// There is no such resource.
    case notFound = "not-found"
    /// The method does not fit the resource.
    case methodNotAllowed = "method-not-allowed"
    /// The idempotency key was used with another body.
    case idempotencyConflict = "idempotency-conflict"
    /// The body is too large.
    case bodyTooLarge = "body-too-large"
    /// The body is not JSON by its own account.
    case unsupportedMediaType = "unsupported-media-type"
    /// Too many requests wait.
    case overloaded
    /// The gateway or its store cannot take requests at present.
    case unavailable
    /// The gateway has a fault.
    case internalError = "internal-error"

    /// The HTTP status.
    public var status: Int {
        switch self {
        case .malformedBody, .invalidField, .invalidWake, .unknownApp, .ambiguousEnvironment: 400
        case .unauthorized: 401
        case .notFound: 404
        case .methodNotAllowed: 405
        case .idempotencyConflict: 409
        case .bodyTooLarge: 413
        case .unsupportedMediaType: 415
        case .overloaded: 429
        case .internalError: 500
        case .unavailable: 503
        }
    }

    /// The problem in a few words, the same for every occurrence.
    public var title: String {
        switch self {
        case .malformedBody: "The body is not a JSON object of the expected form"
        case .invalidField: "A value cannot be what its field needs"
        case .invalidWake: "APNs or iOS would not honour this push"
        case .unknownApp: "The app is not configured"
        case .ambiguousEnvironment: "The app has two environments"
        case .unauthorized: "A valid API key is needed"
        case .notFound: "There is no such resource"
        case .methodNotAllowed: "The method does not fit the resource"
        case .idempotencyConflict: "The idempotency key was used for another request"
        case .bodyTooLarge: "The body is too large"
        case .unsupportedMediaType: "The body must be application/json"
        case .overloaded: "Too many requests wait"
        case .unavailable: "The gateway cannot take requests at present"
        case .internalError: "The gateway has a fault"
        }
    }

    /// The problem's `type`: a name, not a page.
    public var type: String { "urn:rouse:problem:\(rawValue)" }
}
