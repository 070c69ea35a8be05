// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Follows calls into other files.
extension FileLibrary {
    /// Whether a file has a property of its own with the name of one that an app delegate copies at
    /// launch, and no other use of the name.
    func hasOnlyOwnProperty(_ name: String, in path: String) -> Bool {
        text(path).map { SourceReader($0).hasOnlyOwnProperty(name) } ?? false
    }

    /// Follows completion handlers into the functions of other files that get them.
    func followed(
        _ handovers: [Handover], in list: SourceList
    ) -> (found: [SourceDigest], unfollowed: Set<Handover>) {
        var found: [SourceDigest] = []
        var unfollowed: Set<Handover> = []
        /// The handovers to the function that notes further ones.
        var givers: [Handover: [Handover]] = [:]
        // The same function is followed once, however many calls hand the same on to it.
        var known: Set<Handover> = []
        var pending = handovers.filter { known.insert($0).inserted }
        for _ in 0..<SourceReader.handovers where !pending.isEmpty {
            let names = tree.index.words(Set(pending.map(\.function)))
            var results = pending.map { _ in SourceReader.Following() }
            for (number, path) in list.files.enumerated() {
                tree.index.lookAhead(names, .function, in: list.files, from: number)
                guard let here = tree.index.words(names, .function, in: path), !here.isEmpty else {
                    continue
                }
                let wanted = pending.indices.filter { here.contains(pending[$0].function) }
                let followed = following(wanted.map { pending[$0] }, in: path)
                for (index, result) in zip(wanted, followed) {
                    results[index].count += result.count
                    guard result.count == 1 else { continue }
                    results[index].digest = result.digest
                    results[index].isOpen = result.isOpen
                    if list.isShared(path) { results[index].digest.markShared() }
                    if pending[index].isQuiet { results[index].digest.makeQuiet() }
                }
            }
            // Which of several functions is called is not known.
            for (handover, result) in zip(pending, results) {
                // Functions of the system get closures, and no tasks.
                let isOfSystem =
                    result.count == 0 && handover.kind != .task
                    && SourceReader.runsClosures(handover.function)
                let isFollowed = result.count == 1 && !result.isOpen
                if !isFollowed, !isOfSystem { unfollowed.insert(handover) }
                for next in result.digest.handovers { givers[next, default: []].append(handover) }
            }
            let digests = results.filter { $0.count == 1 }.map(\.digest)
            found += digests
            pending = digests.flatMap(\.handovers).filter { known.insert($0).inserted }
        }
        unfollowed.formUnion(pending)
        var last = Array(unfollowed)
        while let next = last.popLast() {
            last += (givers[next] ?? []).filter { unfollowed.insert($0).inserted }
        }
        return (found, unfollowed)
    }

    /// What a file has for calls of other files, each of which is followed into it once for all
    /// targets.
    private func following(
        _ handovers: [Handover], in path: String
    ) -> [SourceReader.Following] {
        var known = followed[path] ?? [:]
        let new = handovers.filter { known[$0] == nil }
        if !new.isEmpty, let text = text(path) {
            let reader = SourceReader(text)
            for handover in new { known[handover] = reader.following(handover) }
            followed[path] = known
        }
        return handovers.map { known[$0] ?? SourceReader.Following() }
    }
}
