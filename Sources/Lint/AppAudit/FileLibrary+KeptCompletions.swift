// SPDX-License-Identifier: Apache-2.0

/// Looks in all files of an app for what calls the completion handlers that it keeps.
extension FileLibrary {
    /// The most properties of an app that are looked for: an app has few such handlers.
    private static let keptProperties = 8

    /// Takes back that nothing calls a completion handler which an object of another type keeps,
    /// unless the app declares the property and no file reads it.
    func checkKeptCompletions(
        in digests: inout [SourceDigest], _ files: [String], areAll: Bool
    ) {
        let kept = digests.reduce(into: Set()) { $0.formUnion($1.keptElsewhere) }
        guard !kept.isEmpty else { return }
        let isJudged = areAll && kept.count <= Self.keptProperties
        let unread: Set = isJudged ? kept.filter { isUnread($0, files) } : []
        for index in digests.indices { digests[index].dropCompletions(besides: unread) }
    }

    private func isUnread(_ kept: SourceReader.KeptElsewhere, _ files: [String]) -> Bool {
        let words = tree.index.words(kept.names)
        var isDeclared = false
        for (number, path) in files.enumerated() {
            tree.index.lookAhead(words, .named, in: files, from: number)
            guard let found = tree.index.words(words, .named, in: path) else { return false }
            guard !found.isEmpty else { continue }
            switch text(path).map({ SourceReader($0).use(of: kept) }) {
            case .reads?, nil: return false
            case .declares?: isDeclared = true
            case SourceReader.UseOfKept.none?: continue
            }
        }
        // The header of a class stands beside its implementation.
        let implementations = files.filter {
            Paths.stem(of: $0) == kept.type && SourceText.isObjectiveC($0)
        }
        for path in implementations {
            let header = Paths.join(Paths.folder(of: path), kept.type + ".h")
            let bytes: [UInt8]
            do throws(FileFailure) {
                bytes = try tree.index.text(of: header)
            } catch {
                guard error.reason == .missing else { return false }
                continue
            }
            guard bytes.count <= AuditLimits.sourceBytes else { return false }
            // It has the language of the implementation.
            switch SourceReader(SourceText(bytes, path: path)).use(of: kept) {
            case .reads: return false
            case .declares: isDeclared = true
            case .none: continue
            }
        }
        return isDeclared
    }

    /// Takes back that only a transfer makes a session, unless the handlers of events keep their
    /// completion handler and no more, and no file that the launch runs begins a transfer.
    func checkLazySessions(in digests: inout [SourceDigest], _ files: [String], areAll: Bool) {
        let sessions = digests.reduce(into: Set()) { $0.formUnion($1.lazySessions) }
        guard !sessions.isEmpty else { return }
        let calls = digests.flatMap(\.eventCalls)
        let late = sessions.filter { session in
            areAll && !calls.isEmpty
                && calls.allSatisfy { $0?.isSubset(of: session.others) == true }
                && !isBegunAtLaunch(session.starters, files)
        }
        for index in digests.indices { digests[index].dropSessions(besides: late) }
    }

    /// Whether a file with what the system runs at launch names one of some functions, or one that
    /// calls one.
    private func isBegunAtLaunch(_ names: Set<String>, _ files: [String]) -> Bool {
        guard names.allSatisfy(WordFilter.canFind) else { return true }
        let words = tree.index.words(names)
        var callers = names
        for path in files {
            guard let found = tree.index.words(words, .named, in: path) else { return true }
            guard !found.isEmpty else { continue }
            guard let text = text(path),
                let here = SourceReader(text).functions(naming: found)
            else { return true }
            callers.formUnion(here)
        }
        let launches: Set = [
            "UIApplicationDelegate", "UIApplicationMain", "WindowGroup", "DocumentGroup",
            "didFinishLaunchingWithOptions", "applicationDidFinishLaunching",
        ]
        guard callers.allSatisfy(WordFilter.canFind) else { return true }
        let all = tree.index.words(launches.union(callers))
        return files.contains { path in
            guard let found = tree.index.words(all, .named, in: path) else { return true }
            return !found.isDisjoint(with: launches) && !found.isDisjoint(with: callers)
        }
    }
}
