internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire

/// A TCP connection to one DNS server (RFC 7766). Confined to its loop.
final class DNSStreamTransport: DNSTransport, ReadinessHandler {
    private struct State {
        var socket = DNSTransportSocket()
        var isConnected = false
        var isOver = false
        /// Whether the event loop will call this object again, so that it continues to read.
        var isReading = false
        var outgoing: [UInt8] = []
        var incoming: [UInt8] = []
    }

    /// The maximum number of reads in a row. After that many, the loop's other work runs first.
    private static let budget = 16

    let server: DNSServer
    private let loop: any EventLoop
    private let report: @Sendable (DNSTransports.Event) -> Void
    private let broke: @Sendable (DNSStreamTransport, CInt) -> Void
    private let state: LoopBound<State>

    init(
        _ server: DNSServer, _ scope: ResolutionScope, _ loop: any EventLoop,
        _ report: @escaping @Sendable (DNSTransports.Event) -> Void,
        _ broke: @escaping @Sendable (DNSStreamTransport, CInt) -> Void
    ) throws(SystemError) {
        self.server = server
        self.loop = loop
        self.report = report
        self.broke = broke
        state = LoopBound(State(), to: loop)
        let address = SocketAddress(server.address, port: server.port)
        let socket = try scope.openSocket(to: address, .tcp)
        try? Socket.set(.noDelay, to: 1, on: socket.rawValue)
        state.value.isConnected = try Socket.connect(socket.rawValue, to: address)
        let registration = try loop.register(socket.rawValue, for: [.readable, .writable, .peerClosed], self)
        state.value.socket.open(socket, registration)
    }

    var isIdle: Bool { state.value.socket.isIdle }
    var isOver: Bool { state.value.isOver }

    func send(_ bytes: [UInt8], _ id: UInt16, _ exchange: DNSClient.ExchangeID) throws(SystemError) {
        guard !state.value.isOver else { throw SystemError(errno: Errno.notConnected, call: "send") }
        state.value.socket.await(id, for: exchange)
        state.value.outgoing += [UInt8(bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
        if state.value.isConnected { write() }
    }

    func forget(_ id: UInt16) { state.value.socket.forget(id) }

    func close() {
        state.value.isOver = true
        state.value.socket.close(on: loop)
    }

    func ready(for readiness: Readiness) {
        guard let descriptor = state.value.socket.descriptor else { return }
        if !state.value.isConnected {
            guard readiness.touches([.writable, .failed, .hangUp]) else { return }
            let code = Socket.takeError(descriptor)
            guard code == 0 else { return end(code) }
            state.value.isConnected = true
        }
        write()
        if !state.value.isReading { read() }
    }

    private func write() {
        while let descriptor = state.value.socket.descriptor, !state.value.outgoing.isEmpty {
            switch state.value.outgoing.withUnsafeBytes({ Socket.send(descriptor, $0) }) {
            case .moved(let count): state.value.outgoing.removeFirst(count)
            case .wouldBlock:
                if let registration = state.value.socket.registration { loop.await(.writable, of: registration) }
                return
            case .failed(let code):
                // First read the answers that the server sent earlier. Then report the failure.
                read()
                return end(code)
            }
        }
    }

    private func read() {
        for _ in 0..<Self.budget {
            guard let descriptor = state.value.socket.descriptor else { return }
            var result = IOResult.wouldBlock
            let bytes = [UInt8](unsafeUninitializedCapacity: 16_384) { buffer, count in
                result = Socket.receive(descriptor, into: UnsafeMutableRawBufferPointer(buffer))
                if case .moved(let moved) = result { count = moved } else { count = 0 }
            }
            switch result {
            case .moved(0): return end(Errno.connectionReset)
            case .moved:
                state.value.incoming += bytes
                deliver()
            case .wouldBlock:
                if let registration = state.value.socket.registration { loop.await(.readable, of: registration) }
                return
            case .failed(let code): return end(code)
            }
        }
        // A server may send without a pause. So let other work and timers of the loop run before the next read. Queue
        // only one call; otherwise each report of more bytes would add another call.
        guard !state.value.isReading else { return }
        state.value.isReading = true
        loop.execute {
            self.state.value.isReading = false
            self.ready(for: .readable)
        }
    }

    /// Removes complete messages from the buffer. A length precedes each message (RFC 1035 §4.2.2). Reports the
    /// messages that answer a pending query. At most one incomplete message remains.
    private func deliver() {
        var rest = state.value.incoming[...]
        var messages: [ArraySlice<UInt8>] = []
        while let high = rest.first, let low = rest.dropFirst().first {
            let count = Int(high) << 8 | Int(low)
            guard rest.count >= count + 2 else { break }
            messages.append(rest.dropFirst(2).prefix(count))
            rest = rest.dropFirst(count + 2)
        }
        guard !messages.isEmpty else { return }
        // Remove the messages from the buffer before calling `report`. This closure may send a query, and a failed send
        // reads from the connection again.
        state.value.incoming = Array(rest)
        for message in messages.map({ Array($0) }) {
            if let exchange = state.value.socket.exchange(answeredBy: message) { report(.received(message, exchange)) }
        }
    }

    private func end(_ code: CInt) {
        guard !state.value.isOver else { return }
        state.value.isOver = true
        broke(self, code)
    }
}
