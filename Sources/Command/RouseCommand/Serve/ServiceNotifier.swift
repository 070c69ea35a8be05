// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import ServiceLifecycle
import WakeModel

/// Reports the state of the service to the service manager that started this process, by the
/// protocol of sd_notify(3), one datagram of assignments to the socket that `NOTIFY_SOCKET` names.
///
/// As a service it sends keep-alives, if the manager expects them (`WatchdogSec=`,
/// systemd.service(5)), and reports the shutdown as soon as it is requested. It must be the last of
/// a group, because a group shuts its last service down first.
///
/// Without a manager nothing is sent. A message that cannot be delivered is a warning in the log
/// and nothing else: a working gateway does not end because its messages are not received.
struct ServiceNotifier: Sendable {
    /// The messages to the manager.
    enum News: Hashable, Sendable {
        /// Requests are answered from now on; also the end of `reloading`. With a status line.
        case ready(String)
        /// The configuration is being reloaded. `ready` must follow.
        case reloading
        /// The gateway drains.
        case stopping
        /// The process still works.
        case alive
    }

    /// The longest delay of a message to a manager that reads none, in seconds.
    static let sendTimeoutSeconds = 1

    /// The interval for sending ``News/alive``; `nil` if the manager does not expect it. Half the
    /// time after which it acts, as sd_watchdog_enabled(3) recommends.
    let aliveInterval: Duration?

    private let socketName: SocketName?
    private let logger: Logger

    /// A notifier for the manager that the environment names. Throws ``WakeModel/InvalidField`` for
    /// variables that sd_notify(3) and sd_watchdog_enabled(3) do not allow.
    init(_ variables: Variables, logger: Logger) throws(InvalidField) {
        self.logger = logger
        guard let text = variables["NOTIFY_SOCKET"] else {
            socketName = nil
            aliveInterval = nil
            return
        }
        socketName = try SocketName(text)
        aliveInterval = try Self.interval(variables)
    }

    /// Sends the manager a message. Any thread may call it.
    func tell(_ news: News) {
        guard let socketName else { return }
        if let code = socketName.send(Self.message(news)) {
            logger.warning(
                "the service manager was not notified",
                metadata: ["news": "\(news)", "reason": "\(String(cString: strerror(code)))"])
        }
    }

    /// The assignments that say it, one in a line.
    static func message(_ news: News) -> String {
        switch news {
        case .ready(let words):
            // A line break would begin another assignment.
            let line = String(words.map { $0.isNewline ? " " : $0 })
            return "READY=1\nSTATUS=\(line)"
        case .reloading:
            // Type=notify-reload requires the time with it, to distinguish this reload from an
            // earlier one. Other types ignore it.
            return "RELOADING=1\nMONOTONIC_USEC=\(monotonicMicroseconds())"
        case .stopping: return "STOPPING=1\nSTATUS=Draining."
        case .alive: return "WATCHDOG=1"
        }
    }

    private static func interval(_ variables: Variables) throws(InvalidField) -> Duration? {
        // Meant for another process of the service.
        if let process = variables["WATCHDOG_PID"], process != "\(getpid())" { return nil }
        guard let text = variables["WATCHDOG_USEC"] else { return nil }
        guard let microseconds = Int64(text), microseconds > 0 else {
            throw InvalidField(
                field: "WATCHDOG_USEC", problem: "is not a number of microseconds",
                remedy: "Leave the variable to the service manager.")
        }
        return .microseconds(microseconds) / 2
    }

    private static func monotonicMicroseconds() -> Int {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec * 1_000_000 + now.tv_nsec / 1_000
    }
}

extension ServiceNotifier: Service {
    /// Sends keep-alives until shutdown begins, and then reports the shutdown.
    ///
    /// Keep-alives are sent by the thread pool of all asynchronous work, so they stop when that
    /// pool is blocked.
    func run() async throws {
        guard let aliveInterval else {
            try? await gracefulShutdown()
            tell(.stopping)
            return
        }
        await cancelWhenGracefulShutdown {
            repeat { tell(.alive) } while (try? await Task.sleep(for: aliveInterval)) != nil
        }
        tell(.stopping)
    }
}

/// The name of a datagram socket in the Unix domain, in the form of unix(7).
private struct SocketName: Sendable {
    /// Ends with a zero byte for a path; begins with one for an abstract name.
    private let bytes: [UInt8]

    /// Reads `/path` or `@abstract name`.
    init(_ text: String) throws(InvalidField) {
        switch text.utf8.first {
        case UInt8(ascii: "/"): bytes = Array(text.utf8) + [0]
        case UInt8(ascii: "@"): bytes = [0] + text.utf8.dropFirst()
        default:
            throw InvalidField(
                field: "NOTIFY_SOCKET", problem: "begins with neither / nor @",
                remedy: "Leave the variable to the service manager, or unset it.")
        }
        guard (2...Self.maximumByteCount).contains(bytes.count) else {
            throw InvalidField(
                field: "NOTIFY_SOCKET",
                problem: "is empty or longer than \(Self.maximumByteCount) bytes",
                remedy: "Leave the variable to the service manager, or unset it.")
        }
    }

    /// What fits into a `sockaddr_un`, in bytes.
    private static let maximumByteCount = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    /// Sends one datagram. Returns the error number of a failure, `nil` for success.
    func send(_ message: String) -> CInt? {
        let type = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: ServiceNotifier.sendTimeoutSeconds, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))

        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let content = Array(message.utf8)
        // SAFETY: `bytes` has at most as many bytes as `sun_path`, which `init` ensures. A
        // `sockaddr_un` may be seen as the `sockaddr` that it begins with, `length` counts bytes
        // inside it, and sendto keeps no pointer.
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let sent = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(
                    descriptor, content, content.count, CInt(MSG_NOSIGNAL), address, length)
            }
        }
        return sent == content.count ? nil : errno
    }
}
