internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Multicast DNS on one interface: its machine, its sockets, and the addresses that it has there.
///
/// Confined to the engine's loop.
final class LinkDriver {
    let interface: NWInterface
    var machine = MulticastLink()
    private(set) var addresses: [NetlinkAddress]
    /// All addresses of the host, those of its other links too: two of them may be on one wire.
    var hostAddresses: Set<InternetAddress> = []
    private var sockets: [MulticastSocket] = []
    /// Messages that wait for their turn to be sent.
    private var pacer = PacketPacer()
    /// And answers that wait for theirs to be read.
    private var inbox = MulticastInbox()
    /// Answers read in one turn of the loop.
    private static let readingBudget = 128
    /// Whether the host's own name is registered here.
    var hasHost = false
    /// By which the interface is known on the link; `nil` for those without.
    let hardwareAddress: LinkAddress?
    /// Where sleep proxies are used: finds them, and speaks to them.
    var sleepProxy: SleepProxyLink?

    init(_ facts: NetworkSnapshot.Interface) {
        interface = facts.interface
        addresses = facts.addresses
        hardwareAddress = LinkAddress(facts.link.hardwareAddress).flatMap { $0.bits == 0 ? nil : $0 }
    }

    /// Opens and closes sockets until they are those of the families that the interface has addresses of. Returns whether the
    /// addresses are others than before.
    func adopt(
        _ facts: NetworkSnapshot.Interface, _ loop: any EventLoop, _ receiver: any MulticastSocket.Receiver
    ) -> Bool {
        // An address that is preferred no more is told to nobody, as one that is gone.
        let isChanged =
            Self.addressRecords(of: .local, at: facts.addresses) != Self.addressRecords(of: .local, at: addresses)
        addresses = facts.addresses
        for family in [SocketAddress.Family.ipv4, .ipv6] {
            let isWanted = addresses.contains { $0.address.socketFamily == family }
            if isWanted == sockets.contains(where: { $0.family == family }) { continue }
            if isWanted {
                open(family, loop, receiver)
            } else {
                for socket in sockets where socket.family == family { socket.close() }
                sockets.removeAll { $0.family == family }
            }
        }
        machine.familyCount = max(1, sockets.count)
        machine.isOneShot = sockets.contains(where: \.isOneShot)
        // Room for the headers of IPv6 and UDP (RFC 6762 §17).
        let room = (facts.mtu ?? 1_500) - 60
        machine.messageByteLimit = min(max(room, 1_220), MulticastDNS.messageByteLimit)
        return isChanged
    }

    private func open(
        _ family: SocketAddress.Family, _ loop: any EventLoop, _ receiver: any MulticastSocket.Receiver
    ) {
        // What cannot be opened now is tried again at the next change of the network.
        guard let socket = try? MulticastSocket(family, on: interface.index, loop, receiver),
            (try? socket.start()) != nil
        else { return }
        sockets.append(socket)
    }

    var isOpen: Bool { !sockets.isEmpty }

    /// Whether others' questions arrive here.
    var canAnswer: Bool { !sockets.allSatisfy(\.isOneShot) }

    func close() {
        flush(all: true)
        sleepProxy?.hangUp()
        for socket in sockets { socket.close() }
        sockets = []
    }

    /// Sends to the group in every family, now or when its turn comes.
    func send(_ bytes: [UInt8]) { pacer.add(bytes) }

    /// Sends what may go now. What waits goes when the link is left, else it would be lost.
    func flush(all: Bool = false) {
        var messages = pacer.take(at: System.now)
        while all, !pacer.isEmpty { messages += pacer.take(at: System.now + .seconds(1)) }
        for (bytes, peer) in messages {
            let address = peer.map { SocketAddress($0, on: interface) }
            for socket in sockets where address == nil || address?.family == socket.family {
                socket.send(bytes, to: address ?? MulticastSocket.group(socket.family, on: interface.index))
            }
        }
    }

    /// After this time what was to begin with the machine has begun.
    private static let startingTime: Duration = .seconds(120)

    /// When something happened that many hosts of the link may have noticed, as far as the addresses of the interface tell: those that come
    /// with it, or from a server on it, are as old as it has been up. What has no time has just come.
    static func upheaval(of addresses: [NetlinkAddress], at now: Duration) -> Duration {
        guard now >= startingTime else { return now }
        let hundredths = UInt32(truncatingIfNeeded: Int64(now / .milliseconds(10)))
        let youngest = addresses.map { address -> UInt32 in
            let age = address.created.map { hundredths &- $0 } ?? 0
            // The kernel's ticks and the clock are not quite one: a time that is about to come is now.
            return age > .max - 6_000 ? 0 : age
        }.min()
        return now - .milliseconds(10) * Int64(youngest ?? 0)
    }

    // MARK: Receiving

    /// Takes what came: questions are read at once, answers when it is their turn, and the rest not at all.
    func take(_ bytes: UnsafeRawBufferPointer, _ peer: SocketAddress, isMulticast: Bool) {
        guard let (arrival, isSelf) = arrival(from: peer, isMulticast: isMulticast) else { return }
        bytes.withMemoryRebound(to: UInt8.self) { bytes in
            let now = System.now
            switch machine.interest(in: bytes.span, arrival, isSelf: isSelf, at: now) {
            case .none: break
            case .question: machine.received(bytes.span, arrival, isSelf: isSelf, at: now)
            case .answer:
                guard inbox.hasRoom(for: bytes.count, from: arrival.peer.address) else { return }
                inbox.add(MulticastInbox.Message(Array(bytes), arrival, isSelf: isSelf))
            }
        }
    }

    /// Reads some of the answers that wait. Returns whether more of them do.
    func readAnswers() -> Bool {
        for _ in 0..<Self.readingBudget {
            guard let message = inbox.next() else { return false }
            machine.received(message.bytes.span, message.arrival, isSelf: message.isSelf, at: System.now)
        }
        return !inbox.isEmpty
    }

    /// Whether something is still to be said before the link may be left.
    var isBusy: Bool { machine.isDeparting || !pacer.isEmpty }

    var nextDeadline: Duration? {
        [machine.nextDeadline, pacer.nextDeadline, sleepProxy?.client.nextDeadline].compactMap { $0 }.min()
    }

    /// Sends to one peer alone: at the same pace, for thousands of answers can be for one.
    func send(_ bytes: [UInt8], to peer: MulticastPeer) { pacer.add(bytes, to: peer) }

    /// How a message came, as the machine wants to know it.
    func arrival(from peer: SocketAddress, isMulticast: Bool) -> (MulticastArrival, isSelf: Bool)? {
        guard let sender = MulticastPeer(peer) else { return nil }
        let isOnLink = addresses.contains { own in
            sender.address.isInside(own.address, length: own.prefixLength)
        }
        let isSelf = hostAddresses.contains(sender.address)
        return (MulticastArrival(from: sender, isMulticast: isMulticast, isOnLink: isOnLink || isSelf), isSelf)
    }

    /// The host's address records here.
    func addressRecords(of host: DNSName) -> [DNSRecord] { Self.addressRecords(of: host, at: addresses) }

    /// Those that others on the link can use (RFC 6762 §6.2); link-local ones of IPv4 only where there is no better one
    /// (RFC 3927 §1.9).
    static func addressRecords(of host: DNSName, at addresses: [NetlinkAddress]) -> [DNSRecord] {
        let usable = addresses.filter { $0.flags.isDisjoint(with: [.tentative, .duplicate, .deprecated]) }
        let hasRoutable = usable.contains { own in
            if case .ipv4(let address) = own.address { !address.isLinkLocal } else { false }
        }
        return usable.compactMap { own in
            if hasRoutable, case .ipv4(let address) = own.address, address.isLinkLocal { return nil }
            let time = MulticastDNS.hostTimeToLive
            switch own.address {
            case .ipv4(let address):
                return DNSRecord(host, .a, flushesCache: true, timeToLive: time, .ipv4(IPv4Address(bits: address.bits)))
            case .ipv6(let address):
                let bare = IPv6Address(high: address.high, low: address.low)
                return DNSRecord(host, .aaaa, flushesCache: true, timeToLive: time, .ipv6(bare))
            }
        }
    }
}

extension InternetAddress {
    var socketFamily: SocketAddress.Family {
        switch self {
        case .ipv4: .ipv4
        case .ipv6: .ipv6
        }
    }
}

extension MulticastPeer {
    init?(_ address: SocketAddress) {
        switch address {
        case .ipv4(let bits, let port): self.init(.ipv4(IPv4Address(bits: bits)), port: port)
        case .ipv6(let high, let low, let port, _): self.init(.ipv6(IPv6Address(high: high, low: low)), port: port)
        case .unix: return nil
        }
    }
}

extension SocketAddress {
    init(_ peer: MulticastPeer, on interface: NWInterface) {
        switch peer.address {
        case .ipv4(let address): self = .ipv4(bits: address.bits, port: peer.port)
        case .ipv6(let address):
            let scope = address.isLinkLocal ? UInt32(truncatingIfNeeded: interface.index) : 0
            self = .ipv6(high: address.high, low: address.low, port: peer.port, scope: scope)
        }
    }
}
