import CausewayPackets
import CausewaySystem

/// One run of `nw capture`, on a thread of its own.
final class CaptureSession {
    private var ring: PacketRing
    private var shown: PacketOutput
    private let command: CaptureCommand
    private let linkType: LinkType
    /// What the kernel cannot run, or could not decide: filters about VLAN tags, which it keeps beside the packet.
    private let filter: PacketFilter?
    private let isAny: Bool
    private var scratch: [UInt8] = []
    private var total: (seen: UInt64, dropped: UInt64) = (0, 0)

    init(_ command: CaptureCommand) throws {
        self.command = command
        isAny = command.interface == "any"
        let index = isAny ? 0 : if_nametoindex(command.interface)
        guard isAny || index != 0 else {
            throw Failure("there is no interface \(command.interface); nw interfaces lists them")
        }
        linkType = try Self.linkType(command.interface, isAny)
        ring = try Self.open(index, command)
        let expression = command.filter.joined(separator: " ")
        filter = try Self.attach(expression, linkType, &ring)
        shown = try PacketOutput(command.output, isLive: true)
        do {
            // A device that is all of them cannot be promiscuous; others may refuse, and are heard all the same.
            if !isAny, !command.onlyOwn { try? ring.listenToEverything() }
            try ring.start()
        } catch { throw Failure("capture on \(command.interface) failed", error) }
    }

    private static func linkType(_ interface: String, _ isAny: Bool) throws -> LinkType {
        if isAny { return .linuxCooked2 }
        switch try? PacketSockets.hardwareType(interface) {
        case 1, 772: return .ethernet
        case 65534, 768, 769, 776, 778, 512: return .raw
        case let type?:
            throw Failure("\(interface) has hardware of type \(type), which is not supported; -i any shows its packets")
        case nil: throw Failure("\(interface) does not tell its type")
        }
    }

    private static func open(_ index: UInt32, _ command: CaptureCommand) throws -> PacketRing {
        do {
            return try PacketRing(
                interface: index, byteCount: command.ringSize * 1024, retireMilliseconds: command.immediate ? 1 : 10)
        } catch {
            guard error.errno == Errno.notPermitted else { throw Failure("capture failed", error) }
            throw Failure(
                "capturing needs the capability CAP_NET_RAW: run as root, or once: setcap cap_net_raw,cap_net_admin=ep \(CommandLine.arguments[0])"
            )
        }
    }

    /// Gives the kernel what it can run of a filter. Returns the filter where it must run here as well.
    private static func attach(
        _ expression: String, _ linkType: LinkType, _ ring: inout PacketRing
    ) throws -> PacketFilter? {
        guard !expression.isEmpty else { return nil }
        do {
            let filter = try PacketFilter(expression, linkType: linkType)
            // Cooked headers are made here, and VLAN tags put back here: the kernel sees neither.
            guard linkType != .linuxCooked2, !expression.contains("vlan"), let program = filter.kernelProgram else {
                return filter
            }
            try ring.attach(program)
            return nil
        } catch let error as FilterError {
            throw Failure(error.explained(in: expression))
        } catch {
            throw Failure("the kernel refused the filter", error)
        }
    }

    func run(until stop: StopMark) throws {
        if command.output.store != nil || command.output.json == false {
            printError("nw: capture: listening on \(command.interface), link type \(linkType.name)")
        }
        var packet = RingPacket()
        var isDone = false
        while !isDone, !stop.isSet {
            while !isDone, !stop.isSet, ring.next(&packet) {
                try take(packet)
                if let count = command.output.count, shown.count >= count { isDone = true }
            }
            try shown.endBatch()
            countDrops()
            if isDone { break }
            do { _ = try ring.wait(milliseconds: 100) } catch {
                throw Failure("capture on \(command.interface) failed", error)
            }
        }
        countDrops()
        try shown.finish(linkType)
        printError(
            "\(shown.count) packets captured, \(total.seen) seen by the filter, \(total.dropped) dropped by the kernel")
    }

    private func countDrops() {
        let (seen, dropped) = ring.statistics()
        total.seen += UInt64(seen)
        total.dropped += UInt64(dropped)
    }

    private func take(_ packet: RingPacket) throws {
        let captured = min(Int(packet.captured), CaptureFileReader.largestPacket)
        let octets = UnsafeRawBufferPointer(start: packet.data, count: captured)
        scratch.removeAll(keepingCapacity: true)
        if isAny {
            putCookedHeader(packet)
            scratch.append(contentsOf: octets)
        } else if packet.has_vlan, captured >= 12 {
            scratch.append(contentsOf: octets[..<12])
            put(packet.vlan_type)
            put(packet.vlan)
            scratch.append(contentsOf: octets[12...])
        }
        let added = scratch.isEmpty ? 0 : scratch.count - captured
        let described = CapturedPacket(
            time: CaptureTime(seconds: Int64(packet.seconds), nanoseconds: packet.nanoseconds),
            originalCount: Int(packet.original) + added, capturedCount: captured + added, linkType: linkType)
        if scratch.isEmpty {
            try show(described, Octets(octets.bytes))
        } else {
            let whole = scratch
            try show(described, Octets(whole.span))
        }
    }

    private func show(_ packet: CapturedPacket, _ octets: borrowing Octets) throws {
        if let filter, !filter.matches(octets, originalCount: packet.originalCount) { return }
        let kept = octets.prefix(command.snapLength ?? octets.count)
        var described = packet
        described.capturedCount = kept.count
        try shown.add(described, kept)
    }

    private func put(_ value: UInt16) {
        scratch.append(UInt8(value >> 8))
        scratch.append(UInt8(truncatingIfNeeded: value))
    }

    /// The header of Linux's second cooked form: protocol, interface, kind of link, direction, address.
    private func putCookedHeader(_ packet: RingPacket) {
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
