import CausewayTypes

extension Array where Element == UInt8 {
    /// Appends contiguous big-endian integers with one array operation per header.
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
    /// Ensures that the buffer has room for `byteCount` bytes after the first `count` bytes. The room may contain data
    /// from an earlier packet.
    @inline(__always)
    private mutating func require(_ byteCount: Int) {
        if bytes.count &- count < byteCount { grow(byteCount) }
    }
    @inline(never)
    private mutating func grow(_ byteCount: Int) {
        bytes.append(contentsOf: repeatElement(0, count: byteCount &- (bytes.count &- count)))
    }

    /// Appends contiguous big-endian integers.
    @inline(__always)
    private mutating func append<Numbers: BitwiseCopyable>(inOrder numbers: Numbers) {
        let byteCount = MemoryLayout<Numbers>.size
        require(byteCount)
        store(inOrder: numbers, at: count)
        count &+= byteCount
    }

    /// Overwrites existing bytes at `offset`.
    @inline(__always)
    mutating func store<Numbers: BitwiseCopyable>(inOrder numbers: Numbers, at offset: Int) {
        precondition(offset >= 0 && offset <= bytes.count &- MemoryLayout<Numbers>.size)
        unsafe bytes.withUnsafeMutableBytes { bytes in
            // In bounds: the precondition above checks the range.
            unsafe bytes.storeBytes(of: numbers, toByteOffset: offset, as: Numbers.self)
        }
    }

    /// Appends the first `first` array bytes, then zeros up to `length` bytes.
    @inline(__always)
    mutating func append(_ more: [UInt8], first: Int, filledTo length: Int) {
        let first = max(0, min(first, more.count, length))
        require(length)
        unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe more.withUnsafeBytes { more in
                // In bounds: `require` reserved `length` bytes after `count`, and `first` is at most `length`.
                guard let place = bytes.baseAddress else { return }
                if let from = more.baseAddress { unsafe (place + count).copyMemory(from: from, byteCount: first) }
                guard first < length else { return }
                let rest = unsafe place + count + first
                unsafe rest.initializeMemory(as: UInt8.self, repeating: 0, count: length - first)
            }
        }
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

    @inline(__always)
    mutating func putEthernet(_ destination: UInt64, _ source: UInt64, _ type: UInt16) {
        append(
            inOrder: (
                (destination << 16 | source >> 32).bigEndian, UInt32(truncatingIfNeeded: source).bigEndian,
                type.bigEndian
            ))
    }

    @inline(__always)
    mutating func put(_ words: HeaderWords, _ options: [UInt8]) {
        append(inOrder: (words.first, words.second, words.third))
        if !options.isEmpty { put(options) }
    }

    mutating func put(_ options: [UInt8]) {
        append(options, first: min(options.count, 40), filledTo: HeaderWords.filled(options))
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

    /// Fills in every field that a header left `nil`, from the innermost layer outwards, and returns the packet.
    ///
    /// Can be called again after `replace(_:with:)`. A length above 65535 is written as 0, as the kernel does for packets that the
    /// network card segments.
    @discardableResult
    @inlinable
    public mutating func finish() -> [UInt8] {
        complete()
        return bytes
    }

    @usableFromInline
    mutating func complete() {
        if bytes.count > count { bytes.removeLast(bytes.count - count) }
        Self.fill(&bytes, &marks)
    }

    @inline(__always)
    private static func fill(_ bytes: inout [UInt8], _ marks: inout ChecksumMarks) {
        var span = bytes.mutableSpan
        var packet = unsafe span.mutableBytes
        // The sum of all bytes after the current layer. The checksum of the current layer covers these bytes.
        var behind = ChecksumSum()
        var position = marks.count
        while position > marks.firstPending {
            position &-= 1
            let mark = marks[position]
            let flags = mark.flags
            if flags & (ChecksumMark.fillsChecksum | ChecksumMark.isCovered) != 0 {
                if flags & (ChecksumMark.isSummed | ChecksumMark.isInIPv6) == ChecksumMark.isSummed {
                    behind = mark.fill(&packet, behind, mark.sum, mark.addresses(packet.bytes))
                } else {
                    behind = ChecksumMark.fillSlowly(
                        flags, mark.offset, mark.byteCount, mark.network, mark.sum, &packet, behind)
                }
            } else if flags & ChecksumMark.fillsLength != 0 {
                packet.store(mark.length(packet.byteCount), at: mark.lengthAt)
            }
        }
    }
}

extension MutableRawSpan {
    /// Stores a 16-bit word as it is, without conversion of the byte order.
    @inline(__always)
    fileprivate mutating func store(_ word: UInt16, at offset: Int) {
        storeBytes(of: word, toByteOffset: offset, as: UInt16.self)
    }

    /// Sets a 16-bit word to zero. Does not store a word that is already zero: after a store, the checksum's wider load
    /// of these bytes would have to wait.
    @inline(__always)
    fileprivate mutating func clear(_ offset: Int) {
        precondition(offset >= 0 && offset <= byteCount &- 2)
        let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self)
        if word != 0 { store(0, at: offset) }
    }
}

extension ChecksumMark {
    /// Returns this layer's length with its payload, in network byte order; 0 if it exceeds 65535.
    @inline(__always)
    fileprivate func length(_ end: Int) -> UInt16 {
        let length = end &- offset &- lengthLess
        return length > 0xFFFF ? 0 : UInt16(truncatingIfNeeded: length).bigEndian
    }

    /// Returns the checksum contribution of the addresses in the enclosing IPv4 header. Returns 0 if this layer's
    /// checksum includes no pseudo header.
    @inline(__always)
    fileprivate func addresses(_ packet: RawSpan) -> UInt64 {
        guard network >= 0, number != 0 else { return 0 }
        var sum = ChecksumSum()
        sum.addPair(packet, network &+ 12)
        return sum.sum
    }

    /// Fills in a layer in the less common cases: the header's sum is not computed yet, or the layer is inside IPv6,
    /// whose addresses belong to the pseudo header.
    ///
    /// This is a separate function, so that the common path makes no call. The parameters are plain numbers, because
    /// passing a ``ChecksumMark`` would store it in memory also on the common path.
    @inline(never)
    fileprivate static func fillSlowly(
        _ flags: UInt64, _ offset: Int, _ byteCount: Int, _ network: Int, _ sum: UInt64, _ packet: inout MutableRawSpan,
        _ behind: ChecksumSum
    ) -> ChecksumSum {
        var mark = ChecksumMark(.none, offset, byteCount)
        (mark.flags, mark.network) = (flags, network)
        var own = ChecksumSum()
        if flags & isSummed != 0 {
            own.carry(sum)
        } else {
            if flags & fillsLength != 0 { packet.clear(mark.lengthAt) }
            if flags & fillsChecksum != 0 { packet.clear(mark.checksumAt) }
            own.add(packet.bytes, offset, offset &+ byteCount)
        }
        guard flags & isInIPv6 != 0, network >= 0, mark.number != 0 else {
            return mark.fill(&packet, behind, own.sum, mark.addresses(packet.bytes))
        }
        var addresses = ChecksumSum()
        addresses.add(packet.bytes, network &+ 8, network &+ 40)
        return mark.fill(&packet, behind, own.sum, addresses.sum)
    }

    /// Fills in the length and the checksum.
    ///
    /// - Parameters:
    ///   - behind: The sum over all bytes after this layer.
    ///   - header: The sum over this layer's header, with zeros in the fields to fill in.
    ///   - addresses: The sum over the pseudo header's addresses.
    /// - Returns: The sum over this layer and all bytes after it.
    @inline(__always)
    fileprivate func fill(
        _ packet: inout MutableRawSpan, _ behind: ChecksumSum, _ header: UInt64, _ addresses: UInt64
    ) -> ChecksumSum {
        var all = behind
        // If this layer has an odd number of bytes, the later bytes begin at an odd offset. In that case, swap the two
        // bytes in their sum (RFC 1071 §2).
        if byteCount & 1 != 0 { all.swap() }
        var own = ChecksumSum()
        own.carry(header)
        if flags & Self.fillsLength != 0 {
            let length = length(packet.byteCount)
            packet.store(length, at: lengthAt)
            own.add(length)
        }
        if flags & Self.fillsChecksum != 0 {
            let checksum = checksum(own, all, addresses, packet.byteCount &- offset)
            packet.store(checksum, at: checksumAt)
            own.add(checksum)
        }
        all.carry(own.sum)
        return all
    }

    /// Returns the checksum in network byte order; 0 if the checksum needs a pseudo header and the packet has no addresses.
    @inline(__always)
    private func checksum(
        _ own: ChecksumSum, _ behind: ChecksumSum, _ addresses: UInt64, _ covered: Int
    ) -> UInt16 {
        var sum = own
        if isKind(.ipv4) { return sum.value.bigEndian }
        sum.carry(behind.sum)
        guard number != 0 else { return sum.value.bigEndian }
        guard network >= 0 else { return 0 }
        sum.carry(addresses)
        sum.carry(UInt64(UInt32(truncatingIfNeeded: covered).bigEndian))
        sum.add(number.bigEndian)
        // A UDP checksum of zero is sent as 0xFFFF, because zero means no checksum (RFC 768).
        return isKind(.udp) && sum.value == 0 ? 0xFFFF : sum.value.bigEndian
    }
}
