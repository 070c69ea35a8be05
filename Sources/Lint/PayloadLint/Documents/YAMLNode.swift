// SPDX-License-Identifier: Apache-2.0

import CLibyaml

/// A value of a YAML text, with the place where it starts. What an alias stands for is in its
/// place, and is stored once.
package enum YAMLNode: Sendable {
    case scalar(Scalar)
    case sequence([YAMLNode], mark: Mark)
    case mapping(Mapping)

    /// A place in the text: the first line and the first column are 1.
    package struct Mark: Hashable, Sendable {
        package let line: Int
        package let column: Int
    }

    /// A single value.
    package struct Scalar: Sendable {
        /// How a value is written.
        package enum Style: Sendable {
            /// Without quotes and without a tag that makes it a text.
            case plain
            /// As a text: in quotes, as a block, or with a tag.
            case text
            /// Not in the text: see ``YAMLNode/init(_:)``.
            case outside
        }

        package let string: String
        package let style: Style
        /// `nil` for a value from outside.
        package let mark: Mark?
    }

    /// Keys and values, in the order of the text.
    package struct Mapping: Sequence, Sendable {
        private var pairs: [(key: YAMLNode, value: YAMLNode)]
        /// `nil` for one from outside.
        package let mark: Mark?

        package init(_ pairs: [(key: YAMLNode, value: YAMLNode)], mark: Mark? = nil) {
            self.pairs = pairs
            self.mark = mark
        }

        package func makeIterator() -> IndexingIterator<[(key: YAMLNode, value: YAMLNode)]> {
            pairs.makeIterator()
        }

        /// The value of a key that is a scalar.
        package subscript(key: String) -> YAMLNode? {
            get { place(of: key).map { pairs[$0].value } }
            set {
                guard let newValue else { return }
                if let place = place(of: key) {
                    pairs[place].value = newValue
                } else {
                    pairs.append((YAMLNode(key), newValue))
                }
            }
        }

        private func place(of key: String) -> Int? {
            pairs.firstIndex { $0.key.scalar?.string == key }
        }
    }

    /// A value that is not from the text, such as an option of the command line.
    package init(_ text: String) {
        self = .scalar(Scalar(string: text, style: .outside, mark: nil))
    }

    package var scalar: Scalar? {
        if case .scalar(let scalar) = self { scalar } else { nil }
    }

    package var sequence: [YAMLNode]? {
        if case .sequence(let elements, _) = self { elements } else { nil }
    }

    package var mapping: Mapping? {
        if case .mapping(let mapping) = self { mapping } else { nil }
    }

    package var mark: Mark? {
        switch self {
        case .scalar(let scalar): scalar.mark
        case .sequence(_, let mark): mark
        case .mapping(let mapping): mapping.mark
        }
    }
}

/// The reason why a text is no YAML.
package enum YAMLFailure: Error {
    /// It breaks a rule of YAML.
    case syntax(problem: String, YAMLNode.Mark)
    /// Keys appear twice in one mapping; the mark is that of the first one.
    case duplicateKeys([String], YAMLNode.Mark)
    /// It is not UTF-8, or has characters that YAML does not allow.
    case characters
}

extension YAMLFailure {
    /// The failure of a configuration file. It has nothing of the file but keys, because a value
    /// may be a secret.
    package func sentence(for file: String) -> String {
        switch self {
        case .syntax(_, let mark): "\(file):\(mark.line):\(mark.column): \(clause)."
        case .duplicateKeys(_, let mark): "\(file):\(mark.line): \(clause). Remove one."
        case .characters: "\(file) is \(clause)."
        }
    }

    /// The failure without its place.
    package var clause: String {
        switch self {
        case .syntax(let problem, _): "not YAML: \(problem)"
        case .duplicateKeys(let names, _): "\(names.joined(separator: ", ")) appears twice"
        case .characters: "not YAML in UTF-8"
        }
    }

    /// The place of the failure, if there is one.
    package var mark: YAMLNode.Mark? {
        switch self {
        case .syntax(_, let mark), .duplicateKeys(_, let mark): mark
        case .characters: nil
        }
    }
}

extension YAMLNode {
    /// The deepest nesting that is read.
    package static let maximumDepth = 256

    /// Reads the single document of a text; `nil` when there is none.
    package static func parse(_ text: String) throws(YAMLFailure) -> YAMLNode? {
        var text = text
        let result = text.withUTF8 { bytes in
            Result { () throws(YAMLFailure) in
                let reader = try YAMLEventReader(bytes)
                return try reader.singleDocument()
            }
        }
        return try result.get()
    }
}

/// libyaml's events of a text, put together to nodes.
private final class YAMLEventReader {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private var event = yaml_event_t()
    private var anchors: [String: Built] = [:]

    /// A node, and how many levels are below it.
    private typealias Built = (node: YAMLNode, height: Int)

    /// Reads `bytes`, which must be valid while this object is used.
    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(YAMLFailure) {
        // SAFETY: libyaml has pointers to the parser in itself, so it stays in one place, until
        // `deinit` frees it.
        parser = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        guard yaml_parser_initialize(parser) == 1 else { throw .characters }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
    }

    deinit {
        yaml_event_delete(&event)
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    func singleDocument() throws(YAMLFailure) -> YAMLNode? {
        try next()
        try next()
        guard event.type != YAML_STREAM_END_EVENT else { return nil }
        try next()
        let node = try built(depth: 0).node
        try next()
        try next()
        guard event.type == YAML_STREAM_END_EVENT else {
            throw .syntax(problem: "but found another document", mark)
        }
        return node
    }

    private func next() throws(YAMLFailure) {
        yaml_event_delete(&event)
        guard yaml_parser_parse(parser, &event) == 0 else { return }
        switch parser.pointee.error {
        case YAML_SCANNER_ERROR, YAML_PARSER_ERROR:
            // SAFETY: for these errors libyaml has a terminated text, which it owns.
            let problem = parser.pointee.problem.map { String(cString: $0) }
            throw .syntax(
                problem: problem ?? "unknown error", Self.mark(parser.pointee.problem_mark))
        default: throw .characters
        }
    }

    private var mark: YAMLNode.Mark { Self.mark(event.start_mark) }

    private static func mark(_ mark: yaml_mark_t) -> YAMLNode.Mark {
        YAMLNode.Mark(line: mark.line + 1, column: mark.column + 1)
    }

    /// The node that the present event begins; the event is its last one afterwards.
    private func built(depth: Int) throws(YAMLFailure) -> Built {
        try checkDepth(depth)
        switch event.type {
        case YAML_SEQUENCE_START_EVENT: return try sequence(depth)
        case YAML_MAPPING_START_EVENT: return try mapping(depth)
        case YAML_SCALAR_EVENT: return (scalar(), 0)
        default:
            guard let known = Self.text(event.data.alias.anchor).flatMap({ anchors[$0] }) else {
                throw .syntax(problem: "found undefined alias", mark)
            }
            // What an alias stands for is as deep as it was written.
            try checkDepth(depth + known.height)
            return known
        }
    }

    private func checkDepth(_ depth: Int) throws(YAMLFailure) {
        guard depth < YAMLNode.maximumDepth else {
            throw .syntax(problem: "it is nested too deep", mark)
        }
    }

    private func sequence(_ depth: Int) throws(YAMLFailure) -> Built {
        let (mark, anchor) = (mark, Self.text(event.data.sequence_start.anchor))
        var elements: [YAMLNode] = []
        var height = 0
        try next()
        while event.type != YAML_SEQUENCE_END_EVENT {
            let element = try built(depth: depth + 1)
            elements.append(element.node)
            height = max(height, element.height + 1)
            try next()
        }
        return keep((.sequence(elements, mark: mark), height), as: anchor)
    }

    private func mapping(_ depth: Int) throws(YAMLFailure) -> Built {
        let (mark, anchor) = (mark, Self.text(event.data.mapping_start.anchor))
        var pairs: [(key: YAMLNode, value: YAMLNode)] = []
        var places: [String: YAMLNode.Mark] = [:]
        var twice: [String: YAMLNode.Mark] = [:]
        var height = 0
        try next()
        while event.type != YAML_MAPPING_END_EVENT {
            let key = try built(depth: depth + 1)
            if let scalar = key.node.scalar {
                twice[scalar.string] = places[scalar.string]
                places[scalar.string] = places[scalar.string] ?? scalar.mark
            }
            try next()
            let value = try built(depth: depth + 1)
            pairs.append((key.node, value.node))
            height = max(height, key.height + 1, value.height + 1)
            try next()
        }
        if let first = twice.min(by: { $0.key < $1.key }) {
            throw .duplicateKeys(twice.keys.sorted(), first.value)
        }
        return keep((.mapping(YAMLNode.Mapping(pairs, mark: mark)), height), as: anchor)
    }

    private func scalar() -> YAMLNode {
        let (scalar, mark) = (event.data.scalar, mark)
        // SAFETY: libyaml gives the text's address and length, which are valid until the next
        // event; the text is copied.
        let string = String(
            decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length),
            as: UTF8.self)
        let isText =
            scalar.style != YAML_PLAIN_SCALAR_STYLE
            || Self.text(scalar.tag).map(Self.textTags.contains) == true
        let node = YAMLNode.scalar(
            YAMLNode.Scalar(string: string, style: isText ? .text : .plain, mark: mark))
        return keep((node, 0), as: Self.text(scalar.anchor)).node
    }

    private static let textTags: Set = ["tag:yaml.org,2002:str", "!"]

    private func keep(_ built: Built, as anchor: String?) -> Built {
        if let anchor { anchors[anchor] = built }
        return built
    }

    // SAFETY: a text of the present event, which is terminated; it is copied.
    private static func text(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        text.map { String(cString: $0) }
    }
}
