// SPDX-License-Identifier: Apache-2.0

internal import CLibcrypto
internal import CLibpq
internal import Glibc

/// A connection of libpq, on its way from one thread to another.
///
/// `@unchecked`: one thread at a time has it. The thread that opened it gives it to the loop, and
/// does not touch it again.
struct OpenedConnection: @unchecked Sendable {
    let pointer: OpaquePointer
    /// What the server said beside its answers.
    let notices: Notices

    /// Closes it.
    func close() { PQfinish(pointer) }

    /// What is remembered of notices, which are neither shown nor kept.
    final class Notices {
        /// Whether a commit did not wait for its standby until the end.
        var hasGivenUpStandby = false

        /// Has libpq call it for each notice of a connection, on the thread that reads from it.
        func receive(from connection: OpaquePointer) {
            // SAFETY: not retained; the owner of the connection owns this too, and libpq calls it
            // only while it is used for that connection.
            let argument = Unmanaged.passUnretained(self).toOpaque()
            PQsetNoticeReceiver(
                connection,
                { argument, result in
                    // SAFETY: as above.
                    guard let argument, let function = PQresultErrorField(result, 0x52) else {
                        return
                    }
                    // Words depend on the server's language, the function's name does not.
                    guard String(cString: function) == "SyncRepWaitForLSN" else { return }
                    Unmanaged<Notices>.fromOpaque(argument).takeUnretainedValue()
                        .hasGivenUpStandby = true
                }, argument)
        }
    }
}

/// Opens connections, each on a thread of its own.
///
/// libpq blocks while it resolves names, asks Kerberos, and reads certificates and password files,
/// even in its non-blocking calls; and only its blocking call continues with the next host after
/// `connect_timeout`. So none of that is done by the loop, and no connection waits for the opening
/// of another. An opening cannot be cancelled; an abandoned one ends by itself, at the latest
/// `connect_timeout` for each address after the resolver has answered.
enum ConnectionOpening {
    typealias Outcome = Result<OpenedConnection, OpeningFailure>

    /// Why there is no connection, without anything secret.
    struct OpeningFailure: Error {
        let message: String
    }

    /// Starts one. `deliver` is called on its thread.
    static func start(
        _ settings: ConnectionSettings, _ deliver: @escaping @Sendable (Outcome) -> Void
    ) {
        let isStarted = LinkThread.start(named: "rouse-pg-open") { deliver(open(settings)) }
        if !isStarted {
            deliver(.failure(OpeningFailure(message: "the system has no thread left")))
        }
    }

    /// Keeps OpenSSL from tearing itself down when the process exits, where this thread may be
    /// reading certificates.
    private static let isLibraryReady: Bool =
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    private static func open(_ settings: ConnectionSettings) -> Outcome {
        guard isLibraryReady else {
            return .failure(OpeningFailure(message: "OpenSSL cannot be initialised"))
        }
        // SAFETY: each is freed below, after libpq has copied it.
        var keywords = settings.options.map { strdup($0.keyword) }
        var values = settings.options.map { strdup($0.value) }
        // One of them may be the password.
        defer { for text in keywords + values { wipe(text) } }
        if let file = settings.passwordFile {
            guard let password = password(in: file) else {
                return .failure(OpeningFailure(message: "the password file cannot be read"))
            }
            keywords.append(strdup("password"))
            values.append(password)
        }
        let connection = PQconnectdbParams(
            keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 0)
        guard let connection else {
            return .failure(OpeningFailure(message: "out of memory"))
        }
        // They would go to the standard error.
        let notices = OpenedConnection.Notices()
        notices.receive(from: connection)
        guard PQstatus(connection) == CONNECTION_OK, PQsetnonblocking(connection, 1) == 0,
            PQenterPipelineMode(connection) == 1
        else {
            let message = words(of: connection)
            PQfinish(connection)
            return .failure(OpeningFailure(message: message))
        }
        return .success(OpenedConnection(pointer: connection, notices: notices))
    }

    /// The first line of a file, without its line break. The caller wipes it.
    private static func password(in path: String) -> UnsafeMutablePointer<CChar>? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        // The buffer of a file is freed as it is.
        setvbuf(file, nil, _IONBF, 0)
        // Of this size, so that getline does not have to replace it, and leave a copy.
        var capacity = 4096
        // SAFETY: the memory is fresh, and of this size.
        var line = malloc(capacity)?.bindMemory(to: CChar.self, capacity: capacity)
        guard getline(&line, &capacity, file) >= 0, let line else {
            free(line)
            return nil
        }
        // SAFETY: getline's line ends with a NUL, so this is at the latest there.
        line[strcspn(line, "\r\n")] = 0
        return line
    }

    /// Frees a C string, and leaves nothing of it in memory.
    private static func wipe(_ text: UnsafeMutablePointer<CChar>?) {
        guard let text else { return }
        explicit_bzero(text, strlen(text))
        free(text)
    }

    /// libpq's last words about a connection, on one line. It never says the password.
    static func words(of connection: OpaquePointer) -> String {
        oneLine(PQerrorMessage(connection).map { String(cString: $0) } ?? "")
    }

    /// The lines of a text, of which libpq has one or two for each host, as one.
    static func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline)
            .map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
            .filter { !$0.isEmpty }.joined(separator: "; ")
    }
}
