public import CausewayPackets
internal import CausewaySystem

/// Captures an interface's packets, and reads them in the kernel's ring buffer without copying.
///
/// ```swift
/// var capture = try PacketCapture(CaptureOptions(interface: "eth0"))
/// while try capture.take(waitingMilliseconds: 100, { packet, bytes in count += bytes.count; return true }) {}
/// ```
///
/// Use a value from one thread at a time; waiting blocks that thread. In tasks, use ``PacketFrames``.
public struct PacketCapture: ~Copyable {
    private var ring: PacketRing
    private let options: CaptureOptions
    /// All packets' link type; `LinkType.linuxCooked2` for a capture on all interfaces.
    public let linkType: LinkType
    /// The filter for this process to run; `nil` if the kernel runs the filter, or if there is none.
    ///
    /// This process runs a filter that the kernel cannot run. It also runs a filter that tests data that the kernel
    /// does not see, such as VLAN tags.
    private let filter: PacketFilter?
    /// The latest packet with its cooked header or VLAN tag; empty if the packet is read directly in the ring.
    private var scratch: [UInt8] = []
    private var total = CaptureStatistics()

    /// Opens the ring buffer for packets, and starts the capture.
    ///
    /// - Throws: ``CaptureError``, for example `notPermitted` without `CAP_NET_RAW`, or `badFilter` for an invalid
    ///   filter.
    public init(_ options: CaptureOptions) throws(CaptureError) {
        let index = try Self.index(options.interface)
        let linkType = try Self.linkType(options.interface)
        var ring = try Self.ring(index, options)
        let filter = try Self.attach(options, linkType, &ring)
        try Self.start(&ring, options)
        self.init(ring, linkType, filter, options)
    }

    private init(
        _ ring: consuming PacketRing, _ linkType: LinkType, _ filter: PacketFilter?, _ options: CaptureOptions
    ) {
        self.ring = ring
        self.linkType = linkType
        self.filter = filter
        self.options = options
    }

    private static func ring(_ index: UInt32, _ options: CaptureOptions) throws(CaptureError) -> PacketRing {
        do {
            return try PacketRing(
                interface: index, byteCount: options.ringByteCount, retireMilliseconds: options.isImmediate ? 1 : 10)
        } catch { throw CaptureError("capture failed", error) }
    }

    private static func start(_ ring: inout PacketRing, _ options: CaptureOptions) throws(CaptureError) {
        do {
            // There is no promiscuous mode for all interfaces. If an interface rejects promiscuous mode, the capture
            // continues without this mode.
            if options.interface != nil, options.isPromiscuous { try? ring.listenToEverything() }
            try ring.start()
            if let fanOut = options.fanOut { try ring.share(group: fanOut.group, way: fanOut.way.rawValue) }
        } catch { throw CaptureError("capture on \(options.interface ?? "any") failed", error) }
    }

    private static func index(_ interface: String?) throws(CaptureError) -> UInt32 {
        guard let interface else { return 0 }
        let index = PacketSockets.index(of: interface)
        guard index != 0 else {
            throw CaptureError(
                .noSuchInterface, "no interface is named \(interface); nw interfaces lists the interfaces")
        }
        return index
    }

    /// Returns an interface's link type, which follows from its ARP hardware type (see `if_arp.h`). If no interface is
    /// given, returns Linux cooked mode, which covers all interfaces.
    private static func linkType(_ interface: String?) throws(CaptureError) -> LinkType {
        guard let interface else { return .linuxCooked2 }
        switch try? PacketSockets.hardwareType(interface) {
        case 1, 772: return .ethernet
        case 65534, 768, 769, 776, 778, 512: return .raw
        case let type?:
            throw CaptureError(
                .unsupportedLink,
                "\(interface) has the unsupported hardware type \(type); capture on all interfaces to see its packets"
            )
        case nil: throw CaptureError(.unsupportedLink, "cannot read the hardware type of \(interface)")
        }
    }

    /// Attaches the filter to the ring if the kernel can run it. Returns the filter if this process must run it instead.
    private static func attach(
        _ options: CaptureOptions, _ linkType: LinkType, _ ring: inout PacketRing
    ) throws(CaptureError) -> PacketFilter? {
        let expression = options.filter
        guard !expression.isEmpty else { return nil }
        let filter: PacketFilter
        var settings = FilterSettings()
        settings.isLive = true
        settings.netmask = options.interface.flatMap(netmask)
        do { filter = try PacketFilter(expression, linkType: linkType, settings) } catch {
            throw CaptureError(.badFilter, error.explained(in: expression))
        }
        // The kernel's filter cannot test cooked headers and VLAN tags. The packet does not contain them yet, because
        // `PacketCapture` adds them later.
        guard linkType != .linuxCooked2, !expression.contains("vlan"), let program = filter.kernelProgram else {
            return filter
        }
        do { try ring.attach(program) } catch { throw CaptureError("the kernel rejected the filter", error) }
        return nil
    }

    /// Returns the netmask of the interface's first IPv4 address; `nil` if the interface has no IPv4 address.
    private static func netmask(_ interface: String) -> UInt32? {
        guard let snapshot = try? NetworkSnapshot.current(),
            let found = snapshot.interfaces.first(where: { $0.interface.name == interface })
        else { return nil }
        let length = found.addresses.first { if case .ipv4 = $0.address { true } else { false } }?.prefixLength
        return length.map { $0 == 0 ? 0 : UInt32.max << UInt32(32 - min($0, 32)) }
    }

    /// Reads the available packets. If there are none, first waits for at most `waitingMilliseconds`.
    ///
    /// - Parameters:
    ///   - waitingMilliseconds: Maximum time to wait for a packet, in milliseconds; negative for no limit.
    ///   - body: Called with each packet; the bytes are valid during the call. Returns whether to continue.
    /// - Returns: `false` after the body has returned `false`.
    /// - Throws: The error that `body` throws; ``CaptureError`` if the interface was removed.
    public mutating func take(
        waitingMilliseconds: Int32, _ body: (CapturedPacket, borrowing ByteView) throws -> Bool
    ) throws -> Bool {
        do throws(SystemError) {
            guard try ring.wait(milliseconds: waitingMilliseconds) else { return true }
        } catch { throw CaptureError("capture on \(options.interface ?? "any") failed", error) }
        var packet = RingPacket()
        while ring.next(&packet) {
            guard try take(packet, body) else { return false }
        }
        return true
    }

    /// Returns the packet counts so far, including lost packets.
    public mutating func statistics() -> CaptureStatistics {
        let (seen, dropped) = ring.statistics()
        total.seen += UInt64(seen)
        total.droppedByKernel += UInt64(dropped)
        return total
    }

    private mutating func take(
        _ packet: RingPacket, _ body: (CapturedPacket, borrowing ByteView) throws -> Bool
    ) throws -> Bool {
        let captured = min(Int(packet.captured), CaptureFileReader.largestPacket)
        let bytes = UnsafeRawBufferPointer(start: packet.data, count: captured)
        scratch.removeAll(keepingCapacity: true)
        if options.interface == nil {
            putCookedHeader(packet)
            scratch.append(contentsOf: bytes)
        } else if packet.has_vlan, captured >= 12 {
            scratch.append(contentsOf: bytes[..<12])
            put(packet.vlan_type)
            put(packet.vlan)
            scratch.append(contentsOf: bytes[12...])
        }
        let added = scratch.isEmpty ? 0 : scratch.count - captured
        let described = CapturedPacket(
            time: CaptureTime(seconds: Int64(packet.seconds), nanoseconds: packet.nanoseconds),
            originalCount: Int(packet.original) + added, capturedCount: captured + added, linkType: linkType)
        guard !scratch.isEmpty else { return try give(described, ByteView(bytes.bytes), packet, body) }
        let whole = scratch
        return try give(described, ByteView(whole.span), packet, body)
    }

    private func give(
        _ packet: CapturedPacket, _ bytes: borrowing ByteView, _ origin: RingPacket,
        _ body: (CapturedPacket, borrowing ByteView) throws -> Bool
    ) throws -> Bool {
        if let filter,
            !filter.matches(
                bytes, originalCount: packet.originalCount, direction: origin.direction, interface: origin.interface)
        {
            return true
        }
        let kept = bytes.prefix(options.snapLength ?? bytes.count)
        var described = packet
        described.capturedCount = kept.count
        return try body(described, kept)
    }

    private mutating func put(_ value: UInt16) {
        scratch.append(UInt8(value >> 8))
        scratch.append(UInt8(truncatingIfNeeded: value))
    }

    /// Appends a Linux cooked header (SLL2): protocol, interface index, hardware type, packet type, address length and address.
    private mutating func putCookedHeader(_ packet: RingPacket) {
        put(packet.protocol)
        put(0)
        put(UInt16(packet.interface >> 16))
        put(UInt16(truncatingIfNeeded: packet.interface))
        put(packet.hardware)
        scratch.append(packet.direction)
        scratch.append(packet.address_length)
        withUnsafeBytes(of: packet.address) { scratch.append(contentsOf: $0) }
    }
}
