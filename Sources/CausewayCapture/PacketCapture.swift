public import CausewayPackets
internal import CausewaySystem

/// Packets of an interface as they pass, seen in the ring that the kernel fills: nothing is copied.
///
/// ```swift
/// var capture = try PacketCapture(CaptureOptions(interface: "eth0"))
/// while try capture.take(waitingMilliseconds: 100, { packet, bytes in count += bytes.count; return true }) {}
/// ```
///
/// A value is used by one thread at a time, which it blocks while it waits. ``PacketFrames`` is the form for tasks.
public struct PacketCapture: ~Copyable {
    private var ring: PacketRing
    private let options: CaptureOptions
    /// What every packet is: ``LinkType/linuxCooked2`` where all interfaces are heard.
    public let linkType: LinkType
    /// What the kernel cannot run, or could not decide: filters about VLAN tags, which it keeps beside the packet.
    private let filter: PacketFilter?
    private var scratch: [UInt8] = []
    private var total = CaptureStatistics()

    /// Opens the ring and begins to capture.
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
            // A device that is all of them cannot be promiscuous; others may refuse, and are heard all the same.
            if options.interface != nil, options.isPromiscuous { try? ring.listenToEverything() }
            try ring.start()
            if let fanOut = options.fanOut { try ring.share(group: fanOut.group, way: fanOut.way.rawValue) }
        } catch { throw CaptureError("capture on \(options.interface ?? "any") failed", error) }
    }

    private static func index(_ interface: String?) throws(CaptureError) -> UInt32 {
        guard let interface else { return 0 }
        let index = PacketSockets.index(of: interface)
        guard index != 0 else {
            throw CaptureError(.noSuchInterface, "there is no interface \(interface); nw interfaces lists them")
        }
        return index
    }

    private static func linkType(_ interface: String?) throws(CaptureError) -> LinkType {
        guard let interface else { return .linuxCooked2 }
        switch try? PacketSockets.hardwareType(interface) {
        case 1, 772: return .ethernet
        case 65534, 768, 769, 776, 778, 512: return .raw
        case let type?:
            throw CaptureError(
                .unsupportedLink,
                "\(interface) has hardware of type \(type), which is not supported; all interfaces together show its packets"
            )
        case nil: throw CaptureError(.unsupportedLink, "\(interface) does not tell its type")
        }
    }

    /// Gives the kernel what it can run of a filter. Returns the filter where it must run here as well.
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
        // Cooked headers are made here, and VLAN tags put back here: the kernel sees neither.
        guard linkType != .linuxCooked2, !expression.contains("vlan"), let program = filter.kernelProgram else {
            return filter
        }
        do { try ring.attach(program) } catch { throw CaptureError("the kernel refused the filter", error) }
        return nil
    }

    /// The mask of the interface's first IPv4 network; `nil` where it has none.
    private static func netmask(_ interface: String) -> UInt32? {
        guard let snapshot = try? NetworkSnapshot.current(),
            let found = snapshot.interfaces.first(where: { $0.interface.name == interface })
        else { return nil }
        let length = found.addresses.first { if case .ipv4 = $0.address { true } else { false } }?.prefixLength
        return length.map { $0 == 0 ? 0 : UInt32.max << UInt32(32 - min($0, 32)) }
    }

    /// Hands over the packets that are there; where there are none, waits for some first.
    ///
    /// - Parameter body: Gets each packet, whose bytes are valid during the call. Returns whether to go on.
    /// - Returns: `false` once the body has said so.
    /// - Throws: What the body throws; ``CaptureError`` where the interface is gone.
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

    /// Packets so far, and how many were lost.
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

    /// The header of Linux's second cooked form: protocol, interface, kind of link, direction, address.
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
