import CausewayPackets
import CausewaySystem
import CausewayTypes
import CausewayWire

/// Sends probes to check which hosts are up. Hosts on the same link get ARP requests or neighbour solicitations. All
/// other hosts get echo requests.
final class NeighbourWire: ScanWire {
    private let targets: ArraySlice<ScanTarget>
    private let index: ScanIndex
    private let links: [NeighbourLink]
    /// The link and the probes' source address for each target; `nil` for a target that is not on a local link.
    private let places: [(link: Int, source: InternetAddress)?]
    private let echo: EchoWire?
    /// The number of the latest attempt for each target. An answer does not contain the attempt's number.
    private var attempts: [Int]

    /// Whether all targets are on local links. Such targets answer immediately or not at all.
    let isNear: Bool

    /// Creates probes for the targets.
    ///
    /// - Parameter links: The links on which this process may send frames. Targets on other links get ICMP echo
    ///   requests.
    init(_ targets: ArraySlice<ScanTarget>, _ links: [NeighbourLink]) throws {
        self.targets = targets
        self.links = links
        index = ScanIndex(targets, [0])
        places = targets.map { target in
            for (place, link) in links.enumerated() {
                if let source = link.source(toward: target) { return (place, source) }
            }
            return nil
        }
        isNear = places.allSatisfy { $0 != nil }
        echo = isNear ? nil : try EchoWire(targets)
        attempts = Array(repeating: 0, count: targets.count)
    }

    /// Returns whether the target with this index is on one of the host's local links.
    func isNear(_ host: Int) -> Bool { places[host] != nil }

    func send(_ probe: PortSurvey.Probe) -> ScanSending {
        guard let (link, source) = places[probe.host] else { return echo?.send(probe) ?? .busy }
        attempts[probe.host] = probe.attempt
        return links[link].ask(targets[targets.startIndex + probe.host].address, from: source)
    }

    func collect(into answers: inout [ScanAnswer], milliseconds: CInt) {
        // If there are several receivers (the links and the echo socket), poll each of them in turn for at most 2 ms.
        let share = links.count + (echo == nil ? 0 : 1) > 1 ? min(milliseconds, 2) : milliseconds
        for link in links {
            link.collect(milliseconds: share) { address in
                guard let host = index.host(SocketAddress(address, port: 0)) else { return }
                let reason: ScanFinding.Reason =
                    if case .ipv4 = address { .arpResponse } else { .neighbourResponse }
                answers.append(
                    ScanAnswer(probe: .init(host: host, port: 0, attempt: attempts[host]), reason: reason))
            }
        }
        echo?.collect(into: &answers, milliseconds: share)
    }
}

/// An interface that sends ARP requests and neighbour solicitations. Confined to one thread.
final class NeighbourLink {
    private let interface: NetworkSnapshot.Interface
    private let probes: NeighbourProbes
    private let sender: Descriptor
    private var ring: PacketRing

    /// The ring buffer size for unread answers, in bytes. It holds about ten thousand answers.
    private static let room = 2 << 20

    /// Returns the Ethernet links that reach at least one of the targets. Returns an empty array if this process may
    /// not send Ethernet frames.
    static func find(_ targets: [ScanTarget]) -> [NeighbourLink] {
        guard let snapshot = try? NetworkSnapshot.current() else { return [] }
        return snapshot.interfaces.compactMap { interface in
            guard interface.isUp, !interface.isLoopback, !interface.isPointToPoint,
                (try? PacketSockets.hardwareType(interface.interface.name)) == 1,
                targets.contains(where: { source(on: interface, toward: $0) != nil })
            else { return nil }
            return try? NeighbourLink(interface)
        }
    }

    private init(_ interface: NetworkSnapshot.Interface) throws(SystemError) {
        let number = UInt32(clamping: interface.link.index)
        guard let hardware = interface.hardwareAddress.flatMap(MACAddress.init) else {
            throw SystemError(errno: ENODEV, call: "hardware address of the interface")
        }
        self.interface = interface
        probes = NeighbourProbes(hardware: hardware)
        sender = try PacketSockets.frames(interface: number)
        var ring = try PacketRing(interface: number, byteCount: Self.room, retireMilliseconds: 1)
        if let program = try? PacketFilter(NeighbourProbes.filter, linkType: .ethernet).kernelProgram {
            try ring.attach(program)
        }
        try ring.start()
        self.ring = ring
    }

    /// Returns the source address for probes of a target; `nil` if the target is not on this link, or is this host.
    func source(toward target: ScanTarget) -> InternetAddress? { Self.source(on: interface, toward: target) }

    private static func source(
        on interface: NetworkSnapshot.Interface, toward target: ScanTarget
    ) -> InternetAddress? {
        var found: InternetAddress?
        for address in interface.addresses {
            switch (address.address, target.address) {
            case (.ipv4(let own), .ipv4(let other)):
                if own == other { return nil }
                let mask = address.prefixLength == 0 ? 0 : UInt32.max << UInt32(32 - min(address.prefixLength, 32))
                if own.bits & mask == other.bits & mask, address.prefixLength > 0 { found = found ?? address.address }
            case (.ipv6(let own), .ipv6(let other)):
                if (own.high, own.low) == (other.high, other.low) { return nil }
                guard other.interface == nil || other.interface?.index == interface.interface.index else { continue }
                // Skip a prefix that is shorter than 64 bits, because an IPv6 prefix on a link has 64 bits (RFC 4291
                // §2.5.1).
                guard address.prefixLength >= 64, address.prefixLength < 128 else { continue }
                let mask = address.prefixLength == 64 ? 0 : UInt64.max << UInt64(128 - address.prefixLength)
                if own.high == other.high, own.low & mask == other.low & mask { found = found ?? address.address }
            default: continue
            }
        }
        return found
    }

    func ask(_ address: InternetAddress, from source: InternetAddress) -> ScanSending {
        guard let frame = probes.request(address, from: source) else { return .answered(.netUnreachable) }
        do {
            _ = try frame.withUnsafeBytes { bytes throws(SystemError) in
                try PacketSockets.send(sender.rawValue, bytes, to: nil)
            }
            return .sent
        } catch { return ScanSending(errno: (error as? SystemError)?.errno ?? EIO) }
    }

    /// Calls `body` with each address that has answered.
    func collect(milliseconds: CInt, _ body: (InternetAddress) -> Void) {
        guard (try? ring.wait(milliseconds: milliseconds)) == true else { return }
        var packet = RingPacket()
        while ring.next(&packet) {
            let bytes = UnsafeRawBufferPointer(start: packet.data, count: Int(packet.captured))
            if let address = probes.answer(ByteView(bytes.bytes)) { body(address) }
        }
    }
}
