import CausewayTypes

extension PacketBuilder {
    @inline(__always)
    mutating func append(_ value: UInt16) {
        octets.append(UInt8(truncatingIfNeeded: value >> 8))
        octets.append(UInt8(truncatingIfNeeded: value))
    }
    @inline(__always)
    mutating func append(_ value: UInt32) {
        append(UInt16(truncatingIfNeeded: value >> 16))
        append(UInt16(truncatingIfNeeded: value))
    }
    @inline(__always)
    mutating func append(_ value: UInt64) {
        append(UInt32(truncatingIfNeeded: value >> 32))
        append(UInt32(truncatingIfNeeded: value))
    }
    @inline(__always)
    mutating func append(_ address: MACAddress) {
        append(UInt32(truncatingIfNeeded: address.bits >> 16))
        append(UInt16(truncatingIfNeeded: address.bits))
    }

    /// Appends numbers in network byte order that lie behind each other: once for a header, because each time has its cost.
    @inline(__always)
    private mutating func append<Numbers: BitwiseCopyable>(inOrder numbers: Numbers) {
        unsafe withUnsafeBytes(of: numbers) { bytes in unsafe octets.append(contentsOf: bytes) }
    }

    mutating func put(_ header: EthernetHeader) {
        let (destination, source) = (header.destination.bits, header.source.bits)
        append(
            inOrder: (
                (destination << 16 | source >> 32).bigEndian, UInt32(truncatingIfNeeded: source).bigEndian,
                header.type.rawValue.bigEndian
            ))
    }

    mutating func put(_ header: IPv4Header) {
        let first = UInt32(0x40 | header.byteCount / 4) << 24 | UInt32(header.typeOfService) << 16
        var fragment = header.fragmentOffset & 0x1FFF
        if header.reserved { fragment |= 0x8000 }
        if header.dontFragment { fragment |= 0x4000 }
        if header.moreFragments { fragment |= 0x2000 }
        let third = UInt32(header.timeToLive) << 24 | UInt32(header.proto.rawValue) << 16
        append(
            inOrder: (
                (first | UInt32(header.totalLength ?? 0)).bigEndian,
                (UInt32(header.identification) << 16 | UInt32(fragment)).bigEndian,
                (third | UInt32(header.checksum ?? 0)).bigEndian, header.source.bits.bigEndian,
                header.destination.bits.bigEndian
            ))
        put(options: header.options)
    }

    mutating func put(_ header: IPv6Header) {
        append(0x6000_0000 | UInt32(header.trafficClass) << 20 | header.flowLabel & 0xFFFFF)
        append(header.payloadLength ?? 0)
        octets.append(header.nextHeader.rawValue)
        octets.append(header.hopLimit)
        append(header.source.high)
        append(header.source.low)
        append(header.destination.high)
        append(header.destination.low)
    }

    mutating func put(_ header: TCPHeader) {
        let words = UInt32(header.dataOffset ?? UInt8(header.byteCount / 4)) & 15
        let flags = words << 28 | UInt32(header.flags.rawValue & 0x1FF) << 16
        append(
            inOrder: (
                (UInt32(header.sourcePort) << 16 | UInt32(header.destinationPort)).bigEndian, header.sequence.bigEndian,
                header.acknowledgement.bigEndian, (flags | UInt32(header.window)).bigEndian,
                (UInt32(header.checksum ?? 0) << 16 | UInt32(header.urgentPointer)).bigEndian
            ))
        put(options: header.options)
    }

    private mutating func put(options: [UInt8]) {
        guard !options.isEmpty else { return }
        let taken = options.prefix(40)
        octets.append(contentsOf: taken)
        octets.append(contentsOf: repeatElement(0, count: (4 - taken.count % 4) % 4))
    }

    mutating func store(_ value: UInt16, at offset: Int) {
        octets[offset] = UInt8(truncatingIfNeeded: value >> 8)
        octets[offset + 1] = UInt8(truncatingIfNeeded: value)
    }

    /// Fills in what was left `nil`, from the innermost layer outwards, and gives the packet.
    ///
    /// May be called again after ``replace(_:with:)``. Lengths above 65535 are written as 0, as the kernel does for packets that a
    /// network card cuts up.
    @discardableResult
    public mutating func finish() -> [UInt8] {
        var position = marks.count - 1
        while position >= 0 {
            let mark = marks[position]
            let length = octets.count - mark.offset
            if mark.fillsLength { fillLength(mark, length) }
            if mark.fillsChecksum { fillChecksum(mark, position) }
            position -= 1
        }
        return octets
    }

    private mutating func fillLength(_ mark: Mark, _ length: Int) {
        let stored = { (value: Int) in value > 0xFFFF ? 0 : UInt16(value) }
        switch mark.kind {
        case .ipv4: store(stored(length), at: mark.offset + 2)
        case .ipv6: store(stored(length - 40), at: mark.offset + 4)
        case .udp: store(stored(length), at: mark.offset + 4)
        default: break
        }
    }

    private mutating func fillChecksum(_ mark: Mark, _ position: Int) {
        let at: Int
        switch mark.kind {
        case .ipv4: at = mark.offset + 10
        case .tcp: at = mark.offset + 16
        case .udp: at = mark.offset + 6
        case .icmp, .icmp6: at = mark.offset + 2
        default: return
        }
        store(0, at: at)
        let end = mark.kind == .ipv4 ? mark.offset + mark.byteCount : octets.count
        var checksum = InternetChecksum()
        if mark.kind == .tcp || mark.kind == .udp || mark.kind == .icmp6 {
            guard let network = networkLayer(around: position) else { return }
            addPseudoHeader(&checksum, network, mark)
        }
        checksum.add(Octets(octets.span).clamped(mark.offset, end))
        // A UDP sum of zero is sent as its other form: zero means none (RFC 768).
        store(mark.kind == .udp && checksum.value == 0 ? 0xFFFF : checksum.value, at: at)
    }

    private func networkLayer(around position: Int) -> Mark? {
        marks[..<position].last { $0.kind == .ipv4 || $0.kind == .ipv6 }
    }

    private func addPseudoHeader(_ checksum: inout InternetChecksum, _ network: Mark, _ mark: Mark) {
        let start = network.offset
        let addresses = network.kind == .ipv4 ? start + 12..<start + 20 : start + 8..<start + 40
        checksum.add(Octets(octets.span).clamped(addresses))
        checksum.add(UInt32(truncatingIfNeeded: octets.count - mark.offset))
        let number: UInt16 = mark.kind == .tcp ? 6 : mark.kind == .udp ? 17 : 58
        checksum.add(number)
    }
}
