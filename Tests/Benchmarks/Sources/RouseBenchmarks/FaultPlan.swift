// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import WakeModel

/// One kind of trouble at a time, and then all of them together.
struct FaultPhase {
    let name: String
    let faults: [Fault]
    /// Whether it ends connections so often that waiting for new ones is most of its time.
    let isCostly: Bool
    /// Whether connections are replaced all the time, for what strikes only at their beginning.
    let replacesConnections: Bool

    /// Every fault of the simulator at every stage that it has, each for `share` of the requests;
    /// those at the beginning of a connection for twenty times that, because there are few of them.
    ///
    /// What is refused is refused before its body: a simulator that had read, and counted, all of a
    /// push and then called it unprocessed would invite the second copy that is looked for here.
    static func all(share: Double) -> [FaultPhase] {
        let light: [(Fault.Kind, Fault.Stage)] = [
            (.delay(milliseconds: 50), .answer), (.drip(millisecondsPerByte: 1), .answer),
            (.reject(.tooManyRequests), .answer), (.reject(.badDeviceToken), .headers),
            (.resetStream(.refusedStream), .headers), (.resetStream(.cancel), .headers),
            (.resetStream(.internalError), .body), (.resetStream(.internalError), .answer),
            (.resetStream(.enhanceYourCalm), .answer), (.neverAnswer, .answer),
            (.limitStreams(100), .answer),
        ]
        let costly: [(Fault.Kind, Fault.Stage)] = [
            (.goAway(.init()), .answer), (.goAway(.init(lastStream: .highestSeen)), .answer),
            (.goAway(.init(code: .enhanceYourCalm, lastStream: .theOneBefore)), .headers),
            (.closeConnection, .headers), (.closeConnection, .body), (.closeConnection, .answer),
        ]
        let early: [(Fault.Kind, Fault.Stage)] = [
            (.refuseTLS, .connection), (.closeConnection, .connection),
            (.neverAnswer, .connection), (.delay(milliseconds: 100), .connection),
        ]
        let every = light + costly
        let together =
            every.map { Fault($0, for: .share(share / Double(every.count)), at: $1) }
            + early.map { Fault($0, for: .share(share), at: $1) }
        return light.map { FaultPhase($0, $1, share: share) }
            + costly.map { FaultPhase($0, $1, share: share, isCostly: true) }
            + early.map { FaultPhase($0, $1, share: min(1, 20 * share), isEarly: true) }
            + [
                FaultPhase(
                    name: "all together", faults: together, isCostly: true,
                    replacesConnections: true)
            ]
    }

    private init(name: String, faults: [Fault], isCostly: Bool, replacesConnections: Bool) {
        self.name = name
        self.faults = faults
        self.isCostly = isCostly
        self.replacesConnections = replacesConnections
    }

    private init(
        _ kind: Fault.Kind, _ stage: Fault.Stage, share: Double, isCostly: Bool = false,
        isEarly: Bool = false
    ) {
        self.init(
            name: "\(kind.word), \(stage.rawValue)",
            faults: [Fault(kind, for: .share(share), at: stage)], isCostly: isCostly || isEarly,
            replacesConnections: isEarly)
    }
}

extension Fault.Kind {
    /// A short name for a table.
    fileprivate var word: String {
        switch self {
        case .delay: "delay"
        case .reject(let reason): "reject \(reason.rawValue)"
        case .goAway(let goAway): "GOAWAY \(goAway.lastStream)"
        case .resetStream(let code): "reset \(code)"
        case .closeConnection: "close"
        case .neverAnswer: "never answer"
        case .drip: "drip"
        case .limitStreams: "limit streams"
        case .refuseTLS: "refuse TLS"
        }
    }
}
