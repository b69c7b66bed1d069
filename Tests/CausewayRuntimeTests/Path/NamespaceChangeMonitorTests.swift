import CausewayRuntime
import Foundation
import Glibc
import Synchronization
import Testing

extension Runtime {
    @Suite(
        "Namespace: changes reach the monitor's subscribers",
        .enabled(if: ScratchNamespace.isAvailable, "network namespaces need root and ip(8)"))
    struct NamespaceChangeMonitorTests {
        @Test("A change is delivered, and without subscribers no descriptor is held")
        func delivers() async throws {
            let namespace = try ScratchNamespace()
            defer { try? namespace.remove() }
            let monitor = NetworkChangeMonitor(context: .live)
            let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let subscription = try await namespace.enter { monitor.subscribe { continuation.yield() } }
            #expect(monitor.isFollowing)
            var calls = changes.makeAsyncIterator()
            for mtu in [1300, 1400] {
                try namespace.ip("link set lo mtu \(mtu)")
                await calls.next()
            }
            #expect(try await namespace.enter { try Self.listeningSockets() } == 1)
            subscription.cancel()
            #expect(!monitor.isFollowing)
            // The Dispatch source closes the descriptor later, on its queue. Wait until this has happened. If it never
            // happens, the test's time limit ends the loop.
            while try await namespace.enter({ try Self.listeningSockets() }) != 0 { await Task.yield() }
        }

        /// Returns the number of routing sockets in the calling thread's namespace that receive changes.
        private static func listeningSockets() throws -> Int {
            // Each line has these columns: the address, the protocol, the port ID, the groups in hexadecimal, and more.
            try String(contentsOfFile: "/proc/thread-self/net/netlink", encoding: .utf8).split(separator: "\n").count {
                let columns = $0.split(separator: " ")
                return columns.count > 3 && columns[1] == "0" && UInt32(columns[3], radix: 16) ?? 0 != 0
            }
        }

        @Test("Cancelling while changes arrive is safe")
        func cancelsUnderFire() async throws {
            let namespace = try ScratchNamespace()
            defer { try? namespace.remove() }
            let monitor = NetworkChangeMonitor(context: .live)
            let isFlooding = Mutex(true)
            async let flood: Void = namespace.enter {
                defer { isFlooding.withLock { $0 = false } }
                for step in 0..<20 { try namespace.ip("link set lo mtu \(1300 + step)") }
            }
            let rounds = try await namespace.enter {
                var rounds = 0
                while isFlooding.withLock({ $0 }) {
                    let both = [monitor.subscribe {}, monitor.subscribe {}]
                    for subscription in both { subscription.cancel() }
                    rounds += 1
                }
                return rounds
            }
            try await flood
            #expect(rounds > 0)
            #expect(!monitor.isFollowing)
        }
    }
}

/// A separate network namespace for one test.
final class ScratchNamespace: Sendable {
    static let isAvailable: Bool = geteuid() == 0 && (try? ScratchNamespace().remove()) != nil

    private let name = "causeway-monitor-\(getpid())-\(UInt32.random(in: .min ... .max))"

    init() throws { try Self.run("netns add \(name)") }

    /// Removes the namespace. This is not done in a deinit, which could run on a thread that the process does not wait for.
    func remove() throws { try Self.run("netns delete \(name)") }

    func ip(_ words: String) throws { try Self.run("-n \(name) \(words)") }

    /// Runs `body` on a thread in the namespace.
    func enter<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let path = "/run/netns/\(name)"
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try Self.join(path)
                        return try body()
                    })
            }
        }
    }

    private static func join(_ path: String) throws {
        // Swift's Glibc module does not include `setns`, so look it up at run time.
        typealias SetNamespace = @convention(c) (CInt, CInt) -> CInt
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        guard let symbol = dlsym(nil, "setns"),
            unsafeBitCast(symbol, to: SetNamespace.self)(descriptor, 0x4000_0000 /* CLONE_NEWNET */) == 0
        else { throw POSIXError(.EPERM) }
    }

    private static func run(_ words: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ip"] + words.split(separator: " ").map(String.init)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw POSIXError(.EIO) }
    }
}
