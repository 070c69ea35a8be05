// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import NIOCore
import Testing

@testable import AdminAPI

@Suite("The permissions of a Unix domain socket", .serialized, .timeLimit(.minutes(10)))
struct SocketAccessTests {
    private static func serve(
        _ access: SocketAccess, _ body: (String) async throws -> Void
    ) async throws {
        var bench = try APIBench()
        bench.configuration.socketAccess = access
        // Short: a socket's path has a hundred bytes at most.
        let path = "/tmp/rouse-\(UUID().uuidString.prefix(8)).sock"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (places, continuation) = AsyncStream<ListenAddress>.makeStream()
        let service = AdminAPI(
            configuration: bench.configuration, gateway: bench.gateway, logger: .silent
        ).service(on: .unixSocket(path: path)) { continuation.yield($0) }
        try await withRunning(bench.gateway, with: [service]) {
            for await place in places {
                #expect(place == .unixSocket(path: path))
                try await body(path)
                break
            }
        }
    }

    @Test(
        "It has the permissions that are set, whatever the process's mask",
        arguments: [
            UInt32(0o600), 0o660, 0o666,
        ])
    func mode(mode: UInt32) async throws {
        try await Self.serve(SocketAccess(mode: mode)) { path in
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect((attributes[.posixPermissions] as? Int).map { UInt32($0) } == mode)
        }
    }

    @Test("The socket of another listener is left to it; one that was left behind is replaced")
    func occupied() async throws {
        try await Self.serve(SocketAccess()) { path in
            let second = ListeningSocket(path: path, access: SocketAccess())
            #expect(throws: ListenerFailure(code: EADDRINUSE)) { try second.begin() }
            // A socket that nobody listens on any more, as after a kill -9.
            let address = try SocketAddress(unixDomainSocketPath: path + ".old")
            defer { unlink(path + ".old") }
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            let isBound = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) == 0 }
            close(descriptor)
            try #require(isBound)
            let next = ListeningSocket(path: path + ".old", access: SocketAccess())
            try next.begin()
            next.end()
        }
    }

    @Test("What is no socket is not replaced, and a path that is too long is said to be")
    func impossible() throws {
        let file = ListeningSocket(path: "/dev/null", access: SocketAccess())
        #expect(throws: ListenerFailure(code: ENOTSOCK)) { try file.begin() }
        let long = "/tmp/" + String(repeating: "a", count: 200)
        let socket = ListeningSocket(path: long, access: SocketAccess())
        #expect(throws: ListenerFailure(code: ENAMETOOLONG)) { try socket.begin() }
    }

    @Test("Before it has them, nobody but its owner may connect")
    func beforehand() throws {
        let path = "/tmp/rouse-\(UUID().uuidString.prefix(8)).sock"
        defer { unlink(path) }
        let socket = ListeningSocket(path: path, access: SocketAccess(mode: 0o666))
        try socket.begin()
        defer { socket.end() }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o666)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var status = stat()
        #expect(fstat(descriptor, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(socket.isThere())
        #expect(fstat(descriptor, &status) == 0 && status.st_mode & 0o777 == 0o666)
    }

    /// A group that a new file does not have by itself; root may give a file any.
    private static var otherGroup: gid_t? {
        guard geteuid() != 0 else { return 4_711 }
        var groups = [gid_t](repeating: 0, count: 1_024)
        let count = Int(getgroups(Int32(groups.count), &groups))
        return groups.prefix(max(0, count)).first { $0 != getegid() }
    }

    @Test("It has the group that is set")
    func group() async throws {
        let group = try #require(Self.otherGroup, "This user is in one group only.")
        try await Self.serve(SocketAccess(mode: 0o660, groupID: group)) { path in
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect((attributes[.groupOwnerAccountID] as? NSNumber)?.uint32Value == group)
        }
        #expect(SocketAccess.groupID(named: "root") == 0)
        #expect(SocketAccess.groupID(named: "4711") == 4_711)
        #expect(SocketAccess.groupID(named: "no-such-group") == nil)
    }
}
