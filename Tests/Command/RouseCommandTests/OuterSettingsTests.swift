// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushTransport
import StoreSQLite
import Testing
import WakeBudget

@testable import RouseCommand

@Suite("What overrides a configuration file")
struct OuterSettingsTests {
    private func read(
        _ yaml: String = "", _ variables: [String: String],
        options: [OuterSettings.Option] = []
    ) throws(CommandFailure) -> ServeConfiguration {
        try ServeConfiguration(
            yaml: yaml + "\n" + ConfigurationTests.app, file: "rouse.yaml",
            folder: URL(filePath: "/etc/rouse/"), variables: Variables(variables), options: options)
    }

    @Test("every key of the file is a list, holds others, or has a variable of its own")
    func complete() {
        let paths = Set(OuterSettings.keys.map(\.path))
        for key in ServeConfiguration.keys where !OuterSettings.lists.contains(key) {
            guard let inner = OuterSettings.mappings[key] else {
                #expect(paths.contains(key), "\(key)")
                continue
            }
            for name in inner where !OuterSettings.innerLists.contains("\(key).\(name)") {
                #expect(paths.contains("\(key).\(name)"), "\(key).\(name)")
            }
        }
        // A list that is none would hide a key from the environment.
        let lists = OuterSettings.lists.union(OuterSettings.innerLists)
        #expect(lists == ["api-keys", "webhooks", "apps", "webhook.events", "webhook.apps"])
        let names = OuterSettings.keys.map(\.variable)
        #expect(Set(names).count == names.count)
        #expect(names.contains("ROUSE_INSECURE") && names.contains("ROUSE_RETENTION_DAYS"))
        #expect(names.contains("ROUSE_BUDGET_HOURLY_SENDS") && names.contains("ROUSE_TRANSPORT"))
        #expect(names.contains("ROUSE_TRANSPORT_CONNECTIONS"))
    }

    /// What has to be there for a key to have a meaning.
    private static func companions(of key: OuterSettings.Key) -> [String: String] {
        if key.path.hasPrefix("tls.") {
            return ["ROUSE_TLS_CERTIFICATE": "/c", "ROUSE_TLS_KEY": "/k"]
        }
        return key.path.hasPrefix("webhook.") ? ["ROUSE_WEBHOOK_URL": "https://a.example"] : [:]
    }

    @Test("every variable is read: it changes the configuration, or is what the error names")
    func everyVariable() throws {
        for key in OuterSettings.keys {
            let companions = Self.companions(of: key)
            let without = try read("", companions)
            var variables = companions
            variables[key.variable] = "?"
            do throws(CommandFailure) {
                let configuration = try read("", variables)
                #expect(configuration != without, "\(key.variable)")
            } catch {
                #expect(error.message.hasPrefix("\(key.variable) "), "\(error.message)")
                #expect(error.status == .configuration)
            }
        }
    }

    @Test("every key can be set on the command line, over its variable")
    func everyOption() throws {
        for key in OuterSettings.keys {
            var variables = Self.companions(of: key)
            let option = OuterSettings.Option(name: "--set", path: key.path, text: "?")
            let without = try read("", variables)
            variables[key.variable] = "!"
            do throws(CommandFailure) {
                #expect(try read("", variables, options: [option]) != without, "\(key.path)")
            } catch {
                #expect(error.message.hasPrefix("--set "), "\(error.message)")
            }
        }
    }

    @Test("the command line overrides the environment, and that over the file")
    func order() throws {
        let file = "retention-days: 3\ninsecure: false\nbudget: { hourly-sends: 4, daily-sends: 9 }"
        let variables = [
            "ROUSE_RETENTION_DAYS": "5", "ROUSE_INSECURE": "true",
            "ROUSE_BUDGET_HOURLY_SENDS": "2",
        ]
        let configuration = try read(file, variables)
        #expect(configuration.retentionDays == 5)
        #expect(configuration.allowsInsecureListen)
        #expect(configuration.apps[0].budget.settings.hourlySends == 2)
        #expect(configuration.apps[0].budget.settings.dailySends == 9)
        let over = try read(
            file, variables, options: [.init(name: "--set", path: "retention-days", text: "6")])
        #expect(over.retentionDays == 6)
    }

    @Test("a transport in one word keeps its kind below a variable for another of its keys")
    func transport() throws {
        let configuration = try read("transport: curl", ["ROUSE_TRANSPORT_CONNECTIONS": "9"])
        #expect(configuration.transport.kind == .curl)
        #expect(configuration.transport.maximumConnections == 9)
        let native = try read("transport: curl", ["ROUSE_TRANSPORT": "native"])
        #expect(native.transport.kind == .native)
        #expect(try read("", ["ROUSE_TRANSPORT": "curl"]).transport.kind == .curl)
    }

    @Test("files of the environment begin where the program was started, those of the file there")
    func folders() throws {
        let here = FileManager.default.currentDirectoryPath
        let configuration = try read("keys-file: k.json", ["ROUSE_STORE": "a.sqlite"])
        #expect(configuration.storePath == here + "/a.sqlite")
        #expect(configuration.keysPath == "/etc/rouse/k.json")
        #expect(configuration.storeDurability == .disk)
    }

    @Test(
        "a variable that begins like Rouse's and is none is an error with the nearest name",
        arguments: [
            ("ROUSE_RETENTION_DAY", "Did you mean ROUSE_RETENTION_DAYS?"),
            ("ROUSE_INSECUR", "Did you mean ROUSE_INSECURE?"),
            ("ROUSE_BUDGET_HOURLYSENDS", "Did you mean ROUSE_BUDGET_HOURLY_SENDS?"),
            ("ROUSE_SOMETHING_ELSE_ALTOGETHER", "Unset it."),
        ])
    func misspelt(name: String, remedy: String) {
        let failure = #expect(throws: CommandFailure.self) { try read("", [name: "1"]) }
        #expect(failure?.message.hasPrefix("\(name) is no variable that Rouse knows.") == true)
        #expect(failure?.message.hasSuffix(remedy) == true, "\(failure?.message ?? "")")
    }

    @Test("what Kubernetes sets for a service with this name is none of Rouse's variables")
    func serviceLinks() throws {
        let links = [
            "ROUSE_SERVICE_HOST": "10.0.0.1", "ROUSE_SERVICE_PORT": "8080",
            "ROUSE_SERVICE_PORT_HTTP": "8080", "ROUSE_PORT": "tcp://10.0.0.1:8080",
            "ROUSE_PORT_8080_TCP": "tcp://10.0.0.1:8080", "ROUSE_PORT_8080_TCP_PROTO": "tcp",
            "ROUSE_METRICS_PORT_9090_TCP_ADDR": "10.0.0.2",
        ]
        #expect(try read("", links) == read("", [:]))
    }

    @Test("a number in a misspelt variable is not taken for a link to a service")
    func misspeltPort() {
        let failure = #expect(throws: CommandFailure.self) {
            try read("", ["ROUSE_LISTEN_PORT": "9000"])
        }
        #expect(failure?.message.hasPrefix("ROUSE_LISTEN_PORT is no variable") == true)
    }

    @Test("what the shipped files for CI services, containers and systemd set is no error")
    func shippedFiles() throws {
        let deploy = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Deploy")
        var seen: Set<String> = []
        for folder in ["ci", "docker", "kubernetes", "debian"] {
            let files = try #require(
                FileManager.default.enumerator(atPath: deploy.appending(path: folder).path()))
            for case let file as String in files {
                let path = deploy.appending(path: folder).appending(path: file)
                guard let text = try? String(contentsOf: path, encoding: .utf8) else { continue }
                seen.formUnion(text.matches(of: /ROUSE_[A-Z_]*[A-Z]/).map { String($0.output) })
            }
        }
        #expect(seen.isSuperset(of: OuterSettings.templateNames))
        let known = Set(Variable.allCases.map(\.rawValue)).union(OuterSettings.keys.map(\.variable))
        for name in seen.subtracting(known) {
            #expect(try read("", [name: "x"]) == read("", [:]), "\(name)")
        }
    }

    @Test("a password on the command line is refused, and not repeated")
    func password() throws {
        let text = "http://user:hunter2@proxy.example:3128"
        let failure = #expect(throws: CommandFailure.self) {
            try read("", [:], options: [.init(name: "--set", path: "transport.proxy", text: text)])
        }
        #expect(failure?.message.contains("ROUSE_TRANSPORT_PROXY") == true)
        #expect(failure?.message.contains("hunter2") == false)
        _ = try read("", ["ROUSE_TRANSPORT_PROXY": text])
        let plain = "http://proxy.example:3128"
        _ = try read(
            "", [:], options: [.init(name: "--set", path: "transport.proxy", text: plain)])
    }

    @Test("rouse serve refuses what its options cannot be")
    func options() async throws {
        let folder = try TestFolder()
        let file = try folder.write(ConfigurationTests.app, to: "rouse.yaml")
        for (arguments, words) in [
            (["--retention-days", "0"], "--retention-days is not a whole number from 1 to 365"),
            (["--store-durability", "dsk"], "Did you mean disk?"),
            (["--idempotency-hours", "169"], "--idempotency-hours is not a whole number"),
            (["--set", "budget.hourly-send=2"], "Did you mean budget.hourly-sends?"),
            (["--set", "apps=x"], "--set apps is no key with a single value"),
            (["--set", "retention-days"], "--set needs key=value"),
            (["--set", "budget.hourly-sends=13"], "--set budget.hourly-sends is not a whole"),
        ] {
            let result = try await Rouse.run(["serve", "--config", file] + arguments)
            #expect(result.status == 64 || result.status == 78, "\(result.all)")
            #expect(result.error.contains(words), "\(result.all)")
        }
        let misspelt = try await Rouse.run(
            ["serve", "--config", file], environment: ["ROUSE_RETENTION_DAY": "1"])
        #expect(misspelt.error.contains("Did you mean ROUSE_RETENTION_DAYS?"), "\(misspelt.all)")
        let dev = try await Rouse.run(["serve", "--dev", "--retention-days", "1"])
        #expect(dev.status == 64)
    }

    @Test(
        "--dev refuses a misspelt variable, and one that overrides a file",
        arguments: [
            ("ROUSE_LISTN", "is no variable that Rouse knows. Did you mean ROUSE_LISTEN?"),
            ("ROUSE_RETENTION_DAYS", "is for a gateway with a configuration file"),
            ("ROUSE_STORE", "is for a gateway with a configuration file"),
            ("ROUSE_CONFIG", "is for a gateway with a configuration file"),
            ("ROUSE_WEBHOOK_SECRET", "is for a gateway with a configuration file"),
        ])
    func development(name: String, words: String) async throws {
        let result = try await Rouse.run(
            ["serve", "--dev", "--listen", "unix:/nonexistent/socket"], environment: [name: "1"])
        #expect(result.status == 78, "\(result.all)")
        #expect(result.error.contains("\(name) \(words)"), "\(result.all)")
    }

    @Test("--dev takes the variables that it reads, and those of other commands")
    func developmentVariables() throws {
        let others = Set(Variable.allCases).subtracting(Variable.ofFile)
        let names = others.map(\.rawValue).filter { name in
            !OuterSettings.keys.contains { $0.variable == name }
        }
        let values = ["ROUSE_LISTEN": "1", "ROUSE_LOG_LEVEL": "1", "ROUSE_PAYLOADS": "1"]
            .merging(names.map { ($0, "1") }) { $1 }
        #expect(names.contains("ROUSE_GATEWAY") && names.contains("ROUSE_KEY_FILE"))
        #expect(throws: Never.self) {
            try OuterSettings.check(Variables(values), withoutFileBut: [.listen, .logLevel])
        }
    }
}
