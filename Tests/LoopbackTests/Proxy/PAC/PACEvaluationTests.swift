import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Evaluation of PAC scripts", .enabled(if: Script.canRun, Script.need))
    struct PACEvaluationTests {
        @Test("The script receives the URL and the host, and its result is parsed")
        func told() async throws {
            let script = """
                function FindProxyForURL(url, host) { alert(host); alert(3); return url + " " + host + " \\u00fc"; }
                """
            let report = try await Script.evaluate(script, url: "https://u:p@WWW.example.test:8443/secret?x")
            #expect(report.result == .success("https://www.example.test:8443/ www.example.test ü"))
            #expect(report.conversation.alerts == ["www.example.test", "3"])
        }

        @Test("A result that is not text is an error, and an undefined result selects no proxy")
        func results() async throws {
            for word in ["undefined", "null", "''"] {
                let report = try await Script.evaluate("function FindProxyForURL() { return \(word); }")
                #expect(report.result == .success(""))
            }
            for word in ["1", "{}", "true", "[]", "function () {}"] {
                #expect(
                    try await Script.failure("function FindProxyForURL() { return \(word); }").contains("not a string"))
            }
            #expect(try await Script.failure("var x = 1;").contains("no function FindProxyForURL"))
            let extended = "function FindProxyForURLEx() { return 'DIRECT'; }\n" + Script.choosing("PROXY h:1")
            #expect(try await Script.evaluate(extended).result == .success("DIRECT"))
            let long = "function FindProxyForURL() { return new Array(9000).join('x'); }"
            #expect(try await Script.failure(long).contains("too long"))
        }

        @Test("Errors are reported with their line")
        func errors() async throws {
            let unknown = try await Script.failure("function FindProxyForURL() {\n  return nowhere();\n}")
            #expect(unknown.contains("nowhere") && unknown.contains("line 2"))
            let syntax = try await Script.failure("function FindProxyForURL() {\n\n  return (;\n}")
            #expect(syntax.contains("SyntaxError") && syntax.contains("line 3"))
            #expect(try await Script.failure("throw 'words';").contains("words"))
            #expect(
                try await Script.failure("throw { toString: function () { throw 1; } };").contains("Unknown error"))
            #expect(try await Script.failure("throw null;").contains("null"))
        }

        @Test("A script of 300,000 bytes is accepted")
        func large() async throws {
            let domains = (0..<10_000).map { "'host\($0).example.test.long'" }.joined(separator: ",\n")
            let script = """
                var domains = [\(domains)];
                function FindProxyForURL(url, host) {
                    for (var i = 0; i < domains.length; i++) if (dnsDomainIs(host, domains[i])) return "DIRECT";
                    return "PROXY h:1";
                }
                """
            #expect(try await Script.evaluate(script).result == .success("PROXY h:1"))
            let other = try await Script.evaluate(script, url: "https://host9999.example.test.long/")
            #expect(other.result == .success("DIRECT"))
        }

        @Test("A script's names are looked up once each, up to a limit")
        func lookups() async throws {
            let names = KnownNames(table: ["a.test": ["192.0.2.1"]])
            let twice =
                "function FindProxyForURL() { return dnsResolve('a.test') + dnsResolve('A.test') + dnsResolve('b.test'); }"
            let report = try await Script.evaluate(twice, names: names)
            #expect(report.result == .success("192.0.2.1192.0.2.1null"))
            #expect(report.conversation.lookups.map(\.name) == ["a.test", "b.test"])
            let many = try await Script.evaluate("for (var i = 0; ; i++) dnsResolve('n' + i);")
            #expect(many.result == .failure(.tooManyLookups))
        }

        @Test("A script can use this host's resolver")
        func realNames() async throws {
            let report = try await Script.evaluate(
                "function FindProxyForURL() { return dnsResolve('localhost'); }", names: SystemNameResolver())
            #expect(report.result == .success("127.0.0.1"))
        }

        @Test("The process is sandboxed: one descriptor, no privileges, a system call filter")
        func confinement() async throws {
            let names = SilentNames()
            let subject = try #require(PACSubject(url: "http://h/"))
            let job = PACEvaluation.Job(
                Array("dnsResolve('a.test')".utf8), for: subject, SocketSettings(transport: .tcp))
            let evaluation = PACEvaluation(job, on: Script.loop, resolver: names) { _ in }
            evaluation.start()
            _ = try await names.asked.next()
            let process = try #require(Script.processes.first)
            let status = Script.content(of: "/proc/\(process)/status") ?? ""
            #expect(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"))
            #expect(status.contains("SigCgt:\t0000000000000000"))
            let limits = Script.content(of: "/proc/\(process)/limits") ?? ""
            let files = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
            #expect(files?.split(separator: " ").dropFirst(3).prefix(2) == ["0", "0"])
            // This directory lists the open descriptors of the script process. If it is readable, it must contain only
            // one descriptor, the channel.
            if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd") {
                #expect(open.count == 1)
            }
            evaluation.cancel()
            let isGone = await eventually { Script.processes.isEmpty }
            #expect(isGone)
        }

        @Test("The error for a missing script engine says what to install")
        func missing() {
            #expect(PACProcess.probe("libduktape.so.207") == nil)
            #expect(PACProcess.probe("libnone.so.1")?.contains("libduktape207") == true)
            #expect(PACProcess.probe("libc.so.6")?.contains("duk_create_heap") == true)
        }
    }
}
