import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    /// These tests run in separate processes, so that no other code opens or closes descriptors.
    @Suite("Descriptors")
    struct DescriptorTests {
        @Test("10,000 connections leak no descriptor: TCP")
        func tcp() async {
            await #expect(processExitsWith: .success) {
                Watchdog.arm(seconds: 300)
                try await ConnectionCycles(.tcp4).expectNoLeak(after: 10_000)
            }
        }

        @Test("10,000 connections leak no descriptor: Unix sockets")
        func unix() async {
            await #expect(processExitsWith: .success) {
                Watchdog.arm(seconds: 300)
                try await ConnectionCycles(.unix).expectNoLeak(after: 10_000)
            }
        }

        @Test("10,000 connections leak no descriptor: UDP")
        func udp() async {
            await #expect(processExitsWith: .success) {
                Watchdog.arm(seconds: 300)
                try await ConnectionCycles(.udp6).expectNoLeak(after: 10_000)
            }
        }
    }
}

/// Opens many connections, one after the other. Exchanges a byte over each, and closes it in one of the possible ways.
final class ConnectionCycles: Sendable {
    private let medium: Medium
    private let queue = DispatchQueue(label: "cycles")
    private static let transports = 16

    init(_ medium: Medium) { self.medium = medium }

    static var descriptorCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? -1
    }

    func expectNoLeak(after cycles: Int) async throws {
        try await run(100)
        let before = Self.descriptorCount
        try await run(cycles)
        let isUnchanged = await eventually { Self.descriptorCount <= before }
        #expect(isUnchanged, "\(Self.descriptorCount) descriptors, \(before) before")
    }

    func run(_ cycles: Int) async throws {
        let listener = try ListenerProbe(medium)
        listener.listener.newConnectionHandler = { [queue, medium] connection in
            connection.start(queue: queue)
            connection.receive(minimumIncompleteLength: 1, maximumLength: 1) { data, _, _, error in
                // Sometimes close the connection on this side first. Always close a datagram connection here, because
                // it receives no end of stream.
                if data?.first == 1 || error != nil || !medium.isStream { return connection.cancel() }
                connection.receive(minimumIncompleteLength: 1, maximumLength: 1) { _, _, _, _ in connection.cancel() }
            }
        }
        try await listener.listen()
        let endpoint = listener.endpoint
        await withTaskGroup { group in
            for transport in 0..<Self.transports {
                group.addTask {
                    for index in 0..<(cycles / Self.transports + 1) { await self.cycle(endpoint, transport + index) }
                }
            }
        }
        try await listener.cancel()
    }

    private func cycle(_ endpoint: NWEndpoint, _ number: Int) async {
        let connection = NWConnection(to: endpoint, using: medium.parameters)
        await withCheckedContinuation { done in
            connection.stateUpdateHandler = { state in
                if case .cancelled = state { done.resume() }
            }
            connection.start(queue: queue)
            connection.send(
                content: Data([UInt8(number % 2)]),
                completion: .contentProcessed { _ in
                    if number % 3 == 0 { connection.forceCancel() } else { connection.cancel() }
                })
        }
    }
}
