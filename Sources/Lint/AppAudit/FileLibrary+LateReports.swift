// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds handlers of VoIP pushes that lead to a report behind a pause, where nothing reports a call
/// otherwise, in whichever file.
extension FileLibrary {
    /// The maximum number of functions between a report and the pause before it.
    private static let delayedFunctions = 4
    /// The maximum number of files that are read for one of them.
    private static let filesWithReports = 32

    /// The pauses that a handler of VoIP pushes leads to; none if something in the files may report
    /// a call without one.
    ///
    /// A function is known by its name alone: with others of that name all their mentions have to
    /// stand behind a pause.
    func delayedReports(among digests: [SourceDigest], in files: [String]) -> [SourceDigest] {
        var handlers: Set<String> = []
        var isTold = false
        for seen in digests.lazy.flatMap({ $0.entries.lazy.map(\.observation) }) {
            switch seen.subject {
            case .voipHandler where !seen.isUncalled: handlers.insert(seen.place.file)
            case .lateReport, .voipHandlerWithoutReport, .emptyVoIPHandler: isTold = true
            default: continue
            }
        }
        // A function of one language has other names in the other one.
        let swift = files.count { $0.hasSuffix(".swift") }
        guard !handlers.isEmpty, !isTold, swift == 0 || swift == files.count,
            let pauses = pauses(in: files), !pauses.isEmpty
        else { return [] }
        var leads = SourceReader.PushLeads()
        for path in handlers {
            if let text = text(path) { leads.formUnion(SourceReader(text).leadsOfVoIPHandlers()) }
        }
        let entries = pauses.filter { pause in
            leads.functions.contains(pause.function)
                || pause.screen.map(leads.screens.contains) == true
        }
        guard !entries.isEmpty else { return [] }
        var digest = SourceDigest()
        digest.entries = entries.map(\.entry)
        return [digest]
    }

    /// The pauses that all reports of calls stand behind; `nil` if one may be made at any time.
    private func pauses(in files: [String]) -> [SourceReader.DelayedUse.Pause]? {
        var found: [SourceReader.DelayedUse.Pause] = []
        var pending = SourceReader.reports
        var known = pending
        for round in 0...Self.delayedFunctions {
            guard let uses = delayedUses(of: pending, in: files) else { return nil }
            // What nothing mentions is called by others.
            guard round == 0 || uses.count == pending.count else { return nil }
            pending = []
            for use in uses.values.joined() {
                switch use {
                case .delayed(let pause): found.append(pause)
                case .inside(let name): pending.insert(name)
                case .unknown: return nil
                }
            }
            pending.subtract(known)
            known.formUnion(pending)
            if pending.isEmpty { return found }
        }
        return nil
    }

    /// The mentions of functions in files; `nil` if there are too many, or one may run at any time.
    private func delayedUses(
        of names: Set<String>, in files: [String]
    ) -> [String: [SourceReader.DelayedUse]]? {
        let words = tree.index.words(names)
        var uses: [String: [SourceReader.DelayedUse]] = [:]
        var count = 0
        for (number, path) in files.enumerated() {
            tree.index.lookAhead(words, .named, in: files, from: number)
            guard let here = tree.index.words(words, .named, in: path) else { return nil }
            guard !here.isEmpty else { continue }
            count += 1
            guard count <= Self.filesWithReports, let text = text(path),
                let found = SourceReader(text).delayedUses(of: here)
            else { return nil }
            uses.merge(found) { $0 + $1 }
        }
        return uses
    }
}
