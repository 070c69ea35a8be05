// SPDX-License-Identifier: Apache-2.0

import APNsClient
import CurlHTTP
import FoundationEssentials
import OpenSSLCrypto
import WakeModel

/// A running gateway, asked over its HTTP API.
///
/// The API key comes from the environment or a file, never from an argument, which `ps` shows.
struct GatewayClient: ~Copyable {
    /// The gateway's default address.
    static let usualAddress = "http://127.0.0.1:8080"

    private let caller: HTTPCaller
    private let base: String
    private let unixSocketPath: String?
    private let key: Key?
    private let certificateAuthorityPath: String?

    /// A client of the gateway that options and environment name.
    init(_ options: GatewayOptions, _ variables: Variables) throws(CommandFailure) {
        let address = options.gateway ?? variables[.gateway] ?? Self.usualAddress
        let (base, unixSocketPath) = try Self.base(address)
        let key = try Self.key(options, variables)
        if let path = options.gatewayCA { try InputFile.check(path, "--gateway-ca") }
        if key != nil, unixSocketPath == nil, base.hasPrefix("http://"),
            !HTTPCaller.isLoopback(url: base)
        {
            Console(variables).remark(
                "warning: the API key goes to \(base) without encryption, where others on the way "
                    + "can read it. Use https://, or a tunnel to the gateway's loopback address.")
        }
        let caller = try Self.makeCaller()
        self.base = base
        self.unixSocketPath = unixSocketPath
        self.key = key
        certificateAuthorityPath = options.gatewayCA
        self.caller = caller
    }

    private static func makeCaller() throws(CommandFailure) -> HTTPCaller {
        do throws(HTTPCaller.Failure) {
            return try HTTPCaller()
        } catch {
            throw CommandFailure(.unavailable, error.description)
        }
    }

    /// An answer with a status below 400.
    struct Answer {
        let status: Int
        let body: [UInt8]

        /// The body as a value of this type, for people: see ``GatewayClient/document(_:_:)``.
        func decoded<Value: Decodable>(_ type: Value.Type) throws(CommandFailure) -> Value {
            guard let value = GatewayClient.document(type, body) else {
                throw CommandFailure(
                    .unavailable, "The gateway's answer is not of the form that this rouse knows.")
            }
            return value
        }
    }

    /// Asks, and gives the answer. A problem of the gateway's is a failure with the exit code that
    /// fits it, but for those that `accepting` names by their status.
    func ask(
        _ method: String, _ path: String, body: [UInt8]? = nil,
        headers: [(name: String, value: String)] = [], accepting: Set<Int> = [],
        milliseconds: Int = 30_000
    ) throws(CommandFailure) -> Answer {
        let answer = try answer(method, path, body, headers, milliseconds)
        guard answer.status >= 400, !accepting.contains(answer.status) else {
            return Answer(status: answer.status, body: answer.body)
        }
        throw failure(answer)
    }

    /// Asks, and gives whatever answer comes.
    func answer(
        _ method: String, _ path: String, _ body: [UInt8]? = nil,
        _ headers: [(name: String, value: String)] = [], _ milliseconds: Int = 30_000
    ) throws(CommandFailure) -> HTTPCaller.Answer {
        var request = HTTPCaller.Request(method, base + path)
        request.body = body
        request.headers = headers + [("Accept", "application/json")]
        if body != nil, !headers.contains(where: { $0.name == "Content-Type" }) {
            request.headers.append(("Content-Type", "application/json"))
        }
        if let key { request.headers.append(("Authorization", "Bearer \(key.text)")) }
        request.unixSocketPath = unixSocketPath
        request.certificateAuthorityPath = certificateAuthorityPath
        request.milliseconds = milliseconds
        do throws(HTTPCaller.Failure) {
            return try caller.call(request)
        } catch {
            throw CommandFailure(
                .unavailable,
                "The gateway at \(unixSocketPath ?? base) cannot be reached: \(error.description).")
        }
    }

    /// A document of the gateway's, in which no text has characters that a terminal obeys: some of
    /// it comes from a gateway's callers and from APNs. `nil` for one of another form.
    static func document<Value: Decodable>(_ type: Value.Type, _ body: [UInt8]) -> Value? {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        // ASCII without escapes, as nearly all answers are, holds no such character: the answer to
        // a large batch need not be taken apart for it.
        if body.allSatisfy({ $0 < 0x7f && $0 != UInt8(ascii: "\\") }) {
            return try? decoder.decode(type, from: Data(body))
        }
        guard let text = String(validating: body, as: UTF8.self) else { return nil }
        return try? decoder.decode(type, from: Data(text.printableTexts.utf8))
    }

    /// A problem document as a failure.
    func failure(_ answer: HTTPCaller.Answer) -> CommandFailure {
        let problem = Self.document(ProblemDocument.self, answer.body)
        let status: ExitStatus =
            switch answer.status {
            case 401, 403: .notAllowed
            case 404 where problem?.code == "unknown-app": .data
            case 404, 409: .no
            case 400, 405, 413, 415: problem?.code == "invalid-wake" ? .no : .data
            default: .unavailable
            }
        guard let problem else {
            return CommandFailure(status, "The gateway answered \(answer.status).")
        }
        if answer.status == 401 { return CommandFailure(status, unauthorized(problem)) }
        let findings = (problem.diagnostics ?? []).map { "\n\($0.rule): \($0.message). \($0.fix)" }
        return CommandFailure(
            status, "\(problem.title). \(problem.detail)" + findings.joined())
    }

    /// The message for a refused key: which key it was, without the API's header, which the user
    /// did not write.
    private func unauthorized(_ problem: ProblemDocument) -> String {
        guard let key else {
            return "\(problem.title). None was sent: give --key-file, "
                + "\(Variable.apiKeyFile.rawValue) or \(Variable.apiKey.rawValue)."
        }
        return "\(problem.title). \(problem.detail) It came from \(key.origin)."
    }

    /// An API key, and where it comes from.
    private struct Key {
        let text: String
        let origin: String
    }

    private static func base(
        _ address: String
    ) throws(CommandFailure) -> (String, String?) {
        if address.hasPrefix("unix:") {
            return ("http://localhost", String(address.dropFirst(5)))
        }
        guard address.hasPrefix("http://") || address.hasPrefix("https://") else {
            throw CommandFailure(
                .usage,
                "--gateway is no address of a gateway. Write it as http://127.0.0.1:8080, "
                    + "https://host:port, or unix:/run/rouse.sock.")
        }
        return (address.hasSuffix("/") ? String(address.dropLast()) : address, nil)
    }

    private static func key(
        _ options: GatewayOptions, _ variables: Variables
    ) throws(CommandFailure) -> Key? {
        if options.keyFile == nil, let key = variables[.apiKey] {
            return Key(text: key, origin: Variable.apiKey.rawValue)
        }
        guard let path = options.keyFile ?? variables[.apiKeyFile] else { return nil }
        let name = options.keyFile == nil ? Variable.apiKeyFile.rawValue : "--key-file"
        var bytes = try InputFile.read(path, name, limit: 4_096)
        defer { bytes.cleanse() }
        let key = String(decoding: bytes, as: UTF8.self)
            .trimmed
        guard !key.isEmpty, !key.contains("\n") else {
            throw CommandFailure(
                .data,
                "\(name) (\(path)) does not hold one key. Put what rouse keys create wrote to "
                    + "standard output into it, and nothing else.")
        }
        return Key(text: key, origin: "\(name) (\(path))")
    }
}

/// A problem document of the gateway's, as far as commands show it.
struct ProblemDocument: Decodable {
    let code: String
    let title: String
    let detail: String
    let diagnostics: [Finding]?

    struct Finding: Decodable {
        let rule: String
        let severity: String
        let message: String
        let fix: String
    }
}
