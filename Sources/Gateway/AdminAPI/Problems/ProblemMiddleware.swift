// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Turns errors into problem documents, and counts and logs requests.
///
/// A log line has the route's pattern, never the path, which may contain a device token. Answers
/// below 400 are logged at level debug, because a line for each of thousands of requests per second
/// is expensive. Refusals of callers without an accepted key are logged at debug too, and counted
/// in a ``RefusalLog``.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = AdminRequestContext

    private static let requestID = HTTPField.Name("x-request-id")

    let table: RouteTable
    let metrics: AdminMetrics
    /// Counts refusals of callers without an accepted key; `nil` if no key is required.
    let refusals: RefusalLog?

    func handle(
        _ request: Request, context: AdminRequestContext,
        next: (Request, AdminRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        var response: Response
        var refusal: Problem?
        do {
            response = try await next(request, context)
        } catch {
            let problem = problem(for: error, request, context)
            refusal = problem
            response = problem.buffered.response
            if request.method == .head { response = response.createHeadResponse() }
        }
        complete(
            &response.headers, of: response.status, to: request.method, refusal, since: start,
            context)
        return response
    }

    /// Adds what all answers have, and counts and logs the request, which began at `start`.
    func complete(
        _ headers: inout HTTPFields, of status: HTTPResponse.Status, to method: HTTPRequest.Method,
        _ refusal: Problem?, since start: ContinuousClock.Instant, _ context: AdminRequestContext
    ) {
        if let name = Self.requestID { headers[name] = context.id }
        // An answer may contain the state of a device or a wake, which caches must not store.
        if headers[.cacheControl] == nil { headers[.cacheControl] = "no-store" }
        let duration = start.duration(to: .now)
        metrics.answered(context.endpointPath, method, status.code, duration)
        log(method, status.code, refusal, duration, context)
    }

    /// The problem for an error of a route.
    func problem(for error: any Error, _ context: AdminRequestContext) -> Problem {
        if let problem = error as? Problem { return problem }
        // The error's text may quote the request, so only its type is logged.
        context.logger.warning(
            "a request failed",
            metadata: [
                AdminRequestContext.idKey: "\(context.id)", "error": "\(type(of: error))",
            ])
        return Problem(.internalError, "The log has more under this request's id.")
    }

    private func problem(
        for error: any Error, _ request: Request, _ context: AdminRequestContext
    ) -> Problem {
        if let error = error as? any HTTPResponseError {
            switch error.status.code {
            case 404: return nothingHere(request)
            case 413: return Problem(.bodyTooLarge, "The body is larger than this API reads.")
            case 400..<500: return Problem(.malformedRequest, "The request cannot be understood.")
            default: break
            }
        }
        return problem(for: error, context)
    }

    /// The problem for an unknown path, or for a method that the path does not support (RFC 9110
    /// §15.5.6).
    private func nothingHere(_ request: Request) -> Problem {
        let methods = table.methods(for: request.uri.path)
        guard !methods.isEmpty, !methods.contains(request.method.rawValue) else {
            return Problem(.notFound, "There is nothing at this path.")
        }
        let list = methods.joined(separator: ", ")
        var problem = Problem(.methodNotAllowed, "This path takes \(list).")
        problem.headers[.allow] = list
        return problem
    }

    private func log(
        _ method: HTTPRequest.Method, _ status: Int, _ refusal: Problem?, _ duration: Duration,
        _ context: AdminRequestContext
    ) {
        let milliseconds = duration / .milliseconds(1)
        let caller = context.caller?.name ?? refusal?.callerName
        var isCounted = false
        if let refusals, caller == nil, (400..<500).contains(status) {
            refusals.note(PeerAddress(context.channel.remoteAddress), status: status)
            isCounted = true
        }
        context.logger.log(
            level: status < 400 || isCounted ? .debug : .info, "request",
            metadata: [
                AdminRequestContext.idKey: "\(context.id)",
                "method": "\(method.rawValue)",
                "route": "\(context.endpointPath ?? "none")",
                "status": "\(status)",
                "code": "\(refusal?.code.rawValue ?? "none")",
                "caller": "\(caller ?? "none")",
                "milliseconds": "\((milliseconds * 1000).rounded() / 1000)",
            ])
    }
}
