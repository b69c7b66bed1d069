import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Evaluating proxy scripts", .enabled(if: Script.canRun, Script.need))
    struct ScriptEvaluationTests {
        /// Neither a process nor a descriptor may be left.
        private func leavingNothing(_ body: () async throws -> Void) async throws {
            _ = try await Script.evaluate(Script.choosing("DIRECT"))
            #expect(Script.processes.isEmpty)
            let before = ConnectionCycles.descriptorCount
            try await body()
            #expect(Script.processes.isEmpty)
            let isUnchanged = await eventually { ConnectionCycles.descriptorCount <= before }
            #expect(isUnchanged, "\(ConnectionCycles.descriptorCount) descriptors, \(before) before")
        }

        private func failure(_ script: String, names: any NameResolver = KnownNames()) async throws -> String {
            let report = try await Script.evaluate(script, names: names)
            guard case .failure(.failed(let text)) = report.result else {
                Issue.record("\(report.result)")
                return ""
            }
            return text
        }

        @Test("The script is told the URL and the host, and its words are written down")
        func told() async throws {
            let script = """
                function FindProxyForURL(url, host) { alert(host); alert(3); return url + " " + host + " \\u00fc"; }
                """
            let report = try await Script.evaluate(script, url: "https://u:p@WWW.example.test:8443/secret?x")
            #expect(report.result == .success("https://www.example.test:8443/ www.example.test ü"))
            #expect(report.conversation.alerts == ["www.example.test", "3"])
        }

        @Test("What is no text is no result, but nothing at all is none to choose")
        func results() async throws {
            for word in ["undefined", "null", "''"] {
                let report = try await Script.evaluate("function FindProxyForURL() { return \(word); }")
                #expect(report.result == .success(""))
            }
            for word in ["1", "{}", "true", "[]", "function () {}"] {
                #expect(try await failure("function FindProxyForURL() { return \(word); }").contains("no text"))
            }
            #expect(try await failure("var x = 1;").contains("no function FindProxyForURL"))
            let extended = "function FindProxyForURLEx() { return 'DIRECT'; }\n" + Script.choosing("PROXY h:1")
            #expect(try await Script.evaluate(extended).result == .success("DIRECT"))
            let long = "function FindProxyForURL() { return new Array(9000).join('x'); }"
            #expect(try await failure(long).contains("too long"))
        }

        @Test("Errors are told with their line")
        func errors() async throws {
            let unknown = try await failure("function FindProxyForURL() {\n  return nowhere();\n}")
            #expect(unknown.contains("nowhere") && unknown.contains("line 2"))
            let syntax = try await failure("function FindProxyForURL() {\n\n  return (;\n}")
            #expect(syntax.contains("SyntaxError") && syntax.contains("line 3"))
            #expect(try await failure("throw 'words';").contains("words"))
            #expect(try await failure("throw { toString: function () { throw 1; } };").contains("cannot be told"))
            #expect(try await failure("throw null;").contains("null"))
        }

        @Test("Memory and stack are bounded, and nothing is left")
        func hogs() async throws {
            try await leavingNothing {
                for (script, words) in [
                    ("var all = []; for (;;) all.push('a long text of many letters' + all.length);", "memory"),
                    ("var text = 'x'; for (;;) text += text;", ""),
                    ("function f() { return f() + 1; } f();", ""),
                    ("eval(new Array(100000).join('('));", ""),
                ] {
                    let told = try await failure(script)
                    #expect(!told.isEmpty && (words.isEmpty || told.contains(words)), "\(told)")
                }
            }
        }

        @Test("A long script, of 300,000 octets, has room")
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

        @Test(
            "An endless loop is stopped, and nothing is left",
            arguments: ["for (;;);", "for (;;) try { for (;;); } catch (e) {}"])
        func endless(_ loop: String) async throws {
            try await leavingNothing {
                let stopped = try await Script.evaluate(loop, within: .milliseconds(100))
                #expect(stopped.result == .failure(.tooSlow))
                let usedUp = try await Script.evaluate(loop)
                #expect(usedUp.result == .failure(.died))
            }
        }

        @Test("A name that nobody answers for takes no longer than allowed")
        func silence() async throws {
            try await leavingNothing {
                let report = try await Script.evaluate(
                    "dnsResolve('a.test');", names: SilentNames(), within: .milliseconds(100))
                #expect(report.result == .failure(.tooSlow))
            }
        }

        @Test("Names are asked for once, and not more than a few")
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

        @Test("This host's own resolver is asked")
        func realNames() async throws {
            let report = try await Script.evaluate(
                "function FindProxyForURL() { return dnsResolve('localhost'); }", names: SystemNameResolver())
            #expect(report.result == .success("127.0.0.1"))
        }

        @Test("The process is confined: one descriptor, no further rights, a filter for its calls")
        func confinement() async throws {
            let names = SilentNames()
            let subject = try #require(ScriptSubject(url: "http://h/"))
            let job = ScriptEvaluation.Job(
                Array("dnsResolve('a.test')".utf8), for: subject, SocketSettings(transport: .tcp))
            let evaluation = ScriptEvaluation(job, on: Script.loop, resolver: names) { _ in }
            evaluation.start()
            _ = try await names.asked.next()
            let process = try #require(Script.processes.first)
            let status = Script.content(of: "/proc/\(process)/status") ?? ""
            #expect(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"))
            #expect(status.contains("SigCgt:\t0000000000000000"))
            let limits = Script.content(of: "/proc/\(process)/limits") ?? ""
            let files = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
            #expect(files?.split(separator: " ").dropFirst(3).prefix(2) == ["0", "0"])
            // Who may look at it sees its channel and nothing else.
            if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd") {
                #expect(open.count == 1)
            }
            evaluation.cancel()
            let isGone = await eventually { Script.processes.isEmpty }
            #expect(isGone)
        }

        @Test("A hundred at a time leave neither process nor descriptor")
        func many() async throws {
            try await leavingNothing {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<100 {
                        group.addTask {
                            let report = try await Script.evaluate(Script.choosing("PROXY h:\(number + 1)"))
                            #expect(report.result == .success("PROXY h:\(number + 1)"))
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }

        @Test("Cancelled at any time, it leaves nothing and tells nothing")
        func cancellation() async throws {
            try await leavingNothing {
                let told = Mailbox<Int>()
                for number in 0..<40 {
                    let subject = try #require(ScriptSubject(url: "http://h/"))
                    let job = ScriptEvaluation.Job(
                        Array("for (;;);".utf8), for: subject, SocketSettings(transport: .tcp))
                    let evaluation = ScriptEvaluation(job, on: Script.loop) { _ in told.put(number) }
                    evaluation.start()
                    for _ in 0..<(number * 50) { await Task.yield() }
                    evaluation.cancel()
                }
                let isGone = await eventually { Script.processes.isEmpty }
                #expect(isGone && told.history.isEmpty)
                #expect(try await Script.evaluate(Script.choosing("DIRECT")).result == .success("DIRECT"))
            }
        }

        @Test("A missing engine is told with what to install")
        func missing() {
            #expect(ScriptProcess.probe("libduktape.so.207") == nil)
            #expect(ScriptProcess.probe("libnone.so.1")?.contains("libduktape207") == true)
            #expect(ScriptProcess.probe("libc.so.6")?.contains("duk_create_heap") == true)
        }
    }
}
