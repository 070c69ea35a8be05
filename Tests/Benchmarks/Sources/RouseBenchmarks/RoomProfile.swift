// SPDX-License-Identifier: Apache-2.0

/// Samples of the gateway, counted by the room that had the work done.
struct RoomProfile {
    private(set) var sampleCount = 0
    /// For each room, how many samples were in which part below it.
    private(set) var rooms: [String: [String: Int]] = [:]
    /// How many had their leaf where.
    private(set) var leaves: [String: Int] = [:]

    private var owners: [StackFrame: CodeOwner] = [:]

    /// What a room does itself, with Swift's runtime, libc and the kernel.
    static let ownPart = "itself"

    mutating func add(_ sample: StackSample) {
        let owners = sample.frames.map { owner(of: $0) }
        sampleCount += 1
        let room = Self.room(of: owners, inThread: sample.thread)
        rooms[room, default: [:]][Self.part(of: owners, in: room), default: 0] += 1
        leaves[Self.leaf(of: sample.frames, owners), default: 0] += 1
    }

    private mutating func owner(of frame: StackFrame) -> CodeOwner {
        if let known = owners[frame] { return known }
        let owner = CodeOwner(frame)
        owners[frame] = owner
        return owner
    }

    /// The room whose function is nearest to the leaf. C libraries without frame pointers cut
    /// stacks off: then who calls the library, or whose thread it is.
    static func room(of owners: [CodeOwner], inThread thread: Substring) -> String {
        for case .room(let name) in owners { return name }
        for owner in owners {
            switch owner {
            case .sqlite, .grdb: return "StoreSQLite"
            case .nghttp2, .openSSL: return "HTTP2Transport"
            case .nio: return owner.name
            default: continue
            }
        }
        return threads.first { thread.contains($0.word) }?.room ?? "other"
    }

    /// Whose a thread is, by a word of its name. A dispatch queue's is the end of
    /// `com.apple.root.default-qos.overcommit`, and only the store has such queues; without the
    /// last part it runs tasks, and anybody's.
    private static let threads = [
        (word: "NIO-", room: CodeOwner.nio.name), (word: "rouse-http2", room: "HTTP2Transport"),
        (word: "qos.overcommit", room: "StoreSQLite"),
        (word: "default-qos", room: "tasks, room unknown"),
    ]

    /// The library nearest to the leaf, below the room.
    static func part(of owners: [CodeOwner], in room: String) -> String {
        for owner in owners {
            switch owner {
            case .room: return ownPart
            case .library(let name): return name == room ? ownPart : name
            case .ground: continue
            }
        }
        return ownPart
    }

    /// Whose code the leaf is, and of the kernel's, which call it is for.
    static func leaf(of frames: [StackFrame], _ owners: [CodeOwner]) -> String {
        switch owners.first {
        case nil: return CodeOwner.unknown.name
        case .room: return "our own code"
        case .kernel: return "kernel: " + purpose(of: frames)
        case .some(let owner): return owner.name
        }
    }

    private static func purpose(of frames: [StackFrame]) -> String {
        for frame in frames where frame.isKernel {
            for prefix in ["__x64_sys_", "__arm64_sys_"] where frame.symbol.hasPrefix(prefix) {
                return String(frame.symbol.dropFirst(prefix.count))
            }
            // What stands where a call's own function jumped to its end.
            if frame.symbol == "do_writev" { return "writev" }
            if frame.symbol.contains("page_fault") { return "page faults" }
            if frame.symbol.contains("exit_to_user_mode") { return "another's turn" }
        }
        return "other"
    }
}
