internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire

/// A datagram socket to one DNS server. Confined to its loop.
final class DNSDatagramTransport: DNSTransport, ReadinessHandler {
    private struct State {
        var socket = DNSTransportSocket()
        var questionCount = 0
        /// Whether a call that continues reading is scheduled on the event loop.
        var isReading = false
        /// The receive buffer. Each answer is copied into new memory, because most answers are much shorter than the
        /// buffer.
        var buffer = [UInt8](repeating: 0, count: byteLimit)
    }

    /// The maximum length of a received datagram in bytes. It is larger than the limit that queries announce to the
    /// server, so a longer datagram is not a valid answer.
    private static let byteLimit = 4_096
    /// The maximum number of datagrams read in a row. After that many, the loop's other work runs first.
    static let budget = 64

    let server: DNSServer
    private let loop: any EventLoop
    private let report: @Sendable (DNSTransports.Event) -> Void
    private let broke: @Sendable (DNSDatagramTransport, CInt) -> Void
    private let state: LoopBound<State>

    init(
        _ server: DNSServer, _ scope: ResolutionScope, _ loop: any EventLoop,
        _ report: @escaping @Sendable (DNSTransports.Event) -> Void,
        _ broke: @escaping @Sendable (DNSDatagramTransport, CInt) -> Void
    ) throws(SystemError) {
        self.server = server
        self.loop = loop
        self.report = report
        self.broke = broke
        state = LoopBound(State(), to: loop)
        let address = SocketAddress(server.address, port: server.port)
        let socket = try scope.openSocket(to: address, .udp)
        _ = try Socket.connect(socket.rawValue, to: address)
        let registration = try loop.register(socket.rawValue, for: .readable, self)
        state.value.socket.open(socket, registration)
    }

    var isIdle: Bool { state.value.socket.isIdle }
    var questionCount: Int { state.value.questionCount }

    func send(_ bytes: [UInt8], _ id: UInt16, _ exchange: DNSClient.ExchangeID) throws(SystemError) {
        guard let descriptor = state.value.socket.descriptor else {
            throw SystemError(errno: Errno.notConnected, call: "send")
        }
        state.value.questionCount += 1
        state.value.socket.await(id, for: exchange)
        switch bytes.withUnsafeBytes({ Socket.send(descriptor, $0) }) {
        // If the send buffer is full, the query is lost, as it might be on the network. The client repeats it later.
        case .moved, .wouldBlock: break
        case .failed(let code): throw SystemError(errno: code, call: "send")
        }
    }

    func forget(_ id: UInt16) { state.value.socket.forget(id) }

    func close() { state.value.socket.close(on: loop) }

    func ready(for readiness: Readiness) {
        // If a call that continues reading is already scheduled, return. Otherwise, each report of a new datagram would
        // schedule another call.
        guard !state.value.isReading else { return }
        for _ in 0..<Self.budget {
            guard let descriptor = state.value.socket.descriptor else { return }
            switch state.value.buffer.withUnsafeMutableBytes({ Socket.receive(descriptor, into: $0) }) {
            case .moved(let count): deliver(Array(state.value.buffer[..<count]))
            case .wouldBlock: return awaitMore()
            // Receiving can fail. For example, the server's host may have sent an ICMP error, because no process
            // listens on its DNS port.
            case .failed(let code): return broke(self, code)
            }
        }
        state.value.isReading = true
        loop.execute {
            self.state.value.isReading = false
            self.ready(for: .readable)
        }
    }

    private func deliver(_ bytes: [UInt8]) {
        if let exchange = state.value.socket.exchange(answeredBy: bytes) { report(.received(bytes, exchange)) }
    }

    private func awaitMore() {
        if let registration = state.value.socket.registration { loop.await(.readable, of: registration) }
    }
}
