// SPDX-License-Identifier: Apache-2.0

public import PayloadRules

/// Audits the app's side of pushes: finds its files, reads them, and asks the rules.
///
/// It reads Info.plists and entitlements, Xcode projects with their build settings, Swift sources,
/// and signed apps. It writes nothing and starts nothing. Runs where it is called; it may take
/// seconds for a large project.
public struct Audit: Sendable {
    /// Files and folders to look at.
    public var paths: [String]
    /// What the server sends; empty where nobody said.
    public var sends: Set<ServerPush>
    /// The storefronts that the app is offered in, by ISO 3166-1 alpha-3 code.
    public var storefronts: Set<String>
    /// The targets of Xcode projects to look at; empty for all.
    public var targets: Set<String>
    /// The build configurations to look at; empty for all.
    public var configurations: Set<String>

    /// Will look at these paths.
    public init(
        paths: [String], sends: Set<ServerPush> = [], storefronts: Set<String> = [],
        targets: Set<String> = [], configurations: Set<String> = []
    ) {
        self.paths = paths
        self.sends = sends
        self.storefronts = storefronts
        self.targets = targets
        self.configurations = configurations
    }

    /// Looks at everything and returns what was found.
    ///
    /// - Throws: ``AuditFailure`` where there is nothing to look at. A file that cannot be
    ///   understood is a problem in the report.
    public func report() throws(AuditFailure) -> AuditReport {
        let library = FileLibrary()
        let found = try FoundFiles(paths, library.tree)
        var facts: [AppFacts] = []
        var known = (targets: Set<String>(), configurations: Set<String>())
        for path in found.projects {
            guard let reader = ProjectReader(path, library) else { continue }
            known.targets.formUnion(reader.targetNames)
            known.configurations.formUnion(reader.configurationNames)
            facts += reader.facts(targets: targets, configurations: configurations)
        }
        try checkNames(known)
        // What no target names is not built, where there are targets.
        if known.targets.isEmpty { facts += BundleReader(found, library).facts() }
        library.noteUnreadableFolders()
        guard !facts.isEmpty || !library.problems.isEmpty else { throw .nothingToAudit }
        var findings: [AppFinding] = []
        for var facts in facts {
            facts.sends = sends
            facts.storefronts = storefronts
            findings += AppRules.findings(in: facts)
        }
        return library.report(
            AppFinding.merged(findings),
            configurationCount: Set(facts.compactMap(\.configuration)).count)
    }

    private func checkNames(
        _ known: (targets: Set<String>, configurations: Set<String>)
    ) throws(AuditFailure) {
        if let name = targets.subtracting(known.targets).min() {
            throw .unknownTarget(name, known: known.targets.sorted())
        }
        if let name = configurations.subtracting(known.configurations).min() {
            throw .unknownConfiguration(name, known: known.configurations.sorted())
        }
    }
}

/// The files that the paths of an audit lead to.
struct FoundFiles {
    private(set) var projects: [String] = []
    private(set) var infoPlists: [String] = []
    private(set) var entitlements: [String] = []
    private(set) var swiftFiles: [String] = []
    private(set) var hasForeignFiles = false
    /// The property lists that were named themselves, whatever they are called.
    private(set) var named: Set<String> = []

    /// Looks at these paths.
    init(_ paths: [String], _ tree: FileTree) throws(AuditFailure) {
        var sources = SourceList()
        var seen: Set<String> = []
        for path in paths.map(Paths.normalised) {
            guard let kind = FileTree.kind(of: path) else { throw .missing(path: path) }
            let files = kind == .file ? [path] : tree.files(below: path)
            if kind == .file { named.insert(path) }
            for file in files where seen.insert(file).inserted { sort(file) }
            sources.add(files)
        }
        swiftFiles = sources.swiftFiles
        hasForeignFiles = sources.hasForeignFiles
    }

    private mutating func sort(_ file: String) {
        let name = Paths.name(of: file)
        if name == "project.pbxproj" {
            projects.append(file)
        } else if name.hasSuffix(".entitlements") || name.hasSuffix(".xcent") {
            entitlements.append(file)
        } else if name.hasSuffix("Info.plist")
            || name.hasPrefix("Info-") && name.hasSuffix(".plist")
            || named.contains(file) && name.hasSuffix(".plist")
        {
            infoPlists.append(file)
        }
    }
}
