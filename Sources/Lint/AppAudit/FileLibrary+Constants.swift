// SPDX-License-Identifier: Apache-2.0

/// Looks for constants in the files of a target.
extension FileLibrary {
    /// The constants with these names in some files.
    func constants(named names: Set<String>, in files: [String]) -> SourceConstants {
        var all = SourceConstants()
        guard !names.isEmpty else { return all }
        let wanted = tree.index.words(names)
        for start in stride(from: 0, to: files.count, by: AuditLimits.filesAtOnce) {
            let next = tree.index.next(wanted, .constant, in: files, from: start)
            readConstants(in: next)
            for (path, _) in next {
                if let known = constants[path] { all.add(known.values) }
            }
        }
        return all
    }

    /// Reads on all processors the constants of some files that were not read.
    private func readConstants(in files: [(path: String, words: Set<String>)]) {
        let jobs = files.compactMap { path, here -> (path: String, question: Set<String>)? in
            let new = here.subtracting(constants[path]?.names ?? [])
            return new.isEmpty ? nil : (path, new)
        }
        let found = tree.index.answers(to: jobs) { text, names in
            var values = SourceConstants()
            values.add(text, wanted: names)
            return values
        }
        for (job, values) in zip(jobs, found) {
            guard let values else { continue }
            var known = constants[job.path] ?? ([], SourceConstants())
            known.names.formUnion(job.question)
            known.values.add(values)
            constants[job.path] = known
        }
    }
}
