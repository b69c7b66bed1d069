import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    /// Tests memory use while a sender never stops. Each test runs in a separate process, so that only its own memory
    /// is measured.
    ///
    /// Each completed send starts the next one. The reader reads once in a while, so that the buffers fill many times
    /// without timed waits.
    @Suite("Memory")
    struct MemoryTests {
        @Test("An endless sender with a stopped reader does not grow: TCP")
        func tcp() async {
            await #expect(processExitsWith: .success) {
                Watchdog.arm(seconds: 300)
                try await StoppedReader(.tcp4).expectNoGrowth()
            }
        }

        @Test("An endless sender with a stopped reader does not grow: Unix sockets")
        func unix() async {
            await #expect(processExitsWith: .success) {
                Watchdog.arm(seconds: 300)
                try await StoppedReader(.unix).expectNoGrowth()
            }
        }

        @Test("A flood of unread datagrams does not grow a connection")
        func floodedClient() async {
            await #expect(processExitsWith: .success) {
                Watchdog.arm(seconds: 300)
                try await Flood(isListener: false).expectNoGrowth()
            }
        }

        @Test("A flood of unread datagrams does not grow a listener's connection")
        func floodedListener() async {
            await #expect(processExitsWith: .success) {
                Watchdog.arm(seconds: 300)
                try await Flood(isListener: true).expectNoGrowth()
            }
        }
    }
}

/// The maximum memory growth of both sides together, in bytes.
private let allowance = 8 << 20

private func expectGrowth(below limit: Int, from before: Int, sourceLocation: SourceLocation = #_sourceLocation) {
    let growth = System.residentMemory.current - before
    #expect(growth < limit, "grew by \(growth >> 10) KiB", sourceLocation: sourceLocation)
}

private struct StoppedReader {
    private static let rounds = 40
    private static let block = Data(count: 64 << 10)
    /// If the sender makes no progress for this time, the test assumes that it has stopped.
    private static let quiet: Duration = .milliseconds(40)
    var medium: Medium

    init(_ medium: Medium) { self.medium = medium }

    func expectNoGrowth() async throws {
        try await Pair.with(medium) { pair in
            let taken = Mailbox<Bool>()
            Self.sendForEver(pair.client.connection, taken)
            #expect(await Self.standstill(taken) > 0)
            let before = System.residentMemory.current
            for _ in 0..<Self.rounds {
                try await drain(pair.server, 4 << 20)
                #expect(await Self.standstill(taken) > 0)
            }
            expectGrowth(below: allowance, from: before)
        }
    }

    private static func sendForEver(_ connection: NWConnection, _ taken: Mailbox<Bool>) {
        connection.send(
            content: block,
            completion: .contentProcessed { error in
                guard error == nil else { return }
                taken.put(true)
                sendForEver(connection, taken)
            })
    }

    /// Waits until the sender can send no more. Returns the number of blocks that the connection accepted before that.
    private static func standstill(_ taken: Mailbox<Bool>) async -> Int {
        var count = 0
        while await taken.take(within: quiet) != nil { count += 1 }
        return count
    }

    private func drain(_ probe: Probe, _ count: Int) async throws {
        var left = count
        while left > 0 { left -= try await probe.receive(1, min(left, 256 << 10)).data?.count ?? 0 }
    }
}

/// A test peer that sends datagrams as fast as possible. The connection under test is ready but does not receive.
private struct Flood {
    private static let datagram = Data(count: 1_000)
    var isListener: Bool

    init(isListener: Bool) { self.isListener = isListener }

    func expectNoGrowth() async throws {
        let peer = try RawSocket.bound(.udp4)
        let listener = try ListenerProbe(.udp4)
        try await listener.listen()
        let target: Probe
        if isListener {
            _ = try Socket.connect(peer.fd, to: Medium.udp4.socketAddress(port: listener.port.rawValue))
            try await peer.write(Self.datagram)
            target = try await listener.connections.next()
        } else {
            let port = try #require(NWEndpoint.Port(rawValue: peer.port))
            target = Probe(to: .hostPort(host: .ipv4(.loopback), port: port), using: .udp)
        }
        try await target.start().ready()
        if !isListener {
            guard case .hostPort(_, let port) = target.connection.currentPath?.localEndpoint else { return }
            _ = try Socket.connect(peer.fd, to: Medium.udp4.socketAddress(port: port.rawValue))
        }
        try await send(20_000, from: peer)
        let before = System.residentMemory.current
        try await send(300_000, from: peer)
        expectGrowth(below: allowance, from: before)
        // The connection still works after the flood of datagrams.
        #expect(try await target.receiveMessage().data == Self.datagram)
        try await target.cancel()
        try await listener.cancel()
    }

    private func send(_ count: Int, from peer: RawSocket) async throws {
        for _ in 0..<count { try await peer.write(Self.datagram) }
    }
}
