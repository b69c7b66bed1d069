import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import CausewayWire
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    /// These tests run in a separate process, so that no other code has threads and sockets.
    @Suite("Concurrent lookups")
    struct ParallelLookupTests {
        @Test("1,000 concurrent names use no extra thread, at most two datagram sockets and one stream")
        func frugal() async {
            await #expect(processExitsWith: .success) {
                Watchdog.arm(seconds: 200)
                try await ParallelLookups().expectFew(1_000)
            }
        }
    }
}

private final class ParallelLookups {
    private let directory: ResolverDirectory
    private let engine: ResolverEngine
    private let server: NameServer
    private let gauge = Gauge()

    init() throws {
        Backend.choose()
        // The server and the resolver share the processors. The long timeout makes the counts independent of the
        // server's speed.
        directory = try ResolverDirectory(resolv: "nameserver 127.0.0.1\noptions timeout:30")
        server = try NameServer { [gauge] query, carrier in
            gauge.asked()
            var answer = query.loopbackResponse()
            // Names that begin with "big" get a truncated answer over UDP, so the client repeats the query over TCP.
            if carrier == .udp, query.questions[0].name.description.hasPrefix("big") {
                answer.answers = []
                answer.flags.insert(.isTruncated)
            }
            return answer
        }
        engine = ResolverEngine(on: Engine.nextLoop(), files: directory.files, port: server.port)
        gauge.engine.withLock { $0 = engine }
    }

    func expectFew(_ count: Int) async throws {
        let streams = Task { [server] in try await server.serveStreams() }
        defer { streams.cancel() }
        // Make some lookups first, so that the server, the loops and this test have started all their threads.
        try await lookUp(200, "warm")
        try await lookUp(200, "big-warm")
        let (threads, sockets) = (Process.threadCount, Process.socketCount)
        for (kind, mostSockets) in [("small", 2), ("big", 3)] {
            gauge.peak.withLock { $0 = Gauge.Peak() }
            try await lookUp(count, kind)
            let seen = gauge.peak.withLock { $0 }
            print("\(count) \(kind): \(seen), before: \(threads) threads, \(sockets) sockets")
            #expect(seen.lookupSockets > 0 && seen.lookupSockets <= mostSockets)
            // Allow some more sockets. The server's sockets are in this process too, and the kernel may not have
            // removed a closed stream yet.
            #expect(seen.processSockets <= sockets + mostSockets + (kind == "big" ? 2 : 0))
            // Dispatch may keep a spare thread.
            #expect(seen.threads <= threads + 2)
        }
    }

    /// Starts all lookups in one step on the loop, so that no answer can be processed before all have started.
    private func lookUp(_ count: Int, _ kind: String) async throws {
        let outcomes = Mailbox<Int>()
        let resolutions = LockedValue<[any NameResolving]>([])
        engine.onLoop { [engine] in
            for number in 0..<count {
                let found = LockedValue(0)
                let request = NameRequest("\(kind)-\(number).example.com")
                let resolution = engine.resolve(request) { event in
                    switch event {
                    case .found(let addresses, _, _): found.withLock { $0 += addresses.count }
                    case .ended: outcomes.put(found.withLock { $0 })
                    case .settled, .answered: break
                    }
                }
                resolutions.withLock { $0.append(resolution) }
            }
        }
        var addressCounts: [Int: Int] = [:]
        for _ in 0..<count { addressCounts[try await outcomes.next(), default: 0] += 1 }
        #expect(addressCounts == [1: count], "\(kind)")
    }
}

/// Inspects the process after every twenty queries to the server, and keeps the highest counts.
private final class Gauge: Sendable {
    /// The highest observed value of each count.
    struct Peak {
        var threads = 0
        var lookupSockets = 0
        var processSockets = 0
    }

    let peak = LockedValue(Peak())
    let engine = LockedValue<ResolverEngine?>(nil)
    private let questions = LockedValue(0)

    func asked() {
        let count = questions.withLock { count in
            count += 1
            return count
        }
        if count % 20 == 0 { sample() }
    }

    private func sample() {
        let (threads, sockets) = (Process.threadCount, Process.socketCount)
        peak.withLock { peak in
            peak.threads = max(peak.threads, threads)
            peak.processSockets = max(peak.processSockets, sockets)
        }
        guard let engine = engine.withLock({ $0 }) else { return }
        engine.onLoop {
            let count = engine.socketCount
            self.peak.withLock { peak in peak.lookupSockets = max(peak.lookupSockets, count) }
        }
    }
}

/// The numbers of threads and sockets in this process, from the kernel.
private enum Process {
    static var threadCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? -1
    }

    static var socketCount: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.count { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return target?.hasPrefix("socket:") == true
        }
    }
}
