// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// What measurements have in common: a directory for certificates and files, and progress.
final class Bench {
    let directory: String
    /// The certificate that vouches for ``MeasuredServer/nghttpd``, and its key.
    let certificatePath: String
    let keyPath: String
    /// The body of every push, for programs that read it from a file.
    let bodyPath: String
    /// The files that nghttpd serves.
    let documentsPath: String

    init() throws {
        var template = Array("/tmp/rouse-benchmarks-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ChildProcess.Failure(description: "no directory can be made in /tmp")
        }
        // SAFETY: the bytes are copied while they are borrowed.
        directory = template.withUnsafeBufferPointer { bytes in
            String(decoding: bytes.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        certificatePath = directory + "/certificate.pem"
        keyPath = directory + "/key.pem"
        bodyPath = directory + "/body.json"
        documentsPath = directory + "/documents"
        try Data(Sample.payload).write(to: URL(filePath: bodyPath))
        let devices = documentsPath + "/3/device"
        try FileManager.default.createDirectory(
            atPath: devices, withIntermediateDirectories: true)
        for token in Sample.deviceTokens {
            try Data().write(to: URL(filePath: devices + "/" + token))
        }
        _ = try ChildProcess(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-batch", "-subj", "/CN=localhost", "-days", "2", "-addext",
                "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", keyPath, "-out",
                certificatePath,
            ], processor: ChildProcess.serverProcessor
        ).waitForEnd()
    }

    /// Removes the directory.
    func clear() { try? FileManager.default.removeItem(atPath: directory) }

    /// Tells whoever waits what is being measured.
    func progress(_ text: String) { Self.report(text) }

    /// Tells whoever waits, where there is no bench.
    static func report(_ text: String) {
        // A progress line that cannot be written is no reason to stop.
        _ = write(STDERR_FILENO, text + "\n", text.utf8.count + 1)
    }

    /// Runs one measurement in a process of its own.
    func run(_ load: Load) throws -> LoadReport {
        try runOurselves("run-load", load)
    }

    /// Runs a hidden subcommand of ours that takes JSON and prints JSON.
    func runOurselves<Question: Encodable, Answer: Decodable>(
        _ subcommand: String, _ question: Question,
        processor: Int32? = ChildProcess.clientProcessor
    ) throws -> Answer {
        try answer(of: startOurselves(subcommand, question, processor: processor))
    }

    /// Starts a hidden subcommand of ours that takes JSON.
    func startOurselves(
        _ subcommand: String, _ question: some Encodable, processor: Int32?
    ) throws -> ChildProcess {
        let text = String(decoding: try JSONEncoder().encode(question), as: UTF8.self)
        return try ChildProcess.ourselves([subcommand, text], processor: processor)
    }

    /// Waits for the end of one, and reads the JSON that it printed.
    func answer<Answer: Decodable>(of child: ChildProcess) throws -> Answer {
        try JSONDecoder().decode(Answer.self, from: Data(child.waitForEnd().output.utf8))
    }
}

enum JSONOutput {
    static func print(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        Swift.print(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}
