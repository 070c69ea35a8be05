// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import CurlHTTP
import Dispatch

// `@unchecked` below: `caller` is used on `queue` only, which is serial.

/// Posts webhooks to one receiver with libcurl, one request after the other on a separate queue, so
/// that a slow receiver delays only its own events.
final class CurlWebhookClient: WebhookClient, @unchecked Sendable {
    private let queue = DispatchQueue(label: "rouse.webhooks")
    private var caller: HTTPCaller?

    func post(
        _ body: [UInt8], to endpoint: WebhookEndpoint, headers: [(name: String, value: String)]
    ) async -> Result<Int, WebhookFailure> {
        await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: self.postNow(body, endpoint, headers))
            }
        }
    }

    private func postNow(
        _ body: [UInt8], _ endpoint: WebhookEndpoint, _ headers: [(name: String, value: String)]
    ) -> Result<Int, WebhookFailure> {
        var request = HTTPCaller.Request("POST", endpoint.url)
        request.body = body
        request.headers = headers
        request.certificateAuthorityPath = endpoint.certificateAuthorityPath
        request.milliseconds = WebhookDelivery.patienceMilliseconds
        // Only the status of a receiver's answer is used.
        request.answerByteCount = 1_048_576
        do throws(HTTPCaller.Failure) {
            if caller == nil { caller = try HTTPCaller() }
            guard let status = try caller?.call(request).status else {
                preconditionFailure("The caller was made above.")
            }
            return .success(status)
        } catch {
            return .failure(
                WebhookFailure(description: error.description, isSent: error.isSent))
        }
    }
}
