internal import CausewayBonjourProtocols
internal import CausewaySystem
internal import CausewayWire

/// One link's sleep proxy client: the state machine, its queries, and a socket while a registration is in progress.
///
/// Confined to its loop.
struct SleepProxyLink {
    var client = SleepProxyClient()
    var questions: [QuestionID: DNSQuestion] = [:]
    private let loop: any EventLoop
    private var socket: SleepProxySocket?

    init(on loop: any EventLoop) { self.loop = loop }

    /// Sends a message. Ignores errors, because packets can be lost anyway.
    mutating func send(
        _ bytes: [UInt8], to peer: SocketAddress, over interface: Int,
        _ receive: @escaping @Sendable ([UInt8], SocketAddress) -> Void
    ) {
        if socket?.family != peer.family { hangUp() }
        if socket == nil { socket = try? SleepProxySocket(peer.family, over: interface, loop, receive) }
        socket?.send(bytes, to: peer)
    }

    /// Closes the socket, if one is open.
    mutating func hangUp() { socket.take()?.close() }
}

/// A socket for one registration with a sleep proxy. The socket has its own port, because the kernel may deliver
/// unicast packets for port 5353 to another program (RFC 6762 §15.1).
///
/// Confined to its loop.
final class SleepProxySocket: ReadinessHandler {
    /// The maximum number of datagrams to read before the loop handles other events.
    static let batch = 16

    let family: SocketAddress.Family
    private let interface: Int
    private let loop: any EventLoop
    private let receive: @Sendable ([UInt8], SocketAddress) -> Void
    private let descriptor: CInt
    private let reader: LoopBound<PacketReader>
    private let registration: LoopBound<Registration?>
    private let failures: LoopBound<ReadFailures>
    /// The timer that ends a pause in reading. The loop pauses reading after errors. `nil` if no pause is in progress.
    private let retry: LoopBound<TimerID?>
    /// Whether the loop will continue to read this socket after it has handled other events.
    private let isReading: LoopBound<Bool>

    init(
        _ family: SocketAddress.Family, over interface: Int, _ loop: any EventLoop,
        _ receive: @escaping @Sendable ([UInt8], SocketAddress) -> Void
    ) throws(SystemError) {
        self.family = family
        self.interface = interface
        self.loop = loop
        self.receive = receive
        reader = LoopBound(PacketReader(blockCount: Self.batch), to: loop)
        registration = LoopBound(nil, to: loop)
        failures = LoopBound(ReadFailures(), to: loop)
        retry = LoopBound(nil, to: loop)
        isReading = LoopBound(false, to: loop)
        let socket = try Socket.open(family, .datagram)
        if family == .ipv6 { try Socket.set(.ipv6Only, to: 1, on: socket.rawValue) }
        let place: SocketAddress = family == .ipv4 ? .ipv4(bits: 0, port: 0) : .ipv6(high: 0, low: 0, port: 0, scope: 0)
        try Socket.bind(socket.rawValue, to: place)
        descriptor = socket.release()
        do throws(SystemError) {
            registration.value = try loop.register(descriptor, for: .readable, self)
        } catch {
            Descriptor(adopting: descriptor).close()
            throw error
        }
    }

    func send(_ bytes: [UInt8], to peer: SocketAddress) {
        guard registration.value != nil else { return }
        MulticastSocket.send(bytes, to: peer, over: interface, descriptor)
    }

    func close() {
        if let registration = registration.value.take() {
            loop.close(registration, Descriptor(adopting: descriptor))
        }
    }

    func ready(for readiness: Readiness) {
        // Return if reading is in progress, because the loop will soon call this method again to continue it. Without
        // this check, each new datagram could queue one more call.
        guard registration.value != nil, !isReading.value else { return }
        if let timer = retry.value.take() { loop.cancel(timer) }
        guard let count = try? reader.value.receive(descriptor, wantsPeer: true) else { return readAgain() }
        failures.value.readSucceeded()
        var arrived: [([UInt8], SocketAddress)] = []
        for index in 0..<count {
            let packet = reader.value[index]
            guard let peer = packet.peer, !packet.isTruncated else { continue }
            arrived.append((reader.value.withBytes(of: index) { Array($0) }, peer))
        }
        // The handler `receive` may close the socket. After the calls, check whether the socket is still registered.
        for (bytes, peer) in arrived { receive(bytes, peer) }
        guard let registration = registration.value else { return }
        if count == 0 { loop.await(.readable, of: registration) } else { readLater() }
    }

    private func readLater() {
        isReading.value = true
        loop.execute {
            self.isReading.value = false
            self.ready(for: .readable)
        }
    }

    /// Reads again after an error. The error may come from an ICMP message about an earlier datagram, and replies may
    /// be queued behind it.
    private func readAgain() {
        guard let pause = failures.value.readFailed() else { return readLater() }
        retry.value = loop.schedule(after: pause) { self.ready(for: .readable) }
    }
}
