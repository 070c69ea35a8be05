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
            var open = Dictionary(grouping: pending.indices) { pending[$0].function }
            var names = tree.index.words(Set(open.keys))
            var results = pending.map { _ in SourceReader.Following() }
            for start in stride(from: 0, to: list.files.count, by: AuditLimits.filesAtOnce)
            where !names.isEmpty {
                let next = tree.index.next(names, .function, in: list.files, from: start)
                followAhead(next) { (open[$0] ?? []).map { pending[$0] } }
                for (path, here) in next {
                    for index in here.flatMap({ open[$0] ?? [] }) {
                        guard let result = followed[path]?[pending[index]] else { continue }
                        results[index].count += result.count
                        guard result.count == 1 else { continue }
                        results[index].digest = result.digest
                        results[index].isOpen = result.isOpen
                        if list.isShared(path) { results[index].digest.markShared() }
                        if pending[index].isQuiet { results[index].digest.makeQuiet() }
                    }
                    // Which of two is called is not known, and a third does not matter.
                    for word in here { open[word]?.removeAll { results[$0].count > 1 } }
                }
                names.removeAll { open[$0.text]?.isEmpty == true }
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

    /// Follows on all processors the calls of functions by their names into the next files, each
    /// once for all targets.
    private func followAhead(
        _ files: [(path: String, words: Set<String>)], _ handovers: (String) -> [Handover]
    ) {
        let jobs = files.compactMap { path, here -> (path: String, question: [Handover])? in
            let new = here.flatMap(handovers).filter { followed[path]?[$0] == nil }
            return new.isEmpty ? nil : (path, new)
        }
        let found = tree.index.answers(to: jobs) { text, handovers in
            let reader = SourceReader(text)
            return handovers.map { reader.following($0) }
        }
        for (job, results) in zip(jobs, found) {
            for (handover, result) in zip(job.question, results ?? []) {
                followed[job.path, default: [:]][handover] = result
            }
        }
    }
}
