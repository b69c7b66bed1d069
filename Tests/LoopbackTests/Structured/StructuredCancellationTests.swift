import Causeway
import CausewaySystem
import CausewayTestKit
import FoundationEssentials
import Testing

extension Loopback {
    /// Tests every kind of connection in the same way: the peer sends 0, 1, 2 and so on, and receive calls are
    /// cancelled. Each number must be received exactly once, and each task must receive its numbers in order.
    @Suite("Cancelled receives lose and duplicate nothing")
    struct StructuredCancellationTests {
        /// The number of cancellations in each test. Set `CAUSEWAY_CANCELLATIONS=100000` for the full run.
        private static let wanted = Settings.number("CAUSEWAY_CANCELLATIONS", default: 1_000)

        @Test("On a byte stream")
        func stream() async throws {
            try await Hall.open(.parameters { TCP() }) { connection in
                try await Self.count(until: { try await connection.receive(as: UInt8.self) }) { number in
                    try await connection.send(number)
                }
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { TCP() }
                try await Self.storm(receive: { try await connection.receive(as: UInt32.self).content }) {
                    try await connection.send(UInt8(1))
                }
            }
        }

        @Test("Through protocols above the transport")
        func stack() async throws {
            try await Hall.open(.parameters { TLV { TCP() } }) { connection in
                try await Self.count(until: { try await connection.receive() }) { number in
                    try await connection.send(Data("x"), type: Int(number))
                }
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { TLV { TCP() } }
                try await Self.storm(receive: { UInt32(try await connection.receive().metadata.type) }) {
                    try await connection.send(Data(), type: 0)
                }
            }
        }

        /// Runs the peer's side: sends increasing numbers until it is asked to stop.
        private static func count<Word>(
            until stop: @escaping @Sendable () async throws -> Word,
            _ send: @escaping @Sendable (UInt32) async throws -> Void
        ) async throws {
            let isStopped = LockedValue(false)
            async let stopping: Void = {
                _ = try await stop()
                isStopped.withLock { $0 = true }
            }()
            var random = SplitMix64(seed: 9)
            var number = UInt32(0)
            while !isStopped.withLock({ $0 }) {
                try await send(number)
                number += 1
                // Pause at random, so that some receive calls must wait.
                for _ in 0..<Int.random(in: 0...30, using: &random) { await Task.yield() }
            }
            try await stopping
            try await send(.max)
        }

        private static func storm(
            receive: @escaping @Sendable () async throws -> UInt32, stop: () async throws -> Void
        ) async throws {
            let tally = Tally()
            var all = try await withThrowingTaskGroup(of: [UInt32].self) { group in
                for seed in 0..<4 {
                    group.addTask {
                        try await visit(receive, seed: UInt64(seed)) { tally.add($0 ? 1 : 0) < wanted }
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            try await stop()
            while let number = try? await receive(), number != .max { all.append(number) }
            #expect(all.sorted() == (0..<UInt32(all.count)).map { $0 })
            #expect(tally.add(0) >= wanted)
        }

        /// Receives numbers, and cancels receive calls at random. Returns the received numbers.
        ///
        /// - Parameter goesOn: Returns whether to continue. Its argument states whether a receive call was cancelled.
        private static func visit(
            _ receive: @escaping @Sendable () async throws -> UInt32, seed: UInt64, goesOn: (Bool) -> Bool
        ) async throws -> [UInt32] {
            var random = SplitMix64(seed: seed)
            var numbers: [UInt32] = []
            var wasCancelled = false
            while goesOn(wasCancelled) {
                let task = Task { try await receive() }
                for _ in 0..<Int.random(in: 0...12, using: &random) { await Task.yield() }
                task.cancel()
                switch await task.result {
                case .success(let number):
                    wasCancelled = false
                    if let last = numbers.last { #expect(number > last) }
                    numbers.append(number)
                case .failure(let error):
                    wasCancelled = true
                    #expect(error as? NWError == .posix(.ECANCELED))
                }
            }
            return numbers
        }
    }
}

private final class Tally: Sendable {
    private let count = LockedValue(0)

    /// Adds to the counter. Returns the new value.
    func add(_ number: Int) -> Int {
        count.withLock { count in
            count += number
            return count
        }
    }
}
