// SPDX-License-Identifier: Apache-2.0

/// The reason why a YAML text cannot be read.
struct YAMLFault: Error {
    let fault: PushDocument.Fault

    init(_ message: String, _ fix: String, _ place: FilePlace, pointer: String = "") {
        fault = PushDocument.Fault(message: message, fix: fix, place: place, pointer: pointer)
    }
}

/// Converts YAML to JSON.
///
/// Plain scalars are read with YAML 1.2's core schema: `yes` and `1:30` are texts. A number keeps
/// its digits, so that the rules check what was written.
enum YAMLText {
    /// JSON, with the places of its values in the YAML text.
    struct JSON {
        var bytes: [UInt8] = []
        var marks: [PlaceMap.Mark] = []
    }

    /// Reads the single document of a text.
    static func parse(_ text: String) throws(YAMLFault) -> YAMLNode {
        let start = FilePlace.position(line: 1, column: 1)
        guard text.utf8.count <= LintLimits.yamlBytes else {
            throw YAMLFault(
                "the YAML text has more than \(LintLimits.yamlBytes) bytes",
                "A request document holds one push; write each into a file of its own.", start)
        }
        guard aliasCount(text) <= LintLimits.yamlAliases else {
            throw YAMLFault(
                "the YAML text has more than \(LintLimits.yamlAliases) aliases",
                "Write the values out.", start)
        }
        do throws(YAMLFailure) {
            if let node = try YAMLNode.parse(text) { return node }
        } catch {
            throw fault(of: error, start)
        }
        throw YAMLFault("the document is empty", "Write `headers` and `payload` into it.", start)
    }

    private static func fault(of failure: YAMLFailure, _ start: FilePlace) -> YAMLFault {
        switch failure {
        case .syntax(let problem, let mark):
            YAMLFault(
                "the text is not YAML: \(problem)", "Fix the syntax.",
                .position(line: mark.line, column: mark.column))
        case .duplicateKeys(_, let mark):
            YAMLFault(
                "a key appears twice in one mapping", "Remove one of the two.",
                .position(line: mark.line, column: mark.column))
        case .characters: YAMLFault("the text is not YAML", "Fix the syntax.", start)
        }
    }

    /// A payload: JSON for a mapping, or the value of a string that contains JSON.
    static func body(_ node: YAMLNode) throws(YAMLFault) -> JSON {
        if let scalar = node.scalar, case .text(let text) = YAMLScalar(scalar) {
            let mark = PlaceMap.Mark(
                payloadStart: 0, line: scalar.mark?.line ?? 1, column: scalar.mark?.column ?? 1)
            return JSON(bytes: Array(text.utf8), marks: [mark])
        }
        return try json(node)
    }

    /// The JSON for a node.
    static func json(_ node: YAMLNode) throws(YAMLFault) -> JSON {
        var json = JSON()
        try append(node, to: &json)
        return json
    }

    /// The number of asterisks where an alias could start.
    private static func aliasCount(_ text: String) -> Int {
        var count = 0
        var before = UInt8(ascii: "\n")
        for byte in text.utf8 {
            if byte == UInt8(ascii: "*"), " \t\n\r[{,:?-".utf8.contains(before) { count += 1 }
            before = byte
        }
        return count
    }

    private static func append(_ node: YAMLNode, to json: inout JSON) throws(YAMLFault) {
        guard json.bytes.count <= LintLimits.yamlExpandedBytes else {
            throw YAMLFault(
                "the aliases of the YAML text expand to more than "
                    + "\(LintLimits.yamlExpandedBytes) bytes",
                "Write only what is sent.", node.place)
        }
        mark(node, in: &json)
        switch node {
        case .scalar(let scalar): json.bytes += YAMLScalar(scalar).literal
        case .sequence(let elements, _):
            json.bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { json.bytes.append(UInt8(ascii: ",")) }
                try append(element, to: &json)
            }
            json.bytes.append(UInt8(ascii: "]"))
        case .mapping(let mapping):
            json.bytes.append(UInt8(ascii: "{"))
            for (index, (key, value)) in mapping.enumerated() {
                if index > 0 { json.bytes.append(UInt8(ascii: ",")) }
                guard let name = key.scalar?.string else {
                    throw YAMLFault("a key is not a text", "Write a name.", key.place)
                }
                mark(key, in: &json)
                json.bytes += JSONLiteral.string(name).utf8
                json.bytes.append(UInt8(ascii: ":"))
                try append(value, to: &json)
            }
            json.bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func mark(_ node: YAMLNode, in json: inout JSON) {
        guard let mark = node.mark else { return }
        json.marks.append(
            PlaceMap.Mark(payloadStart: json.bytes.count, line: mark.line, column: mark.column))
    }
}
