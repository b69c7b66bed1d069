internal import Causeway
internal import CausewayPeerProtocols
internal import Dispatch
internal import Foundation

/// One TLS connection to a peer. It reads in blocks, counts unsent bytes, and reports its end once.
///
/// All callbacks run on the node's queue. `resumeReading()` requests the next block. Without this call, the kernel's
/// buffers fill and the sender has to wait.
final class PeerLink: Sendable {
    enum Event: Sendable {
        /// The TLS handshake is complete. The remote endpoint is `nil` if it is not known.
        case opened(LinkFacts, remote: NWEndpoint?)
        case received([UInt8])
        /// The transport has accepted this number of bytes since the previous report. Each report covers at least 32
        /// KiB, so the last written bytes may remain unreported.
        case sent(Int)
        /// The other side has sent its last byte. No `received` event follows.
        case ended
        /// The link has closed, and no event follows. After a failure of the local network, the other side may not know
        /// yet that the link has ended.
        case closed(isLocalFailure: Bool)
    }

    /// The maximum number of bytes in one read.
    private static let blockSize = 65_536
    /// The number of sent bytes to report together. A report for each message would cost as much as the message itself.
    private static let reportSize = 32_768

    private struct State {
        var isReady = false
        var isReading = false
        var isClosed = false
        /// The number of bytes that were written since the last report.
        var unreportedByteCount = 0
    }

    private let connection: NWConnection
    private let queue: DispatchQueue
    /// Whether the connection waits for a network if it cannot be established now. If `false`, the link fails instead.
    private let waits: Bool
    private let report: @Sendable (PeerLink, Event) -> Void
    private let state = LockedValue(State())

    init(
        _ connection: NWConnection, queue: DispatchQueue, waits: Bool = true,
        _ report: @escaping @Sendable (PeerLink, Event) -> Void
    ) {
        self.connection = connection
        self.queue = queue
        self.waits = waits
        self.report = report
    }

    private func handler(_ event: Event) { report(self, event) }

    /// The remote endpoint, also before the connection is established.
    var endpoint: NWEndpoint { connection.endpoint }

    func start() {
        connection.stateUpdateHandler = { [self] new in
            switch new {
            case .ready: opened()
            case .failed(let error): finish(error)
            case .cancelled: finish(nil)
            case .waiting(let error): if !waits { finish(error) }
            case .setup, .preparing: break
            @unknown default: break
            }
        }
        connection.start(queue: queue)
    }

    private func opened() {
        let isFirst = state.withLock { state in
            defer { state.isReady = true }
            return !state.isReady && !state.isClosed
        }
        guard isFirst else { return }
        guard let session = PeerTransport.session(of: connection) else {
            // The other side does not speak this protocol.
            return finish(nil)
        }
        let remote = connection.currentPath?.remoteEndpoint
        handler(.opened(session.facts(remote), remote: remote))
        resumeReading()
    }

    /// Requests the next block of input if the link is ready and no request is pending.
    func resumeReading() {
        let mayRead = state.withLock { state in
            guard state.isReady, !state.isReading, !state.isClosed else { return false }
            state.isReading = true
            return true
        }
        guard mayRead else { return }
        connection.receive(minimumIncompleteLength: 1, maximumLength: Self.blockSize) { [self] data, _, isEnd, error in
            let isOpen = state.withLock { state in
                state.isReading = false
                return !state.isClosed
            }
            guard isOpen else { return }
            if let data, !data.isEmpty { handler(.received([UInt8](data))) }
            if let error { return finish(error) }
            if isEnd { handler(.ended) }
        }
    }

    /// Queues bytes.
    func write(_ bytes: [UInt8]) {
        let count = state.withLock { state in
            state.unreportedByteCount += bytes.count
            guard state.unreportedByteCount >= Self.reportSize else { return 0 }
            defer { state.unreportedByteCount = 0 }
            return state.unreportedByteCount
        }
        guard count > 0 else { return connection.send(content: Data(bytes), completion: .idempotent) }
        connection.send(
            content: Data(bytes),
            completion: .contentProcessed { [self] error in
                guard error == nil, !state.withLock({ $0.isClosed }) else { return }
                handler(.sent(count))
            })
    }

    /// Ends the link. If `abruptly` is `false`, sends the written bytes first. Other events may still come before the
    /// event `closed`, but no event follows it.
    func close(abruptly: Bool) {
        if abruptly { return connection.forceCancel() }
        connection.send(
            content: nil, contentContext: .finalMessage, isComplete: true,
            completion: .contentProcessed { [connection] _ in connection.cancel() })
    }

    private func finish(_ error: NWError?) {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard isFirst else { return }
        connection.stateUpdateHandler = nil
        connection.forceCancel()
        handler(.closed(isLocalFailure: error?.isOfLocalNetwork ?? false))
    }
}

extension NWError {
    /// Whether the failure is in the local network and not on the other side. If so, a longer wait for a new link is
    /// worthwhile.
    fileprivate var isOfLocalNetwork: Bool {
        guard case .posix(let code) = self else { return false }
        return switch code {
        case .ETIMEDOUT, .ENETDOWN, .ENETUNREACH, .EHOSTDOWN, .EHOSTUNREACH, .ECONNABORTED, .ENETRESET, .EADDRNOTAVAIL:
            true
        default: false
        }
    }
}
