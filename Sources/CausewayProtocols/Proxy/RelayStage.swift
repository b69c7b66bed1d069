package import CausewayTypes
internal import CausewayWire

/// Datagrams by way of a SOCKS 5 proxy as a protocol of a stack: each has a header that says where it goes or comes from (RFC 1928 §7).
///
/// ```
/// +----------+----------+-----------------+---------+
/// | reserved | fragment | place           | content |
/// | 2 bytes | 1 byte  | 7 to 262 bytes |         |
/// +----------+----------+-----------------+---------+
/// ```
///
/// What is cut into fragments is dropped, which the RFC allows, and so is what comes from somebody else than the destination.
package struct RelayStage: ProtocolStage {
    /// What one datagram can hold.
    private static let datagramLimit = 65_535

    private let destination: TunnelDestination
    private let header: [UInt8]
    private var phase: StageStatus = .idle
    private var isClosing = false
    /// The pieces of a datagram whose last one has not come.
    private var arriving = ByteChain()
    private var isSkipping = false
    private var inbound = MessageChunkQueue()
    private var isInMessage = false
    private var outbound = MessageChunkQueue()

    package init(to destination: TunnelDestination) {
        self.destination = destination
        header = destination.socksBytes.map { [0, 0, 0] + $0 } ?? []
    }

    /// Bytes before the content of each datagram.
    package static func headerByteCount(to destination: TunnelDestination) -> Int {
        3 + (destination.socksBytes?.count ?? 0)
    }

    package var status: StageStatus { phase == .closed && !outbound.isEmpty ? .ready : phase }

    package mutating func start(at now: Duration) {
        guard phase == .idle else { return }
        guard !header.isEmpty else { return phase = .failed(Failure(.dns, -65_540)) }
        phase = isClosing ? .closed : .ready
    }

    // MARK: Inbound

    package var inboundRoom: Int { isOver ? .max : max(0, Self.bufferLimit - inbound.byteCount) }

    package mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        guard !isOver, !chunk.isBareEnd else { return }
        isSkipping = isSkipping || arriving.count + chunk.bytes.count > Self.datagramLimit
        if !isSkipping { arriving.append(chunk.bytes) }
        guard chunk.endsMessage else { return }
        defer { (arriving, isSkipping) = (ByteChain(), false) }
        guard !isSkipping, let count = Self.headerByteCount(&arriving) else { return }
        guard comesFromDestination(TunnelDestination(socksBytes: arriving.front(count).dropFirst(3))) else { return }
        arriving.drop(atMost: count)
        inbound.append(MessageChunk(arriving))
    }

    /// `nil` for what is no header, or one of a fragment.
    private static func headerByteCount(_ datagram: inout ByteChain) -> Int? {
        let head = Array(datagram.front(5))
        guard head.count == 5, head[2] == 0, let place = TunnelDestination.socksByteCount(head[3...]),
            datagram.count >= 3 + place
        else { return nil }
        return 3 + place
    }

    /// The destination's address is the proxy's to know where it was told a name. Some proxies tell nothing of the source: zeros.
    private func comesFromDestination(_ source: TunnelDestination?) -> Bool {
        guard let source else { return false }
        guard source.port == destination.port || source.port == 0 else { return false }
        switch (destination.host, source.host) {
        case (.address(let wanted), .address(let address)):
            let address = address.plain
            return address.isUnspecified || address == wanted.plain
        case (.name, _), (_, .name): return true
        }
    }

    package mutating func nextInbound(atMost limit: Int) -> MessageChunk? { inbound.pop(atMost: limit) }

    // MARK: Outbound

    package var outboundRoom: Int { isOver ? .max : max(0, Self.bufferLimit - outbound.byteCount) }

    @discardableResult
    package mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool {
        guard phase == .ready, !isClosing else { return false }
        // Datagrams have no end that could be told.
        if chunk.isBareEnd, !isInMessage { return true }
        if !isInMessage { outbound.append(MessageChunk(header, endsMessage: false)) }
        isInMessage = !chunk.endsMessage && !chunk.isFinal
        outbound.append(MessageChunk(chunk.bytes, endsMessage: !isInMessage))
        return true
    }

    package mutating func nextOutbound(atMost limit: Int) -> MessageChunk? { outbound.pop(atMost: limit) }

    // MARK: The end

    package mutating func close(at now: Duration) {
        isClosing = true
        if phase == .ready { phase = .closed }
    }

    package mutating func abort(_ failure: Failure) {
        if !isOver { phase = isClosing ? .closed : .failed(failure) }
        inbound.removeAll()
        outbound.removeAll()
    }

    private var isOver: Bool {
        switch phase {
        case .idle, .opening, .ready: false
        case .closed, .failed: true
        }
    }
}

extension InternetAddress {
    /// Without the wrapping of a dual-stack socket (RFC 4291 §2.5.5.2), and without a scope: the proxy's mean nothing here.
    fileprivate var plain: InternetAddress {
        guard case .ipv6(let address) = self else { return self }
        if address.high == 0, address.low >> 32 == 0xFFFF {
            return .ipv4(IPv4Address(bits: UInt32(truncatingIfNeeded: address.low)))
        }
        return .ipv6(IPv6Address(high: address.high, low: address.low))
    }
}
