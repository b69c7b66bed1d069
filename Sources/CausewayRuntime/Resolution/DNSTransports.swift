internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire

/// The sockets of one ``DNSClient``. A socket is open only while an answer is pending.
///
/// Confined to its loop.
///
/// A datagram socket is connected to one server, so the kernel drops datagrams from other hosts. The kernel selects a
/// new random port for each socket. An attacker who wants to forge an answer must guess this port (RFC 5452 §9.2).
///
/// Simultaneous queries to a server share a datagram socket. After ``questionsPerPort`` queries over the first socket,
/// a second socket is opened. A server has at most two datagram sockets and one stream.
final class DNSTransports: Sendable {
    typealias ExchangeID = DNSClient.ExchangeID

    enum Event {
        case received([UInt8], ExchangeID)
        case failed(ExchangeID, DNSFailure)
    }

    /// The maximum number of queries from one port. The limit does not apply to a server's second socket.
    private static let questionsPerPort = 256

    private let scope: ResolutionScope
    private let loop: any EventLoop
    private let report: @Sendable (Event) -> Void
    private let state: LoopBound<State>

    private struct State {
        var datagrams: [DNSServer: [DNSDatagramTransport]] = [:]
        var streams: [DNSServer: DNSStreamTransport] = [:]
        /// The transport and the message ID of each pending query to a server.
        var places: [ExchangeID: (transport: any DNSTransport, id: UInt16)] = [:]
    }

    init(_ scope: ResolutionScope, on loop: any EventLoop, _ report: @escaping @Sendable (Event) -> Void) {
        self.scope = scope
        self.loop = loop
        self.report = report
        state = LoopBound(State(), to: loop)
    }

    var isIdle: Bool { state.value.places.isEmpty }

    /// The number of open sockets, for tests.
    var socketCount: Int {
        state.value.datagrams.values.reduce(0) { $0 + $1.count } + state.value.streams.count
    }

    func send(_ exchange: ExchangeID, _ bytes: [UInt8], id: UInt16, to server: DNSServer, over carrier: DNSCarrier) {
        let transport: any DNSTransport
        do throws(SystemError) {
            transport = try self.transport(to: server, over: carrier)
        } catch {
            return fail(exchange, error.errno)
        }
        state.value.places[exchange] = (transport, id)
        do throws(SystemError) {
            try transport.send(bytes, id, exchange)
        } catch {
            // The error may come from an earlier query on this socket. The kernel reports an error only once. So all
            // queries on the socket fail.
            broke(transport, error.errno)
        }
    }

    func forget(_ exchange: ExchangeID) {
        guard let (transport, id) = state.value.places.removeValue(forKey: exchange) else { return }
        transport.forget(id)
        if transport.isIdle { retire(transport) }
    }

    private func fail(_ exchange: ExchangeID, _ code: CInt) {
        let unreachable = [
            Errno.networkUnreachable, Errno.hostUnreachable, Errno.networkDown, Errno.addressNotAvailable,
            Errno.noDevice,
        ]
        let failure: DNSFailure =
            unreachable.contains(code)
            ? .unreachable : code == Errno.connectionRefused ? .connectionRefused : .timedOut
        // Report the failure only after the DNS client has finished its current action.
        loop.execute { [report] in report(.failed(exchange, failure)) }
    }

    // MARK: Sockets

    private func transport(to server: DNSServer, over carrier: DNSCarrier) throws(SystemError) -> any DNSTransport {
        switch carrier {
        case .tcp:
            if let known = state.value.streams[server], !known.isOver { return known }
            let transport = try DNSStreamTransport(server, scope, loop, report) { [weak self] transport, code in
                self?.broke(transport, code)
            }
            state.value.streams[server] = transport
            return transport
        case .udp:
            let known = state.value.datagrams[server] ?? []
            if let fresh = known.last(where: { $0.questionCount < Self.questionsPerPort }) { return fresh }
            if known.count >= 2, let last = known.last { return last }
            let transport = try DNSDatagramTransport(server, scope, loop, report) { [weak self] transport, code in
                self?.broke(transport, code)
            }
            state.value.datagrams[server, default: []].append(transport)
            return transport
        }
    }

    /// Fails all queries that wait for an answer on a transport, and closes the transport.
    private func broke(_ transport: any DNSTransport, _ code: CInt) {
        for (exchange, place) in state.value.places where place.transport === transport { fail(exchange, code) }
        retire(transport)
    }

    private func retire(_ transport: any DNSTransport) {
        transport.close()
        state.value.datagrams[transport.server]?.removeAll { $0 === transport }
        if state.value.datagrams[transport.server]?.isEmpty == true { state.value.datagrams[transport.server] = nil }
        if state.value.streams[transport.server] === transport { state.value.streams[transport.server] = nil }
    }
}

/// A socket to one DNS server, over UDP or TCP.
protocol DNSTransport: AnyObject, Sendable {
    var server: DNSServer { get }
    /// Whether no answer is pending.
    var isIdle: Bool { get }
    func send(_ bytes: [UInt8], _ id: UInt16, _ exchange: DNSClient.ExchangeID) throws(SystemError)
    func forget(_ id: UInt16)
    func close()
}

extension ResolutionScope {
    /// Opens a socket to a DNS server. The socket uses only the interfaces that the scope permits.
    func openSocket(to server: SocketAddress, _ transport: SocketSettings.Transport) throws(SystemError) -> Descriptor {
        var settings = settings(toward: server)
        settings.transport = transport
        let interface = try settings.chooseInterface(toward: server)
        let socket = try settings.openSocket(server.family)
        if let interface { try Socket.bindToInterface(named: interface.name, socket.rawValue) }
        return socket
    }
}
