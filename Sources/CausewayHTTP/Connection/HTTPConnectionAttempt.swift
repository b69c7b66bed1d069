internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// An attempt to establish one connection. The transport decides the HTTP version when it is ready.
final class HTTPConnectionAttempt: Sendable {
    /// The way in which the HTTP version is chosen.
    enum Version: Sendable {
        /// By the protocol that TLS negotiated (RFC 7301): HTTP/2 only if it is `h2`.
        case negotiated
        /// HTTP/2 without negotiation (RFC 9113 §3.3).
        case priorKnowledge
    }

    private enum Phase {
        case connecting
        case established(any HTTPConnection)
        case closed
    }

    private let id: PoolConnectionID
    let key: PoolKey
    /// The place of the server; `nil` for the origin.
    let alternative: AlternativeService?
    private let transport: any HTTPTransport
    private let version: Version
    private let options: HTTPConnectionOptions
    private let clock: any HTTPClock
    private let observer: any HTTPConnectionObserver
    private let phase = LockedValue(Phase.connecting)

    init(
        _ id: PoolConnectionID, to key: PoolKey, at alternative: AlternativeService? = nil,
        _ transport: any HTTPTransport, _ version: Version,
        _ options: HTTPConnectionOptions, clock: any HTTPClock, observer: any HTTPConnectionObserver
    ) {
        self.id = id
        self.key = key
        self.alternative = alternative
        self.transport = transport
        self.version = version
        self.options = options
        self.clock = clock
        self.observer = observer
    }

    /// Starts the transport. Its later failures go to the connection.
    func start() {
        transport.start { [self] event in
            switch event {
            case .ready(let facts): becameReady(facts)
            // The origin may have a path.
            case .waiting(let error): alternative == nil ? observer.waits(id, error) : failed(error)
            case .failed(let error): failed(error)
            }
        }
    }

    /// Cancels the attempt, or closes the connection.
    func close() {
        let last = phase.withLock { phase in
            defer { phase = .closed }
            return phase
        }
        switch last {
        case .connecting: transport.close(isInterrupted: true)
        case .established(let connection): connection.close()
        case .closed: break
        }
    }

    /// Ends an attempt that takes too long. Has no effect after its end.
    func giveUp() {
        let isConnecting = phase.withLock { phase in if case .connecting = phase { true } else { false } }
        if isConnecting { failed(.posix(.ETIMEDOUT)) }
    }

    private func becameReady(_ facts: HTTPTransportFacts) {
        // An alternative must speak the protocol that the origin promised (RFC 7838 §2.1).
        if let alternative, facts.applicationProtocol != alternative.protocolName {
            return failed(.posix(.EPROTONOSUPPORT))
        }
        let isHTTP2 =
            switch version {
            case .negotiated: facts.applicationProtocol == "h2"
            case .priorKnowledge: true
            }
        let details = facts.makeDetails(id, isHTTP2 ? "h2" : "http/1.1")
        let connection: any HTTPConnection =
            isHTTP2
            ? HTTP2ConnectionDriver(id, transport, options, details, clock: clock, observer: observer)
            : HTTP1ConnectionDriver(id, transport, options.http1, details, clock: clock, observer: observer)
        let isFirst = phase.withLock { phase in
            guard case .connecting = phase else { return false }
            phase = .established(connection)
            return true
        }
        guard isFirst else { return }
        // The first requests follow at once, so that they leave together with the preface of HTTP/2.
        let limit = isHTTP2 ? HTTP2Connection.assumedConcurrentStreams : nil
        observer.connected(id, connection, PoolConnectionFacts(streamLimit: limit))
        connection.open()
    }

    private func failed(_ error: NWError) {
        let last = phase.withLock { phase in
            guard case .connecting = phase else { return phase }
            defer { phase = .closed }
            return phase
        }
        switch last {
        case .connecting:
            transport.close(isInterrupted: true)
            observer.connectFailed(id, error)
        case .established(let connection): connection.transportFailed(error)
        case .closed: break
        }
    }
}
