internal import CausewayBonjourProtocols
internal import CausewaySystem
internal import CausewayTypes

/// A multicast DNS socket for one address family on one interface. Other programs may share the port (RFC 6762 §15.1).
///
/// Confined to its loop.
final class MulticastSocket: ReadinessHandler {
    /// Receives datagrams on the loop.
    protocol Receiver: AnyObject, Sendable {
        /// Processes a datagram. `bytes` is valid only during the call. The implementation must not close the socket.
        func received(_ bytes: UnsafeRawBufferPointer, _ origin: MulticastOrigin)
        /// Called after a batch of datagrams. A batch ends when no datagram is pending any more. It also ends when the
        /// socket pauses reading, for example so that the loop can handle other events.
        func receivedBatch()
    }

    /// Opens a socket for an address family on the interface with this index. The socket passes its datagrams to the
    /// given ``Receiver``.
    typealias Opener =
        @Sendable (SocketAddress.Family, Int, any EventLoop, any Receiver) throws(SystemError) ->
        MulticastSocket

    /// Returns the link's multicast group: 224.0.0.251 or ff02::fb (RFC 6762 §3).
    static func group(_ family: SocketAddress.Family, on interface: Int) -> SocketAddress {
        family == .ipv4
            ? .ipv4(bits: 0xE000_00FB, port: MulticastDNS.port)
            : .ipv6(high: 0xFF02_0000_0000_0000, low: 0xFB, port: MulticastDNS.port, scope: UInt32(interface))
    }

    /// Limits for one turn on the loop. A system call receives at most `batch` datagrams. After `budget` system calls,
    /// the loop handles other events.
    private static let batch = 16
    private static let budget = 16

    let family: SocketAddress.Family
    let interface: Int
    private let loop: any EventLoop
    private let receiver: any Receiver
    private let descriptor: CInt
    /// Whether another program uses port 5353 exclusively.
    ///
    /// This socket then has another port. It can only send queries, and gets unicast responses (RFC 6762 §5.1).
    let isOneShot: Bool
    private let reader: LoopBound<PacketReader>
    private let registration: LoopBound<Registration?>
    private let failures: LoopBound<ReadFailures>
    /// The timer that ends a pause in reading after errors, if there is one.
    private let retry: LoopBound<TimerID?>
    /// Whether the loop will continue to read after it has handled other events.
    private let isReading: LoopBound<Bool>

    init(
        _ family: SocketAddress.Family, on interface: Int, _ loop: any EventLoop, _ receiver: any Receiver
    ) throws(SystemError) {
        self.family = family
        self.interface = interface
        self.loop = loop
        self.receiver = receiver
        reader = LoopBound(PacketReader(blockCount: Self.batch), to: loop)
        registration = LoopBound(nil, to: loop)
        failures = LoopBound(ReadFailures(), to: loop)
        retry = LoopBound(nil, to: loop)
        isReading = LoopBound(false, to: loop)
        let socket = try Self.open(family, on: interface)
        isOneShot = try !Self.joinGroup(family, on: interface, socket.rawValue)
        descriptor = socket.release()
    }

    @Sendable
    static func opened(
        _ family: SocketAddress.Family, on interface: Int, _ loop: any EventLoop, _ receiver: any Receiver
    ) throws(SystemError) -> MulticastSocket {
        let socket = try MulticastSocket(family, on: interface, loop, receiver)
        try socket.start()
        return socket
    }

    /// Whether another process already uses the port. The kernel may then deliver unicast packets to that process (RFC
    /// 6762 §15.1). If no descriptor is free, this is unknown, and the result is `true`.
    static var isPortTaken: Bool {
        guard let socket = try? Socket.open(.ipv4, .datagram) else { return true }
        return (try? Socket.bind(socket.rawValue, to: .ipv4(bits: 0, port: MulticastDNS.port))) == nil
    }

    /// The receive buffer's size in bytes, for bursts of responses from many hosts, or from one host with thousands of
    /// services.
    private static let room = 4 << 20

    private static func open(_ family: SocketAddress.Family, on interface: Int) throws(SystemError) -> Descriptor {
        let socket = try Socket.open(family, .datagram)
        let fd = socket.rawValue
        PacketSockets.setReceiveRoom(fd, byteCount: room)
        if family == .ipv4 {
            try Socket.set(.receiveIPv4PacketInfo, to: 1, on: fd)
            try Socket.set(.ipv4MulticastTimeToLive, to: 255, on: fd)
            try Socket.set(.ipv4TimeToLive, to: 255, on: fd)
            // Receive only from the groups that this socket has joined. Otherwise, it would also receive from groups
            // that only other sockets have joined.
            try Socket.set(.ipv4MulticastAll, to: 0, on: fd)
        } else {
            try Socket.set(.ipv6Only, to: 1, on: fd)
            try Socket.set(.receiveIPv6PacketInfo, to: 1, on: fd)
            try Socket.set(.ipv6MulticastHopLimit, to: 255, on: fd)
            try Socket.set(.ipv6HopLimit, to: 255, on: fd)
            try Socket.set(.ipv6MulticastAll, to: 0, on: fd)
        }
        return socket
    }

    /// Binds the port and joins the group. Returns `false` if another program uses the port exclusively.
    private static func joinGroup(
        _ family: SocketAddress.Family, on interface: Int, _ fd: CInt
    ) throws(SystemError) -> Bool {
        func anyAddress(_ port: UInt16) -> SocketAddress {
            family == .ipv4 ? .ipv4(bits: 0, port: port) : .ipv6(high: 0, low: 0, port: port, scope: 0)
        }
        do throws(SystemError) {
            try Socket.bindShared(fd, to: anyAddress(MulticastDNS.port))
        } catch {
            guard error.errno == Errno.addressInUse else { throw error }
            try Socket.bind(fd, to: anyAddress(0))
            return false
        }
        try Socket.join(group(family, on: interface), on: UInt32(interface), from: nil, fd)
        return true
    }

    /// Starts to receive. If this fails, closes the socket.
    private func start() throws(SystemError) {
        do throws(SystemError) {
            registration.value = try loop.register(descriptor, for: .readable, self)
        } catch {
            Descriptor(adopting: descriptor).close()
            throw error
        }
    }

    func close() {
        if let registration = registration.value.take() {
            loop.close(registration, Descriptor(adopting: descriptor))
        }
    }

    /// Sends one datagram. Ignores errors, because packets can be lost anyway and important messages are repeated.
    func send(_ bytes: [UInt8], to peer: SocketAddress) {
        guard registration.value != nil else { return }
        Self.send(bytes, to: peer, over: interface, descriptor)
    }

    /// Sends one datagram to all sockets on this host that have joined the group.
    ///
    /// The datagram does not leave this host, because its hop limit is 0.
    func sendToHost(_ bytes: [UInt8]) {
        let option: SocketOption = family == .ipv4 ? .ipv4MulticastTimeToLive : .ipv6MulticastHopLimit
        guard registration.value != nil, (try? Socket.set(option, to: 0, on: descriptor)) != nil else { return }
        Self.send(bytes, to: Self.group(family, on: interface), over: interface, descriptor)
        try? Socket.set(option, to: 255, on: descriptor)
    }

    static func send(_ bytes: [UInt8], to peer: SocketAddress, over interface: Int, _ descriptor: CInt) {
        bytes.withUnsafeBytes { bytes in
            var piece = iovec()
            piece.iov_base = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
            piece.iov_len = bytes.count
            withUnsafePointer(to: &piece) { pointer in
                let packet = OutgoingPacket(
                    pieces: UnsafeBufferPointer(start: pointer, count: 1), segmentByteCount: 0, trafficClass: nil)
                withUnsafePointer(to: packet) { packet in
                    _ = Socket.send(
                        descriptor, UnsafeBufferPointer(start: packet, count: 1), to: peer, from: nil,
                        over: UInt32(interface))
                }
            }
        }
    }

    func ready(for readiness: Readiness) {
        // If a read is still in progress, the loop will soon call this method again. Without this check, each new
        // datagram could queue one more such call.
        guard !isReading.value else { return }
        if let timer = retry.value.take() { loop.cancel(timer) }
        var isEmpty = false
        var pause: Duration?
        for _ in 0..<Self.budget where registration.value != nil && !isEmpty && pause == nil {
            guard let count = try? reader.value.receive(descriptor, wantsPeer: true) else {
                // The error is an ICMP error for a datagram sent earlier, not for a received one. So continue.
                pause = failures.value.readFailed()
                continue
            }
            failures.value.readSucceeded()
            for index in 0..<count { hand(index) }
            isEmpty = count == 0
        }
        receiver.receivedBatch()
        guard registration.value != nil else { return }
        if isEmpty { return awaitMore() }
        if let pause {
            retry.value = loop.schedule(after: pause) { self.ready(for: .readable) }
        } else {
            readLater()
        }
    }

    private func readLater() {
        isReading.value = true
        loop.execute {
            self.isReading.value = false
            self.ready(for: .readable)
        }
    }

    private func hand(_ index: Int) {
        let packet = reader.value[index]
        guard let peer = packet.peer, !packet.isTruncated else { return }
        let origin = MulticastOrigin(
            peer: peer, interface: Int(packet.info.interfaceIndex),
            isMulticast: packet.info.destination?.isMulticast ?? false, link: interface)
        reader.value.withBytes(of: index) { receiver.received($0, origin) }
    }

    private func awaitMore() {
        if let registration = registration.value { loop.await(.readable, of: registration) }
    }
}
