// SPDX-License-Identifier: Apache-2.0

public import WakeBudget
public import WakeModel

/// The contribution of one request, or of several that are no longer distinguished, to the wake
/// that carries them. Parts allow one of them to be removed when it is cancelled.
public struct MergedPart: Hashable, Sendable {
    /// The most parts of a wake. With more the oldest two become one.
    public static let maximumCount = 16
    /// The most bytes of payloads in the parts of a wake, unless it has one part only.
    public static let maximumByteCount = 16_384
    /// The most wakes that the parts of a wake name. Of more, the oldest are not named any more;
    /// their payloads stay.
    public static let maximumWakeCount = 64

    /// The wakes of its requests, the newest last.
    public var wakes: [WakeID]
    /// Whether it contains several requests, so that none can be removed.
    public var isFolded: Bool
    /// The JSON body. Never logged.
    public var payload: [UInt8]
    /// The value of `apns-expiration`.
    public var expiration: Expiration
    /// The collapse id, if any.
    public var collapseID: CollapseID?
    /// Its urgency.
    public var urgency: Urgency
    /// How it merges with what is older.
    public var coalescing: Coalescing

    /// Creates a part.
    public init(
        wakes: [WakeID], isFolded: Bool, payload: [UInt8], expiration: Expiration,
        collapseID: CollapseID?, urgency: Urgency, coalescing: Coalescing
    ) {
        self.wakes = wakes
        self.isFolded = isFolded
        self.payload = payload
        self.expiration = expiration
        self.collapseID = collapseID
        self.urgency = urgency
        self.coalescing = coalescing
    }

    private var content: WakeContent {
        WakeContent(payload: payload, expiration: expiration, collapseID: collapseID)
    }

    /// This part and a newer one as one.
    func folded(with newer: MergedPart) -> MergedPart {
        let content = newer.content.merged(behind: content, newer.coalescing).content
        return MergedPart(
            wakes: wakes + newer.wakes, isFolded: true, payload: content.payload,
            expiration: content.expiration, collapseID: content.collapseID,
            urgency: max(urgency, newer.urgency),
            coalescing: newer.coalescing == .replace ? .replace : coalescing)
    }
}

extension WakeRow {
    /// Its parts: only itself until another wake merges into it; read with its payload.
    var allParts: [MergedPart] {
        guard parts.isEmpty else { return parts }
        let own = MergedPart(
            wakes: [id], isFolded: false, payload: payload, expiration: expiration,
            collapseID: collapseID, urgency: urgency, coalescing: coalescing)
        return [own]
    }

    /// Stores these parts, within their limits.
    mutating func keep(_ all: [MergedPart]) {
        var all = all
        var byteCount = all.reduce(0) { $0 + $1.payload.count }
        while all.count > 1,
            all.count > MergedPart.maximumCount || byteCount > MergedPart.maximumByteCount
        {
            let both = all[0].folded(with: all[1])
            byteCount += both.payload.count - all[0].payload.count - all[1].payload.count
            all.replaceSubrange(0..<2, with: [both])
        }
        var surplus = all.reduce(0) { $0 + $1.wakes.count } - MergedPart.maximumWakeCount
        for index in all.indices where surplus > 0 {
            let count = min(surplus, all[index].wakes.count)
            all[index].wakes.removeFirst(count)
            // It can no longer be named, so it can no longer be removed.
            if all[index].wakes.isEmpty { all[index].isFolded = true }
            surplus -= count
        }
        parts = all
    }

    /// Records that the part with a wake contains others, which it does not name.
    mutating func fold(_ wake: WakeID) {
        guard let index = parts.firstIndex(where: { $0.wakes.contains(wake) }) else { return }
        parts[index].isFolded = true
    }

    /// Removes a wake's request from its parts, as far as it is distinguishable; returns whether it
    /// was there. The push then carries the rest.
    mutating func withdraw(_ wake: WakeID) -> Bool {
        guard let index = parts.firstIndex(where: { $0.wakes.contains(wake) }) else { return false }
        guard !parts[index].isFolded else {
            parts[index].wakes.removeAll { $0 == wake }
            return true
        }
        parts.remove(at: index)
        guard let first = parts.first else { return true }
        let all = parts.dropFirst().reduce(first) { $0.folded(with: $1) }
        payload = all.payload
        expiration = all.expiration
        collapseID = all.collapseID
        urgency = all.urgency
        coalescing = all.coalescing
        return true
    }
}
