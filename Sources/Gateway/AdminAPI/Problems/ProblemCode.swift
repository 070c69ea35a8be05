// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// The error codes of the API. The meaning of a code never changes.
///
/// The OpenAPI document at `/openapi.json` lists them.
public enum ProblemCode: String, Hashable, Sendable, CaseIterable {
    /// The bytes on the connection are not HTTP, or contain a field that HTTP does not allow.
    case malformedRequest = "malformed-request"
    /// The body is not JSON of the expected form: not an object, nested too deeply, or with
    /// duplicate members.
    case malformedBody = "malformed-body"
    /// A member of the body, a header, or a path or query parameter is invalid, missing or unknown.
    case invalidField = "invalid-field"
    /// The validation rules found errors: APNs would reject the push, or iOS would ignore it.
    case invalidWake = "invalid-wake"
    /// The app is not configured, or not in this environment.
    case unknownApp = "unknown-app"
    /// The app is configured for both environments, and the request names none.
    case ambiguousEnvironment = "ambiguous-environment"
    /// The app's credential does not allow this push type.
    case wrongCredential = "wrong-credential"
    /// The request has no valid API key.
    case unauthorized
    /// The API key lacks the scope of the route.
    case forbidden
    /// The API key is limited to some apps, and the request is about another one or about all.
    case appNotAllowed = "app-not-allowed"
    /// No API key is required, and the request comes from a page of another origin or names another
    /// host.
    case foreignOrigin = "foreign-origin"
    /// The resource does not exist, or no longer exists.
    case notFound = "not-found"
    /// The user has no device for this app, environment and push type, or is unknown.
    case noDevices = "no-devices"
    /// The app has no such broadcast channel in this environment.
    case unknownChannel = "unknown-channel"
    /// The resource does not support the method; `Allow` lists the supported ones.
    case methodNotAllowed = "method-not-allowed"
    /// The head or the body of the request did not arrive in time.
    case requestTimeout = "request-timeout"
    /// The idempotency key was used with another body, or for another item of a batch.
    case idempotencyConflict = "idempotency-conflict"
    /// The wake has ended, or is in flight to APNs.
    case notCancellable = "not-cancellable"
    /// The app is paused, and a broadcast cannot be deferred.
    case appPaused = "app-paused"
    /// The app has reached the maximum number of broadcast channels.
    case channelLimit = "channel-limit"
    /// The broadcast has a lifetime, but its channel stores no message.
    case channelStoresNothing = "channel-stores-nothing"
    /// The body exceeds the maximum number of bytes, or a list in it the maximum number of items.
    case bodyTooLarge = "body-too-large"
    /// The route does not support the media type of the body.
    case unsupportedMediaType = "unsupported-media-type"
    /// The API key has exceeded its rate limit; `Retry-After` says when a request is possible.
    case rateLimited = "rate-limited"
    /// Too many requests are waiting. Accepted wakes are kept. `Retry-After` says when to retry.
    case overloaded
    /// The header fields of the request are too large or too many.
    case headersTooLarge = "headers-too-large"
    /// An internal error of the gateway. The log has details under the request id.
    case internalError = "internal-error"
    /// A row of the store that the request needs is damaged; nothing was changed. Other wakes and
    /// devices are not affected.
    case damagedRow = "damaged-row"
    /// APNs rejected the request that the gateway made for the caller.
    case apnsRefused = "apns-refused"
    /// The gateway or its store cannot process requests at present.
    case unavailable
    /// APNs did not answer the request that the gateway made for the caller.
    case apnsUnanswered = "apns-unanswered"

    /// The HTTP status.
    public var status: Int {
        switch self {
        case .malformedRequest, .malformedBody, .invalidField, .invalidWake: 400
        case .unauthorized: 401
        case .forbidden, .appNotAllowed, .foreignOrigin: 403
        case .notFound, .unknownApp, .noDevices, .unknownChannel: 404
        case .methodNotAllowed: 405
        case .requestTimeout: 408
        case .ambiguousEnvironment, .idempotencyConflict, .notCancellable, .wrongCredential,
            .appPaused, .channelLimit, .channelStoresNothing:
            409
        case .bodyTooLarge: 413
        case .unsupportedMediaType: 415
        case .rateLimited, .overloaded: 429
        case .headersTooLarge: 431
        case .internalError, .damagedRow: 500
        case .apnsRefused: 502
        case .unavailable: 503
        case .apnsUnanswered: 504
        }
    }

    /// The title, the same for every occurrence.
    public var title: String {
        switch self {
        case .malformedRequest: "The request is not proper HTTP"
        case .malformedBody: "The body is not JSON of the expected form"
        case .invalidField: "Invalid value"
        case .invalidWake: "APNs or iOS would not honour this push"
        case .unknownApp: "The app is not configured"
        case .ambiguousEnvironment: "The app has two environments"
        case .wrongCredential: "The app's credential is not for this push type"
        case .unauthorized: "A valid API key is needed"
        case .forbidden: "The API key may not do this"
        case .appNotAllowed: "The API key is for other apps"
        case .foreignOrigin: "Another site's page may not do this"
        case .notFound: "Not found"
        case .noDevices: "The user has no such device"
        case .unknownChannel: "The app has no such channel"
        case .methodNotAllowed: "The method does not fit the resource"
        case .requestTimeout: "The request did not arrive in time"
        case .idempotencyConflict: "The idempotency key was used for another request"
        case .notCancellable: "The wake can no longer be cancelled"
        case .appPaused: "The app is paused"
        case .channelLimit: "The app has all the channels that it may have"
        case .channelStoresNothing: "The channel stores nothing"
        case .bodyTooLarge: "The body is too large"
        case .unsupportedMediaType: "The body has another media type"
        case .rateLimited: "The API key makes too many requests"
        case .overloaded: "Too many requests wait"
        case .headersTooLarge: "The header fields are too large"
        case .internalError: "The gateway has a fault"
        case .damagedRow: "What the store holds of it is damaged"
        case .apnsRefused: "APNs refused"
        case .unavailable: "The gateway cannot take requests at present"
        case .apnsUnanswered: "APNs gave no answer"
        }
    }

    /// The meaning of the code, as a sentence for the documentation.
    public var meaning: String {
        switch self {
        case .malformedRequest:
            "The bytes on the connection are not HTTP, or have a field that HTTP does not "
                + "allow."
        case .malformedBody:
            "The body is not JSON of the expected form: not an object, too deep, or with a "
                + "member twice."
        case .invalidField:
            "A member of the body, a header, a path or query parameter has a value that "
                + "cannot be, is missing, or is not known."
        case .invalidWake: "The rules found errors: APNs or iOS would not honour the push."
        case .unknownApp: "No such app is configured, or not in this environment."
        case .ambiguousEnvironment:
            "The app is configured for both environments and the request names none."
        case .wrongCredential:
            "APNs takes some push types with a provider token only, and `mdm` with a certificate "
                + "only; the app in the request is configured with the other."
        case .unauthorized: "No valid API key was shown."
        case .forbidden: "The API key lacks the scope that the route asks for."
        case .appNotAllowed:
            "The API key is for some apps, and the request names another one in `field`, or asks "
                + "for figures of all apps together."
        case .foreignOrigin:
            "`rouse serve --dev` asks for no key, and refuses requests from pages of other sites "
                + "and for other hosts than this machine."
        case .notFound: "The resource does not exist, or no longer."
        case .noDevices:
            "No device is registered under the user for this app, environment and kind of push; a "
                + "user who is not known has none."
        case .unknownChannel:
            "APNs knows no such broadcast channel of the app in this environment; it may have been "
                + "deleted."
        case .methodNotAllowed: "The method does not fit the resource; `Allow` names those that do."
        case .requestTimeout: "The head or the body of the request did not arrive in its time."
        case .idempotencyConflict:
            "The idempotency key was used with another body. In a batch or a multicast, a place "
                + "that differs from what was there gets this, and the request a 200."
        case .notCancellable: "The wake has ended, or is on its way to APNs."
        case .appPaused:
            "Somebody paused the app. Wakes wait for its end; a broadcast cannot, and was not sent."
        case .channelLimit:
            "The app has as many broadcast channels as Apple allows: 10 000 in each environment."
        case .channelStoresNothing:
            "The broadcast has a `ttl_seconds` above 0, and its channel was made with `storage` "
                + "`none`. APNs refused it; nothing was sent."
        case .bodyTooLarge: "The body has more bytes, or a list in it more items, than are read."
        case .unsupportedMediaType: "The body is not of a media type that the route reads."
        case .rateLimited:
            "The API key has used up its rate; `Retry-After` says when there is room."
        case .overloaded:
            "Too many requests wait; what was accepted is kept. `Retry-After` says when to "
                + "come back."
        case .headersTooLarge: "The header fields of the request are too large or too many."
        case .internalError: "The gateway has a fault. The log has more under the request's id."
        case .damagedRow:
            "A row of the store that the request needs cannot be read; nothing was changed. Other "
                + "wakes and devices are not concerned."
        case .apnsRefused:
            "APNs refused a request about a broadcast channel; `apns` has its status and reason. "
                + "With `Retry-After`, a later one may succeed."
        case .unavailable: "The gateway or its store cannot take requests at present."
        case .apnsUnanswered:
            "APNs gave no answer to a request about a broadcast channel. `certainty` is `not-sent` "
                + "or, when it may have been done, `unknown`."
        }
    }

    /// The remedy for a caller, as a sentence for the documentation.
    public var remedy: String {
        switch self {
        case .malformedRequest:
            "Use an HTTP client; hand-written requests have to be HTTP/1.1 or HTTP/2."
        case .malformedBody:
            "Send one JSON object, each member once, with `Content-Type: application/json`."
        case .invalidField:
            "`detail` names the field, what is wrong with its value, and what to write."
        case .invalidWake:
            "Fix what `diagnostics` lists; `rouse validate` finds the same in CI, and "
                + "`rouse validate --explain BG006` says why a rule exists."
        case .unknownApp:
            "Add the app to `apps`, in this environment, and reload; the bundle id is written "
                + "without a suffix."
        case .ambiguousEnvironment: "Add `environment`: `production` or `sandbox`."
        case .wrongCredential:
            "Configure the app with a signing key, or for `mdm` with the push certificate of the "
                + "MDM server, whose topic is then the `bundle-id`."
        case .unauthorized: "Send `Authorization: Bearer` with a key from `rouse keys create`."
        case .forbidden: "Use a key with the scope that `detail` names."
        case .appNotAllowed:
            "Use a key whose `apps` name the app, or one without `apps`, which is for all."
        case .foreignOrigin:
            "Call it as `localhost`, `127.0.0.1` or `[::1]`, and not from another site's page; "
                + "`rouse serve --config` with keys has no such bounds."
        case .notFound:
            "Check the id or the token; ended wakes are kept for `retention-days`."
        case .noDevices:
            "Nothing, if the user has no such app. Else register the app's token under the user: "
                + "`POST /v1/devices/{token}/registered` with `user`."
        case .unknownChannel:
            "Check id, app and environment; `GET /v1/channels` lists the app's channels."
        case .methodNotAllowed: "Use a method that `Allow` names."
        case .requestTimeout: "Send it again, without a pause in the middle."
        case .idempotencyConflict: "Make a new key for each new request, and repeat with the old."
        case .notCancellable: "Nothing: `GET /v1/wakes/{id}` says how it ended."
        case .appPaused: "Send it again once the app was resumed, if it is still true then."
        case .channelLimit: "Delete the channels of events that are over."
        case .channelStoresNothing:
            "Leave `ttl_seconds` out, or make a channel with `storage` `latest`, which devices "
                + "subscribe to anew: it cannot be changed."
        case .bodyTooLarge: "Send smaller bodies, or fewer items in each."
        case .unsupportedMediaType:
            "Send `Content-Type: application/json`; batches also take `application/x-ndjson`."
        case .rateLimited:
            "Wait for `Retry-After`, or give the key more `requests-per-second`; each item of a "
                + "batch and each device token of a multicast counts."
        case .overloaded:
            "Wait for `Retry-After`, and ask for a wake with the same `Idempotency-Key`; look at "
                + "the store's disk if it stays so."
        case .headersTooLarge: "Send fewer or smaller header fields."
        case .internalError:
            "Look the request up in the log. Ask for a wake again with the same "
                + "`Idempotency-Key`; a broadcast may have been sent, and a channel made or "
                + "deleted."
        case .damagedRow:
            "Do not repeat it. When it is a device: `DELETE /v1/devices/{token}` forgets it, and "
                + "it begins anew. `rouse audit-store` names every damaged row."
        case .apnsRefused: "Do what `detail` says; with `Retry-After`, send it again then."
        case .apnsUnanswered:
            "A broadcast may go again: devices show the update with the later `timestamp`. After "
                + "the making of a channel, look for it in the list first."
        case .unavailable:
            "Send it again after `Retry-After`, for a wake with the same `Idempotency-Key`; "
                + "`/readyz` names the obstacle."
        }
    }

    /// The codes of every route that uses the store.
    static let ofStore: [ProblemCode] = [.overloaded, .damagedRow, .unavailable]

    /// The `type` of the problem document: a URN, not the URL of a page.
    public var type: String { "urn:rouse:problem:\(rawValue)" }
}
