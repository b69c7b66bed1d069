import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import FoundationEssentials
import Testing

extension Loopback {
    /// Tests the resource use of proxy scripts. The tests run in separate processes, so that no other code opens or
    /// closes file descriptors.
    @Suite("Resource use of PAC scripts", .enabled(if: Script.canRun, Script.need))
    struct PACResourceTests {
        @Test("Memory and stack are limited, and nothing is leaked")
        func hogs() async {
            await #expect(processExitsWith: .success) {
                try await Script.leavingNothing {
                    for (script, words) in [
                        ("var all = []; for (;;) all.push('a long text of many letters' + all.length);", "memory"),
                        ("var text = 'x'; for (;;) text += text;", ""),
                        ("function f() { return f() + 1; } f();", ""),
                        ("eval(new Array(100000).join('('));", ""),
                    ] {
                        let told = try await Script.failure(script)
                        #expect(!told.isEmpty && (words.isEmpty || told.contains(words)), "\(told)")
                    }
                }
            }
        }

        @Test(
            "An endless loop is stopped, and nothing is leaked",
            arguments: ["for (;;);", "for (;;) try { for (;;); } catch (e) {}"])
        func endless(_ loop: String) async {
            await #expect(processExitsWith: .success) { [loop] in
                try await Script.leavingNothing {
                    let stopped = try await Script.evaluate(loop, within: .milliseconds(100))
                    #expect(stopped.result == .failure(.tooSlow))
                    let usedUp = try await Script.evaluate(loop)
                    #expect(usedUp.result == .failure(.died))
                }
            }
        }

        @Test("A name without an answer takes at most the allowed time")
        func silence() async {
            await #expect(processExitsWith: .success) {
                try await Script.leavingNothing {
                    let report = try await Script.evaluate(
                        "dnsResolve('a.test');", names: SilentNames(), within: .milliseconds(100))
                    #expect(report.result == .failure(.tooSlow))
                }
            }
        }

        @Test("A hundred concurrent scripts leak no process and no descriptor")
        func many() async {
            await #expect(processExitsWith: .success) {
                try await Script.leavingNothing {
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
        }

        @Test("Cancelling at any time leaks nothing and reports nothing")
        func cancellation() async {
            await #expect(processExitsWith: .success) {
                try await Script.leavingNothing {
                    let told = Mailbox<Int>()
                    for number in 0..<40 {
                        let subject = try #require(PACSubject(url: "http://h/"))
                        let job = PACEvaluation.Job(
                            Array("for (;;);".utf8), for: subject, SocketSettings(transport: .tcp))
                        let evaluation = PACEvaluation(job, on: Script.loop) { _ in told.put(number) }
                        evaluation.start()
                        for _ in 0..<(number * 50) { await Task.yield() }
                        evaluation.cancel()
                    }
                    let isGone = await eventually { Script.processes.isEmpty }
                    #expect(isGone && told.history.isEmpty)
                    #expect(try await Script.evaluate(Script.choosing("DIRECT")).result == .success("DIRECT"))
                }
            }
        }
    }
}

extension Script {
    /// Runs `body`. Checks that afterwards no additional process exists and no additional file descriptor is open.
    static func leavingNothing(_ body: () async throws -> Void) async throws {
        Watchdog.arm(seconds: 300)
        _ = try await evaluate(choosing("DIRECT"))
        #expect(processes.isEmpty)
        let before = ConnectionCycles.descriptorCount
        try await body()
        #expect(processes.isEmpty)
        let isUnchanged = await eventually { ConnectionCycles.descriptorCount <= before }
        #expect(isUnchanged, "\(ConnectionCycles.descriptorCount) descriptors, \(before) before")
    }
}
