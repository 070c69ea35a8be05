// SPDX-License-Identifier: Apache-2.0

/// A command to a store, as a value: its request, and its changes to the rows.
///
/// Each command is written once, here, for all engines. ``decide(on:)`` has no clock and does no
/// I/O: time is a part of the command. It runs within one transaction of an engine, all of whose
/// changes are made or none.
public protocol StoreCommand<Answer>: Sendable {
    /// The answer to it.
    associatedtype Answer: Sendable

    /// Its cost and its origin.
    var profile: CommandProfile { get }

    /// The configuration of apps and webhooks.
    var rules: StoreRules { get }

    /// The rows that it needs, as far as the command alone determines them.
    func reads(of queues: QueueTable) -> ReadSet

    /// Decides over the rows, and records what is to be written. Called again when it needed a row
    /// that was not loaded.
    func decide(on rows: WorkingSet) throws(RowFault) -> Answer

    /// The answer, if reading alone shows that there is nothing to decide. An engine with one
    /// writer calls this first, outside the writer.
    func idleAnswer(on rows: WorkingSet) throws(RowFault) -> Answer?

    /// Whether ``idleAnswer(on:)`` is to be called.
    static var isMostlyIdle: Bool { get }
}

extension StoreCommand {
    /// No rules: most commands need none.
    public var rules: StoreRules { StoreRules() }

    /// No such answer.
    public func idleAnswer(on rows: WorkingSet) throws(RowFault) -> Answer? { nil }

    /// None.
    public func reads(of queues: QueueTable) -> ReadSet { ReadSet() }

    /// `false`.
    public static var isMostlyIdle: Bool { false }
}

/// The cost and the origin of a command, by which an engine orders commands.
public struct CommandProfile: Hashable, Sendable {
    /// What a command does to rows.
    public enum Access: Hashable, Sendable, CaseIterable {
        /// It only reads.
        case read
        /// It writes when it finds something to do.
        case readThenWrite
        /// It always writes.
        case write
    }

    /// Who asked for it.
    public enum Origin: Hashable, Sendable {
        /// A loop of the gateway, which waits for one command before it runs the next.
        case gateway
        /// A caller; nothing bounds how many of them there are.
        case caller
    }

    /// What it does to rows.
    public let access: Access
    /// Its cost, in wakes.
    public var weight = 1
    /// Who asked for it.
    public var origin = Origin.gateway
    /// Whether it precedes commands that are not urgent.
    public var isUrgent = false
    /// Whether it makes the store hold more, and can be refused for that.
    public var addsWork = false
    /// Whether its answer is shown to a caller, and so must be durable.
    public var isShown = false
    /// Whether it reads all rows of a table.
    public var isLinear = false

    /// Creates a profile of a command of the gateway's own.
    public init(_ access: Access, weight: Int = 1) {
        self.access = access
        self.weight = weight
    }

    /// A caller's command that writes.
    static func callersWrite(_ access: Access, weight: Int = 1) -> CommandProfile {
        var profile = CommandProfile(access, weight: weight)
        profile.origin = .caller
        profile.addsWork = true
        return profile
    }

    /// A caller's command that reads.
    static func callersRead(
        weight: Int = 1, isShown: Bool = false, isLinear: Bool = false
    ) -> CommandProfile {
        var profile = CommandProfile(.read, weight: weight)
        profile.origin = .caller
        profile.isShown = isShown
        profile.isLinear = isLinear
        return profile
    }
}
