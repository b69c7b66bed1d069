import CausewayTypes

extension Array where Element == UInt8 {
    /// Appends numbers in network byte order that lie behind each other without gaps: once for a header, because each time has its
    /// cost.
    @inline(__always)
    mutating func append<Numbers: BitwiseCopyable>(inOrder numbers: Numbers) {
        let byteCount = MemoryLayout<Numbers>.size
        append(addingCapacity: byteCount) { room in
            unsafe room.withUnsafeMutableBufferPointer { buffer, count in
                let place = UnsafeMutableRawBufferPointer(buffer)
                unsafe place.storeBytes(of: numbers, toByteOffset: count, as: Numbers.self)
                count += byteCount
            }
        }
    }
}

extension PacketBuilder {
    /// Makes room behind what there is; it may hold octets of an earlier packet.
    @inline(__always)
    private mutating func require(_ byteCount: Int) {
        if octets.count &- count < byteCount { grow(byteCount) }
    }
    @inline(never)
    private mutating func grow(_ byteCount: Int) {
        octets.append(contentsOf: repeatElement(0, count: byteCount &- (octets.count &- count)))
    }

    /// Appends numbers in network byte order that lie behind each other without gaps.
    @inline(__always)
    private mutating func append<Numbers: BitwiseCopyable>(inOrder numbers: Numbers) {
        let byteCount = MemoryLayout<Numbers>.size
        require(byteCount)
        unsafe octets.withUnsafeMutableBytes { bytes in
            // There is room for them: that was asked for above.
            unsafe bytes.storeBytes(of: numbers, toByteOffset: count, as: Numbers.self)
        }
        count &+= byteCount
    }

    /// Appends octets, and zeros up to `length` behind them.
    mutating func append(_ more: ArraySlice<UInt8>, filledTo length: Int) {
        require(length)
        octets.replaceSubrange(count..<count + more.count, with: more)
        for place in count + more.count..<count + length { octets[place] = 0 }
        count &+= length
    }

    @inline(__always)
    mutating func append(_ value: UInt16) { append(inOrder: value.bigEndian) }
    @inline(__always)
    mutating func append(_ value: UInt32) { append(inOrder: value.bigEndian) }
    @inline(__always)
    mutating func append(_ value: UInt64) { append(inOrder: value.bigEndian) }
    @inline(__always)
    mutating func append(_ address: MACAddress) {
        append(UInt32(truncatingIfNeeded: address.bits >> 16))
        append(UInt16(truncatingIfNeeded: address.bits))
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
        let first = 0x6000_0000 | UInt32(header.trafficClass) << 20 | header.flowLabel & 0xFFFFF
        let second = UInt32(header.payloadLength ?? 0) << 16 | UInt32(header.nextHeader.rawValue) << 8
        append(
            inOrder: (
                first.bigEndian, (second | UInt32(header.hopLimit)).bigEndian, header.source.high.bigEndian,
                header.source.low.bigEndian, header.destination.high.bigEndian, header.destination.low.bigEndian
            ))
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
        append(taken, filledTo: (taken.count + 3) / 4 * 4)
    }

    /// Fills in what was left `nil`, from the innermost layer outwards, and gives the packet.
    ///
    /// May be called again after ``replace(_:with:)``. Lengths above 65535 are written as 0, as the kernel does for packets that a
    /// network card cuts up.
    @discardableResult
    public mutating func finish() -> [UInt8] {
        if octets.count > count { octets.removeLast(octets.count - count) }
        Self.fill(&octets, marks, markCount)
        return octets
    }

    private static func fill(_ octets: inout [UInt8], _ marks: [Mark], _ markCount: Int) {
        var span = octets.mutableSpan
        var packet = unsafe span.mutableBytes
        var position = markCount - 1
        while position >= 0 {
            let mark = marks[position]
            if mark.fillsLength { mark.fillLength(&packet) }
            if mark.fillsChecksum { mark.fillChecksum(&packet, within: networkLayer(of: marks, around: position)) }
            position -= 1
        }
    }

    private static func networkLayer(of marks: [Mark], around position: Int) -> Mark? {
        var position = position - 1
        while position >= 0 {
            let mark = marks[position]
            if mark.kind == .ipv4 || mark.kind == .ipv6 { return mark }
            position -= 1
        }
        return nil
    }
}

extension PacketBuilder.Mark {
    private static func store(_ value: UInt16, _ packet: inout MutableRawSpan, at offset: Int) {
        packet.storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt16.self)
    }

    fileprivate func fillLength(_ packet: inout MutableRawSpan) {
        let length = packet.byteCount - offset
        let stored = { (value: Int) in value > 0xFFFF ? 0 : UInt16(value) }
        switch kind {
        case .ipv4: Self.store(stored(length), &packet, at: offset + 2)
        case .ipv6: Self.store(stored(length - 40), &packet, at: offset + 4)
        case .udp: Self.store(stored(length), &packet, at: offset + 4)
        default: break
        }
    }

    /// - Parameter network: The layer of addresses that the checksums of UDP, TCP and ICMPv6 cover too.
    fileprivate func fillChecksum(_ packet: inout MutableRawSpan, within network: Self?) {
        let at: Int
        var number: UInt16?
        switch kind {
        case .ipv4: at = offset + 10
        case .icmp: at = offset + 2
        case .tcp: (at, number) = (offset + 16, 6)
        case .udp: (at, number) = (offset + 6, 17)
        case .icmp6: (at, number) = (offset + 2, 58)
        default: return
        }
        Self.store(0, &packet, at: at)
        var checksum = InternetChecksum()
        if let number {
            guard let network else { return }
            let addresses = network.kind == .ipv4 ? (12, 8) : (8, 32)
            checksum.add(
                packet.bytes.extracting(first: network.offset + addresses.0 + addresses.1).extracting(last: addresses.1)
            )
            checksum.add(UInt32(truncatingIfNeeded: packet.byteCount - offset))
            checksum.add(number)
        }
        let end = kind == .ipv4 ? offset + byteCount : packet.byteCount
        checksum.add(packet.bytes.extracting(offset..<end))
        // A UDP sum of zero is sent as its other form: zero means none (RFC 768).
        Self.store(kind == .udp && checksum.value == 0 ? 0xFFFF : checksum.value, &packet, at: at)
    }
}
