package import CausewayTypes
internal import CausewayWire

/// Sends datagrams through a SOCKS 5 proxy. Each datagram has a header with its destination or source (RFC 1928 §7).
///
/// ```
/// +----------+----------+-----------------+---------+
/// | reserved | fragment |     address     | content |
/// | 2 bytes  | 1 byte   | 7 to 262 bytes  |         |
/// +----------+----------+-----------------+---------+
/// ```
///
/// The stage drops fragments, as the RFC permits. It also drops received datagrams from any source but the destination.
package struct RelayStage: ProtocolStage {
    /// The maximum datagram length in bytes.
    private static let datagramLimit = 65_535

    private let destination: TunnelDestination
    private let header: [UInt8]
    private var phase: StageStatus = .idle
    private var isClosing = false
    /// Bytes received so far for an incomplete datagram.
    private var arriving = ByteChain()
    private var isSkipping = false
    private var inbound = MessageChunkQueue()
    private var isInMessage = false
    private var outbound = MessageChunkQueue()

    package init(to destination: TunnelDestination) {
        self.destination = destination
        header = destination.socksBytes.map { [0, 0, 0] + $0 } ?? []
    }

    /// Returns the length in bytes of the header that precedes each datagram's content.
    package static func headerByteCount(to destination: TunnelDestination) -> Int {
        3 + (destination.socksBytes?.count ?? 0)
    }

    package var status: StageStatus { phase == .closed && !outbound.isEmpty ? .ready : phase }

    package mutating func start(at now: Duration) {
        guard phase == .idle else { return }
        guard !header.isEmpty else { return phase = .failed(Failure(.dns, -65_540)) }
        phase = .ready
    }

    // MARK: Inbound

    package var inboundRoom: Int { isOver ? .max : inbound.room }

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

    /// Returns the header length in bytes; `nil` if the header is malformed or belongs to a fragment.
    private static func headerByteCount(_ datagram: inout ByteChain) -> Int? {
        let head = Array(datagram.front(5))
        guard head.count == 5, head[2] == 0, let place = TunnelDestination.socksByteCount(head[3...]),
            datagram.count >= 3 + place
        else { return nil }
        return 3 + place
    }

    /// Whether a datagram with this source may come from the destination.
    ///
    /// If the destination is a name, every source address is accepted, because only the proxy knows the name's address.
    /// A source address or port of zero is also accepted, because some proxies send zeros.
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
        // A chunk may contain nothing but the end of the sending direction. Accept it, but send nothing, because a
        // datagram flow has no end of stream.
        if chunk.isBareEnd, !isInMessage { return true }
        if !isInMessage { outbound.append(MessageChunk(header, endsMessage: false)) }
        isInMessage = !chunk.endsMessage && !chunk.isFinal
        outbound.append(MessageChunk(chunk.bytes, endsMessage: !isInMessage))
        return true
    }

    package mutating func nextOutbound(atMost limit: Int) -> MessageChunk? { outbound.pop(atMost: limit) }

    // MARK: Closing

    package mutating func close(at now: Duration) {
        isClosing = true
        if !isOver { phase = .closed }
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
    /// The address without IPv4 mapping (RFC 4291 §2.5.5.2) and without a scope. A scope from the proxy has no meaning
    /// on this host.
    fileprivate var plain: InternetAddress {
        guard case .ipv6(let address) = self else { return self }
        if address.high == 0, address.low >> 32 == 0xFFFF {
            return .ipv4(IPv4Address(bits: UInt32(truncatingIfNeeded: address.low)))
        }
        return .ipv6(IPv6Address(high: address.high, low: address.low))
    }
}
