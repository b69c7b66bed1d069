internal import Causeway
internal import CausewayPeerProtocols
internal import Dispatch

/// One end of a DTLS connection for unreliable messages to a peer.
///
/// First performs handshakes with hosts that claim to be the peer, and then serves the connection with the peer. Hosts
/// without the key fail in the handshake. At most ``handshakeLimit`` handshakes run at a time, for five seconds each.
/// After the first complete handshake, the port accepts no other peer. All callbacks run on the node's queue. No event
/// follows `ended`.
final class DatagramPort: Sendable {
    enum Event: Sendable {
        case listening(UInt16)
        /// The handshake is complete. A datagram may have at most `limit` bytes.
        case ready(limit: Int)
        case received([UInt8])
        /// A datagram with this number of bytes was sent or dropped.
        case sent(Int)
        /// A handshake with an incoming connection failed. For example, the remote host does not have the DTLS key.
        case refused(PeerReason)
        case ended(PeerReason)
    }

    static let handshakeLimit = 8
    static let handshakeTime = Duration.seconds(5)

    struct State {
        var listener: NWListener?
        /// Connections whose handshake is in progress. The oldest connection is first.
        var candidates: [NWConnection] = []
        var chosen: NWConnection?
        var isClosed = false
    }

    let queue: DispatchQueue
    /// The remote endpoint of the member's control link. When the maximum number of handshakes is reached, handshakes
    /// with other hosts are dropped first.
    let member: NWEndpoint?
    private let report: @Sendable (Event) -> Void
    let state = LockedValue(State())

    init(_ queue: DispatchQueue, member: NWEndpoint?, _ report: @escaping @Sendable (Event) -> Void) {
        self.queue = queue
        self.member = member
        self.report = report
    }

    func tell(_ event: Event) { report(event) }

    // MARK: Content

    func send(_ datagram: [UInt8]) {
        let count = datagram.count
        guard let connection = state.withLock({ $0.chosen }) else { return tellLater(.sent(count)) }
        connection.send(
            content: .init(datagram),
            completion: .contentProcessed { [weak self] _ in self?.tell(.sent(count)) })
    }

    /// Reports an event later, on the port's serial queue.
    func tellLater(_ event: Event) { queue.async { [self] in report(event) } }

    func receive(from connection: NWConnection) {
        connection.receiveMessage { [weak self] data, _, _, error in
            guard let self, state.withLock({ !$0.isClosed && $0.chosen === connection }) else { return }
            // Datagrams on this connection are never empty: no content means that the peer has closed the connection.
            guard let data, !data.isEmpty else { return end(error.map { $0.laneReason } ?? .left) }
            tell(.received([UInt8](data)))
            receive(from: connection)
        }
    }

    // MARK: End

    /// Ends the DTLS connection, or the handshake if it is still running. Then reports ``Event/ended(_:)`` with the
    /// reason.
    func end(_ reason: PeerReason) { if shut() { tell(.ended(reason)) } }

    /// Ends the DTLS connection or its handshake without an event.
    func close() { _ = shut() }

    /// Cancels the listener and all connections. Returns `false` if this was done before.
    private func shut() -> Bool {
        let (wasOpen, old) = state.withLock { state in
            let old = state
            state = State(isClosed: true)
            return (!old.isClosed, old)
        }
        old.listener?.cancel()
        old.candidates.forEach { $0.forceCancel() }
        // The peer gets a close_notify.
        old.chosen?.cancel()
        return wasOpen
    }
}

extension NWError {
    /// The reason code for the peer protocol.
    var laneReason: PeerReason {
        switch self {
        case .tls: .notVerified
        case .posix(.ETIMEDOUT): .timedOut
        default: .unreachable
        }
    }
}
