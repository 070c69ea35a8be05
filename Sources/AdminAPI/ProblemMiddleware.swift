// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Turns every error into a problem document, and writes one log line for each request.
///
/// A line names the route's pattern, never the path, because a path may hold a device token.
/// Answers below 400 are logged at debug: at thousands a second, a line each is a cost.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = AdminRequestContext

    private static let requestID = HTTPField.Name("x-request-id")

    func handle(
        _ request: Request, context: AdminRequestContext,
        next: (Request, AdminRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        var response: Response
        var code: ProblemCode?
        do {
            response = try await next(request, context)
        } catch {
            let problem = Self.problem(for: error, context)
            code = problem.code
            response = problem.response
        }
        if let name = Self.requestID, let id = context.logger[metadataKey: "hb.request.id"] {
            response.headers[name] = "\(id)"
        }
        log(request, response, code, start.duration(to: .now), context)
        return response
    }

    private static func problem(
        for error: any Error, _ context: AdminRequestContext
    ) -> Problem {
        if let problem = error as? Problem { return problem }
        if error is NIOTooManyBytesError {
            return Problem(.bodyTooLarge, "The body is larger than this API reads.")
        }
        if let error = error as? any HTTPResponseError {
            switch error.status.code {
            case 404: return Problem(.notFound, "There is nothing at this path.")
            case 405: return Problem(.methodNotAllowed, "The path takes another method.")
            case 413: return Problem(.bodyTooLarge, "The body is larger than this API reads.")
            case 400..<500: return Problem(.malformedBody, "The request cannot be understood.")
            default: break
            }
        }
        // The error's own text may quote the request, so only its type is told.
        context.logger.info("a request failed", metadata: ["error": "\(type(of: error))"])
        return Problem(.internalError, "The log has more under this request's id.")
    }

    private func log(
        _ request: Request, _ response: Response, _ code: ProblemCode?, _ duration: Duration,
        _ context: AdminRequestContext
    ) {
        let milliseconds = duration / .milliseconds(1)
        context.logger.log(
            level: response.status.code < 400 ? .debug : .info, "request",
            metadata: [
                "method": "\(request.method.rawValue)",
                "route": "\(context.endpointPath ?? "none")",
                "status": "\(response.status.code)",
                "code": "\(code?.rawValue ?? "none")",
                "caller": "\(context.callerName)",
                "milliseconds": "\((milliseconds * 1000).rounded() / 1000)",
            ])
    }
}
