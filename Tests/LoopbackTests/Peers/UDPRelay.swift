import Causeway
import Foundation
import Synchronization
import Testing

/// Relays datagrams between a peer and a datagram port. Counts the datagrams, and drops those that the test selects.
final class UDPRelay: Sendable {
    private struct State {
        var target: NWEndpoint?
        var connections: [NWConnection] = []
        var drops: @Sendable (Data) -> Bool = { _ in false }
        var dialled: @Sendable (NWEndpoint) -> Void = { _ in }
        var forwardedCount = 0
        var droppedCount = 0
    }

    /// The sizes of the dropped datagrams, in bytes.
    let dropped = Mailbox<Int>()
    private let queue = DispatchQueue(label: "UDP relay")
    private let listener: NWListener
    private let state = Mutex(State())

    /// - Parameter drops: Returns whether to drop a datagram. Called for both directions.
    init(drops: @escaping @Sendable (Data) -> Bool = { _ in false }) async throws {
        listener = try NWListener(using: .udp)
        state.withLock { $0.drops = drops }
        listener.newConnectionHandler = { [weak self] in self?.accept($0) }
        let ready = Mailbox<Bool>()
        listener.stateUpdateHandler = { if case .ready = $0 { ready.put(true) } }
        listener.start(queue: queue)
        _ = try await ready.next()
    }

    var forwardedCount: Int { state.withLock { $0.forwardedCount } }

    func setDrops(_ drops: @escaping @Sendable (Data) -> Bool) { state.withLock { $0.drops = drops } }

    /// Sets the closure that is called with the real endpoint of each DTLS connection (lane) that a peer dials.
    func whenDialled(_ body: @escaping @Sendable (NWEndpoint) -> Void) { state.withLock { $0.dialled = body } }

    /// Returns the relay's address, which a peer dials instead of the address `place`.
    func detour(_ place: NWEndpoint) -> NWEndpoint {
        let dialled = state.withLock { state in
            state.target = place
            return state.dialled
        }
        dialled(place)
        guard case .hostPort(let host, _) = place, let port = listener.port else { return place }
        return .hostPort(host: host, port: port)
    }

    private func accept(_ connection: NWConnection) {
        guard let target = state.withLock({ $0.target }) else { return connection.forceCancel() }
        let other = NWConnection(to: target, using: .udp)
        state.withLock { $0.connections += [connection, other] }
        for one in [connection, other] { one.start(queue: queue) }
        forward(from: connection, to: other)
        forward(from: other, to: connection)
    }

    private func forward(from source: NWConnection, to other: NWConnection) {
        source.receiveMessage { [weak self] data, _, _, error in
            guard let self, error == nil else { return }
            if let data, !data.isEmpty { pass(data, to: other) }
            forward(from: source, to: other)
        }
    }

    private func pass(_ data: Data, to other: NWConnection) {
        let isDropped = state.withLock { state in
            let isDropped = state.drops(data)
            if isDropped { state.droppedCount += 1 } else { state.forwardedCount += 1 }
            return isDropped
        }
        if isDropped { return dropped.put(data.count) }
        other.send(content: data, completion: .contentProcessed { _ in })
    }

    func cancel() {
        listener.cancel()
        for connection in state.withLock({ $0.connections }) { connection.forceCancel() }
    }
}
