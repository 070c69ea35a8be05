// SPDX-License-Identifier: Apache-2.0

import PayloadLint
import PayloadRules

extension FileLibrary {
    /// The identifiers of tasks that only handlers in these files ask for: no other file of the
    /// projects has one, or names what asks for it.
    func tasksOfHandlers(_ files: [String]) -> Set<String> {
        var tasks: [(path: String, task: SourceReader.OwnTask)] = []
        for path in files {
            guard let digest = digests[path].flatMap({ $0 }) else { continue }
            // It may stand for any identifier.
            if digest.hasOpenRequest { return [] }
            tasks += digest.ownTasks.map { (path, $0) }
        }
        guard !tasks.isEmpty, !tree.isExhausted, tree.settings.configuration.excluded.isEmpty else {
            return []
        }
        let words = tasks.reduce(into: Set<String>()) { words, one in
            words.formUnion(one.task.words.union(one.task.lastWords))
        }
        guard words.allSatisfy(WordFilter.canFind) else { return [] }
        let wanted = tree.index.words(words.union(SourceReader.requestTypes))
        let read = Set(files)
        for path in Set(folders.flatMap { tree.files(below: $0) }) where !tasks.isEmpty {
            let isSource = Self.sources.contains(where: path.hasSuffix)
            guard isSource || Self.scripts.contains(where: path.hasSuffix) else { continue }
            guard let found = tree.index.words(wanted, .named, in: path) else { return [] }
            guard !found.isEmpty else { continue }
            // A request in a file that was not read may be for any identifier.
            if !read.contains(path), !found.isDisjoint(with: SourceReader.requestTypes) {
                return []
            }
            tasks.removeAll { own, task in
                guard own != path else { return false }
                if isSource, !found.isDisjoint(with: task.words) { return true }
                return task.lastWords.isSubset(of: found)
                    && (try? tree.index.text(of: path)).map(task.mayStand) ?? true
            }
        }
        guard tree.foldersOfOddNames.isEmpty else { return [] }
        // What the handler of a task requests that others ask for is requested too.
        var found = Set(tasks.map(\.task.identifier))
        while let other = tasks.firstIndex(where: { !$0.task.handlers.isSubset(of: found) }) {
            found.remove(tasks.remove(at: other).task.identifier)
        }
        return found
    }

    private static let sources = [
        ".swift", ".m", ".mm", ".h", ".hpp", ".pch", ".inc", ".c", ".cpp",
    ]
    /// Files of other languages, and of settings, with which a framework may ask for a task.
    private static let scripts = [
        ".dart", ".js", ".jsx", ".mjs", ".ts", ".tsx", ".cs", ".json", ".kt", ".vue", ".html",
        ".rs", ".go", ".py", ".rb",
    ]
}
