// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import Testing
import WakeModel

@testable import RouseCommand

@Suite("News for the service manager", .timeLimit(.minutes(10)))
struct ServiceNotifierTests {
    private static func notifier(
        _ variables: [String: String]
    ) throws(InvalidField) -> ServiceNotifier {
        try ServiceNotifier(Variables(variables), logger: Logger(label: "test"))
    }

    @Test("reaches a socket with a path and one with an abstract name", arguments: [false, true])
    func sockets(isAbstract: Bool) throws {
        let manager = try ServiceManager(isAbstract: isAbstract)
        let notifier = try Self.notifier(["NOTIFY_SOCKET": manager.name])
        notifier.tell(.ready("It listens\non two lines."))
        #expect(try manager.next() == ["READY=1", "STATUS=It listens on two lines."])
        notifier.tell(.reloading)
        let reloading = try manager.next()
        #expect(reloading.first == "RELOADING=1")
        #expect(reloading.last?.wholeMatch(of: /MONOTONIC_USEC=[1-9]\d*/) != nil)
        notifier.tell(.alive)
        #expect(try manager.next() == ["WATCHDOG=1"])
        notifier.tell(.stopping)
        #expect(try manager.next() == ["STOPPING=1", "STATUS=Draining."])
    }

    @Test("a message that cannot be delivered harms nobody")
    func undeliverable() throws {
        let folder = try TestFolder()
        let path = folder.path + "/late"
        let notifier = try Self.notifier(["NOTIFY_SOCKET": path])
        notifier.tell(.ready(""))
        // Nor the next one, once somebody listens; the lost one is not sent again.
        let manager = try ServiceManager(isAbstract: false, at: path)
        notifier.tell(.alive)
        #expect(try manager.next() == ["WATCHDOG=1"])
    }

    @Test(
        "the watchdog's interval is half of what the manager waits",
        arguments: [
            (["WATCHDOG_USEC": "30000000"], Duration.seconds(15)),
            (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "\(getpid())"], .seconds(15)),
            (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"], nil),
            (["WATCHDOG_PID": "\(getpid())"], nil),
            ([:], nil),
        ])
    func watchdog(variables: [String: String], interval: Duration?) throws {
        let named = variables.merging(["NOTIFY_SOCKET": "@rouse"]) { $1 }
        #expect(try Self.notifier(named).aliveInterval == interval)
        #expect(try Self.notifier(variables).aliveInterval == nil, "nobody listens")
    }

    @Test(
        "variables that are no manager's are refused by name",
        arguments: [
            ("NOTIFY_SOCKET", "run/notify"), ("NOTIFY_SOCKET", "vsock:2:9999"),
            ("NOTIFY_SOCKET", "@"), ("NOTIFY_SOCKET", "/" + String(repeating: "x", count: 107)),
            ("WATCHDOG_USEC", "soon"), ("WATCHDOG_USEC", "0"), ("WATCHDOG_USEC", "-1"),
        ])
    func refused(name: String, value: String) throws {
        let variables = ["NOTIFY_SOCKET": "@rouse"].merging([name: value]) { $1 }
        let error = try #require(throws: InvalidField.self) { try Self.notifier(variables) }
        #expect(error.description.contains(name))
    }

    @Test("the longest names that fit are taken")
    func longestNames() throws {
        let name = String(repeating: "x", count: 106)
        #expect(throws: Never.self) { try Self.notifier(["NOTIFY_SOCKET": "/" + name]) }
        #expect(throws: Never.self) { try Self.notifier(["NOTIFY_SOCKET": "@" + name + "x"]) }
    }

    @Test("a gateway is ready when it listens, alive until it drains, and says when it does")
    func gateway() async throws {
        let manager = try ServiceManager(isAbstract: false)
        let gateway = try RunningRouse(
            ["serve", "--dev", "--listen", "127.0.0.1:0"],
            environment: ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "100000"])
        _ = try await gateway.lines { $0.hasPrefix("Stop it") }
        var news: [String] = []
        while news.count(where: { $0 == "WATCHDOG=1" }) < 3 || !news.contains("READY=1") {
            news += try manager.next()
        }
        let status = news.first { $0.hasPrefix("STATUS=") }
        let words = /STATUS=The gateway listens on 127\.0\.0\.1:\d+\./
        #expect(status?.wholeMatch(of: words) != nil, "\(news)")
        #expect(!news.contains("STOPPING=1"))

        #expect(try await gateway.end(SIGTERM) == 0)
        while news.last != "STATUS=Draining." { news += try manager.next() }
        #expect(news.suffix(2) == ["STOPPING=1", "STATUS=Draining."])
    }

    @Test("a gateway refuses a socket that is none")
    func refusedByServe() async throws {
        let result = try await Rouse.run(
            ["serve", "--dev", "--listen", "127.0.0.1:0"], environment: ["NOTIFY_SOCKET": "x"])
        #expect(result.status == 78, "\(result.all)")
        #expect(result.error.contains("NOTIFY_SOCKET"))
    }
}

/// The service manager's end: a datagram socket that messages are read from.
private final class ServiceManager {
    /// How long a message may take, in seconds, before a test fails instead of hanging.
    private static let patienceSeconds = 60

    /// What `NOTIFY_SOCKET` says.
    let name: String
    private let descriptor: Int32
    private let folder: TestFolder

    init(isAbstract: Bool, at path: String? = nil) throws {
        folder = try TestFolder()
        let unique =
            path ?? (isAbstract ? "rouse-test-\(UUID().uuidString)" : folder.path + "/notify")
        name = isAbstract ? "@" + unique : unique
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = isAbstract ? [0] + Array(unique.utf8) : Array(unique.utf8) + [0]
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let result = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length)
            }
        }
        try #require(result == 0, "\(String(cString: strerror(errno)))")
        var patience = timeval(tv_sec: Self.patienceSeconds, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// The assignments of the next message.
    func next() throws -> [String] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        try #require(count > 0, "no message came: \(String(cString: strerror(errno)))")
        return String(decoding: buffer[..<count], as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }
}
