import FoundationEssentials
import Synchronization

/// The source of the bytes that a ``Relay`` sends.
protocol RelayInput: Sendable {
    /// Waits for input. Returns `nil` at its end.
    func next(atMost limit: Int) async throws -> Data?
    /// Called when the peer has ended its sending direction.
    func peerEnded()
}

extension StandardInput: RelayInput {
    /// Does nothing. By default, input continues, because the peer may still receive.
    func peerEnded() {}
}

/// Sends standard input to all connected clients, as ncat does.
///
/// The next chunk is read only when the relays of all clients have taken the previous chunk. The memory is therefore
/// bounded, and a slow client slows the input down. A client is disconnected if it has not taken a chunk within five
/// seconds although other clients have.
final class SharedInput: Sendable {
    private static let chunk = 65_536
    private static let patience = 5

    private struct Client {
        /// The number of the latest input chunk that was relayed to this client.
        var taken: Int
        var hasPeerEnded = false
        let wake: AsyncStream<Void>.Continuation
        let drop: @Sendable () -> Void
    }

    private struct State {
        /// The number of chunks that were read. The latest chunk is in `piece`.
        var number = 0
        var piece = Data()
        var isAtEnd = false
        var clients: [Int: Client] = [:]
        var lastClient = 0

        var lagging: [Client] { clients.values.filter { $0.taken < number } }
    }

    private let state = Mutex(State())
    private let changes: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation

    init() {
        (changes, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds a client. It receives all input read after this call.
    ///
    /// - Parameter drop: Ends the client's connection.
    func join(drop: @escaping @Sendable () -> Void) -> Share {
        let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let identifier = state.withLock { state in
            state.lastClient += 1
            state.clients[state.lastClient] = Client(taken: state.number, wake: wake, drop: drop)
            return state.lastClient
        }
        changed.yield()
        return Share(input: self, identifier: identifier, wakes: wakes)
    }

    /// Reads standard input until its end, and sends it to all clients. Reads nothing while there is no client.
    func distribute() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { [changed] in
                while true {
                    try await Task.sleep(for: .seconds(1))
                    changed.yield()
                }
            }
            try await waitUntil { $0.clients.isEmpty == false }
            while let piece = try await StandardInput.shared.next(atMost: Self.chunk) {
                handOut(piece)
                try await waitUntilTaken()
                try await waitUntil { $0.clients.isEmpty == false }
            }
            state.withLock { state in
                state.isAtEnd = true
                for client in state.clients.values { client.wake.yield() }
            }
        }
    }

    private func handOut(_ piece: Data) {
        state.withLock { state in
            state.piece = piece
            state.number += 1
            for client in state.clients.values { client.wake.yield() }
        }
    }

    private func waitUntilTaken() async throws {
        let deadline = ContinuousClock.now + .seconds(Self.patience)
        var iterator = changes.makeAsyncIterator()
        while true {
            let (lagging, count) = state.withLock { ($0.lagging, $0.clients.count) }
            if lagging.isEmpty { return }
            if lagging.count < count, ContinuousClock.now > deadline { for client in lagging { client.drop() } }
            guard await iterator.next() != nil else { throw CancellationError() }
        }
    }

    private func waitUntil(_ condition: (State) -> Bool) async throws {
        var iterator = changes.makeAsyncIterator()
        while !state.withLock({ condition($0) }) {
            guard await iterator.next() != nil else { throw CancellationError() }
        }
    }

    /// The shared input as one client reads it.
    struct Share: RelayInput {
        fileprivate let input: SharedInput
        fileprivate let identifier: Int
        fileprivate let wakes: AsyncStream<Void>

        private enum Step {
            case piece(Data)
            case end
            case wait
        }

        /// - Parameter limit: Must not be less than the input's chunk size.
        func next(atMost limit: Int) async throws -> Data? {
            var iterator = wakes.makeAsyncIterator()
            while true {
                switch step() {
                case .piece(let piece):
                    input.changed.yield()
                    return piece
                case .end: return nil
                case .wait: guard await iterator.next() != nil else { throw CancellationError() }
                }
            }
        }

        private func step() -> Step {
            input.state.withLock { state in
                guard let client = state.clients[identifier] else { return .end }
                if client.taken < state.number {
                    state.clients[identifier]?.taken = state.number
                    return .piece(state.piece)
                }
                return state.isAtEnd || client.hasPeerEnded ? .end : .wait
            }
        }

        /// Ends this client's input after the latest chunk that was read.
        func peerEnded() {
            input.state.withLock { state in
                state.clients[identifier]?.hasPeerEnded = true
                state.clients[identifier]?.wake.yield()
            }
        }

        func leave() {
            _ = input.state.withLock { $0.clients.removeValue(forKey: identifier) }
            input.changed.yield()
        }
    }
}
