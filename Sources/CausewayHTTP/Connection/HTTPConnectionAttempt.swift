internal import Causeway
internal import CausewayHTTPProtocols
internal import CausewaySystem
internal import CausewayTypes

/// An attempt to establish one connection. The transport decides the HTTP version when it is ready.
final class HTTPConnectionAttempt: Sendable {
    /// How the HTTP version is chosen.
    enum Version: Sendable {
        /// ALPN (RFC 7301) chooses the version: HTTP/2 only if TLS negotiated `h2` (RFC 9113 §3.2).
        case negotiated
        /// HTTP/2 without negotiation (RFC 9113 §3.3).
        case priorKnowledge
    }

    private enum Phase {
        case connecting
        /// The connection already accepts requests, although its transport is still being established.
        case early(any HTTPConnection, EarlyTransport)
        case established(any HTTPConnection)
        case closed
    }

    private let id: PoolConnectionID
    let key: PoolKey
    /// The alternative service to connect to; `nil` for the origin.
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

    /// Starts the transport. If the transport fails later, the connection receives the failure.
    func start() {
        let early = phase.withLock { phase -> EarlyTransport? in
            if case .early(_, let early) = phase { early } else { nil }
        }
        (early ?? transport).start { [self] event in
            switch event {
            case .ready(let facts): becameReady(facts)
            // An attempt to reach an alternative service fails at once if there is no network path. It does not wait,
            // because a path to the origin itself may exist.
            case .waiting(let error): mayWait ? observer.waits(id, error) : failed(error)
            case .failed(let error): failed(error)
            }
        }
    }

    /// Whether the attempt may wait for a network path. An attempt to an alternative service may not wait. An attempt
    /// with early data may not wait either: its requests have left the pool, and only a failed attempt returns them to
    /// the pool.
    private var mayWait: Bool {
        let isConnecting = phase.withLock { phase in if case .connecting = phase { true } else { false } }
        return isConnecting && alternative == nil
    }

    /// Cancels the attempt, or closes the connection.
    func close() {
        let last = phase.withLock { phase in
            defer { phase = .closed }
            return phase
        }
        switch last {
        case .connecting: transport.close(isInterrupted: true)
        case .established(let connection), .early(let connection, _): connection.close()
        case .closed: break
        }
    }

    /// Ends an attempt that takes too long. Has no effect after the attempt has ended.
    func giveUp() {
        let isConnecting = phase.withLock { phase in if case .connecting = phase { true } else { false } }
        if isConnecting { failed(.posix(.ETIMEDOUT)) }
    }

    /// Lets the connection take its first requests before ``start()``, if TLS has a session ticket for the server.
    /// Returns whether this was possible. Only bytes sent before ``start()`` can be TLS early data.
    func beginEarly() -> Bool {
        guard options.usesEarlyData, alternative == nil, case .negotiated = version, let name = transport.earlyProtocol
        else { return false }
        let isHTTP2 = name == "h2"
        let early = EarlyTransport(transport, id, protocolName: isHTTP2 ? "h2" : "http/1.1")
        let connection = makeConnection(
            isHTTP2: isHTTP2, early, .early(early), observer: EarlyObserver(observer, early))
        phase.withLock { phase in if case .connecting = phase { phase = .early(connection, early) } }
        guard observer.connectedEarly(id, connection, Self.facts(isHTTP2: isHTTP2)) else {
            phase.withLock { phase in if case .early = phase { phase = .connecting } }
            return false
        }
        connection.open()
        return true
    }

    private func makeConnection(
        isHTTP2: Bool, _ transport: any HTTPTransport, _ source: HTTPDetailsSource,
        _ forwardProxy: ForwardProxy? = nil, observer: any HTTPConnectionObserver
    ) -> any HTTPConnection {
        isHTTP2
            ? HTTP2ConnectionDriver(id, transport, options, source, clock: clock, observer: observer)
            : HTTP1ConnectionDriver(
                id, transport, options.http1, source, forwardProxy.map { RequestForwarder($0) }, clock: clock,
                observer: observer)
    }

    private static func facts(isHTTP2: Bool) -> PoolConnectionFacts {
        PoolConnectionFacts(streamLimit: isHTTP2 ? HTTP2Connection.assumedConcurrentStreams : nil)
    }

    private func becameReady(_ facts: HTTPTransportFacts) {
        // The connection to this alternative service must use the protocol that the origin advertised for the service
        // (RFC 7838 §2.1).
        if let alternative, facts.applicationProtocol != alternative.protocolName {
            return failed(.posix(.EPROTONOSUPPORT))
        }
        let isHTTP2 =
            switch version {
            case .negotiated: facts.applicationProtocol == "h2"
            case .priorKnowledge: true
            }
        let details = facts.makeDetails(id, isHTTP2 ? "h2" : "http/1.1")
        if case .early(let connection, let early) = phase.withLock({ $0 }) {
            return establish(connection, early, details)
        }
        let connection = makeConnection(
            isHTTP2: isHTTP2, transport, .known(details), facts.forwardProxy, observer: observer)
        let isFirst = phase.withLock { phase in
            guard case .connecting = phase else { return false }
            phase = .established(connection)
            return true
        }
        guard isFirst else { return }
        // Report the connection before `open()` sends the HTTP/2 preface. The first requests are then sent together
        // with the preface.
        observer.connected(id, connection, Self.facts(isHTTP2: isHTTP2))
        connection.open()
    }

    /// Continues with a connection on which early data was already sent.
    ///
    /// The early data was written for HTTP/1.1 or for HTTP/2. If the server has chosen the other version, it has not
    /// accepted the early data, and the attempt fails.
    private func establish(
        _ connection: any HTTPConnection, _ early: EarlyTransport, _ details: HTTPConnectionDetails
    ) {
        guard details.protocolName == early.details.protocolName else { return failed(.posix(.EPROTO)) }
        let isFirst = phase.withLock { phase in
            guard case .early = phase else { return false }
            phase = .established(connection)
            return true
        }
        if isFirst { early.establish(details) }
    }

    private func failed(_ error: NWError) {
        let last = phase.withLock { phase in
            if case .established = phase { return phase }
            defer { phase = .closed }
            return phase
        }
        switch last {
        case .connecting:
            transport.close(isInterrupted: true)
            observer.connectFailed(id, error)
        case .early(let connection, let early):
            early.fail(error)
            connection.transportFailed(error)
        case .established(let connection): connection.transportFailed(error)
        case .closed: break
        }
    }
}
