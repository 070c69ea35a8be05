// SPDX-License-Identifier: Apache-2.0

import Glibc
import PushTransport
import WakeModel

/// A client in a process of its own, without the reset guard: for what a test bundle cannot show of
/// itself (descriptors, threads, processor time, signals, the fault of libcurl 7.88.1), and for the
/// sanitizers, because it depends on the transports and the client alone. `native=1` chooses the
/// native transport.
///
///     TransportFixture SCENARIO HOST PORT CA-FILE [NAME=VALUE …]
///
/// Prints one `name value` a line, and ends with 1 if the scenario's own checks failed.
@main
enum Fixture {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count >= 5, let port = Int(arguments[3]) else {
            print("usage: TransportFixture SCENARIO HOST PORT CA-FILE [NAME=VALUE …]")
            exit(64)
        }
        var values: [String: Int] = [:]
        var authorization: String?
        for argument in arguments.dropFirst(5) {
            let parts = argument.split(separator: "=")
            if parts.count == 2, let value = Int(parts[1]) { values[String(parts[0])] = value }
            if parts.count == 2, parts[0] == "authorization" { authorization = String(parts[1]) }
        }
        var reach = TransportConfiguration(host: arguments[2])
        reach.port = port
        reach.trust = .file(path: arguments[4])
        reach.proxy = .none
        reach.maximumConnections = values["connections"] ?? 1
        reach.maximumStreamsPerConnection = values["streams"]
        reach.urgentWaitsForConnection = values["urgent"] == 1
        let scenario = Scenario(reach: reach, values: values, authorization: authorization)
        do {
            switch arguments[1] {
            case "send": try await scenario.send()
            case "outcomes": try await scenario.outcomes()
            case "stress": try await scenario.stress()
            case "idle": try await scenario.idle()
            case "hammer": try await scenario.hammer()
            case "client": try await scenario.client()
            case "frames": scenario.frames()
            default:
                print("unknown scenario")
                exit(64)
            }
        } catch {
            print("error \(error)")
            exit(70)
        }
        exit(scenario.hasFailed ? 1 : 0)
    }
}

/// What the kernel says of this process.
enum ThisProcess {
    /// Open file descriptors, without those that the runtime opens for its timers when it likes.
    static var descriptors: Int {
        descriptorTargets.count { !$0.hasSuffix("[timerfd]") }
    }

    /// What the open descriptors are, for a complaint.
    static var descriptorTargets: [String] {
        names(in: "/proc/self/fd").map { name in
            var bytes = [CChar](repeating: 0, count: 256)
            let count = readlink("/proc/self/fd/" + name, &bytes, bytes.count)
            let target = bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
            return name + "→" + String(decoding: target, as: UTF8.self)
        }
    }

    /// Threads by the name that the transport gives to its own.
    static var transportThreads: Int {
        names(in: "/proc/self/task").count { task in
            read("/proc/self/task/\(task)/comm").hasPrefix("rouse-")
        }
    }

    /// Processor time so far, user and system, in microseconds.
    static var processorMicroseconds: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000
            + Int(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
    }

    private static func names(in path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func read(_ path: String) -> String {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
