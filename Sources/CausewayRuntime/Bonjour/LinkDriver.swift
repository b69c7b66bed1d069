internal import CausewayBonjourProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Runs multicast DNS on one interface: owns the state machine, the sockets and the interface's addresses.
///
/// Confined to the engine's loop.
final class LinkDriver {
    let interface: NWInterface
    var machine = MulticastLink()
    private(set) var addresses: [NetlinkAddress]
    /// All addresses of this host, including those of other interfaces, because two interfaces may be on the same link.
    var hostAddresses: Set<InternetAddress> = []
    private var sockets: [MulticastSocket] = []
    /// Whether a socket could not be opened because there were not enough descriptors or memory.
    private(set) var lacksSocket = false
    /// Limits the send rate.
    private var pacer = PacketPacer()
    /// Received responses that wait to be processed.
    private var inbox = MulticastInbox()
    /// The maximum number of responses to process before the loop handles other events.
    private static let readingBudget = 128
    /// Whether the host's own name is registered on this interface.
    var hasHost = false
    /// The interface's hardware address; `nil` if it has none.
    let hardwareAddress: LinkAddress?
    /// A random number for forwarded messages. It identifies the process and the link from which a message comes.
    private let origin = UInt64.random(in: .min ... .max)
    /// The sleep proxy client; `nil` if sleep proxies are not used.
    var sleepProxy: SleepProxyLink?

    init(_ facts: NetworkSnapshot.Interface) {
        interface = facts.interface
        addresses = facts.addresses
        hardwareAddress = LinkAddress(facts.link.hardwareAddress).flatMap { $0.bits == 0 ? nil : $0 }
    }

    /// Adopts the interface's new state. Keeps one socket open for each address family of the interface.
    ///
    /// - Parameter open: Opens the sockets.
    /// - Returns: Whether the advertised addresses have changed.
    func adopt(
        _ facts: NetworkSnapshot.Interface, _ loop: any EventLoop, _ receiver: any MulticastSocket.Receiver,
        by open: MulticastSocket.Opener
    ) -> Bool {
        // Compare the advertised records instead of the addresses: a deprecated address stays on the interface, but its
        // record is no longer advertised.
        let isChanged =
            Self.addressRecords(of: .local, at: facts.addresses) != Self.addressRecords(of: .local, at: addresses)
        addresses = facts.addresses
        lacksSocket = false
        for family in [SocketAddress.Family.ipv4, .ipv6] {
            let isWanted = addresses.contains { $0.address.socketFamily == family }
            if isWanted == sockets.contains(where: { $0.family == family }) { continue }
            if isWanted {
                do throws(SystemError) {
                    sockets.append(try open(family, interface.index, loop, receiver))
                } catch {
                    // If the system lacks resources, try again later. After any other error, try again at the next
                    // network change.
                    if error.isShortage { lacksSocket = true }
                }
            } else {
                for socket in sockets where socket.family == family { socket.close() }
                sockets.removeAll { $0.family == family }
            }
        }
        machine.familyCount = max(1, sockets.count)
        machine.isOneShot = sockets.contains(where: \.isOneShot)
        // A packet must have room for the DNS message and for the IPv6 and UDP headers (RFC 6762 §17).
        let room = (facts.mtu ?? 1_500) - 60
        machine.messageByteLimit = min(max(room, 1_220), MulticastDNS.messageByteLimit)
        return isChanged
    }

    var isOpen: Bool { !sockets.isEmpty }

    /// Whether queries from other hosts can arrive.
    var canAnswer: Bool { !sockets.allSatisfy(\.isOneShot) }

    func close() {
        flush(all: true)
        sleepProxy?.hangUp()
        for socket in sockets { socket.close() }
        sockets = []
    }

    /// Queues a message to the multicast group, for all address families.
    func send(_ bytes: [UInt8]) { pacer.add(bytes) }

    /// Sends as many queued messages as the rate limit permits. If `all` is set, sends every message.
    func flush(all: Bool = false) {
        let now = System.now
        for (bytes, peer) in all ? pacer.takeAll(at: now) : pacer.takeActions(dueAt: now) {
            let address = peer.map { SocketAddress($0, on: interface) }
            for socket in sockets where address == nil || address?.family == socket.family {
                socket.send(bytes, to: address ?? MulticastSocket.group(socket.family, on: interface.index))
            }
        }
    }

    /// The time span after boot in which the machine starts its services.
    private static let startingTime: Duration = .seconds(120)

    /// Estimates when the link came up. Many hosts send shortly after that time, so this host then distributes its
    /// random delays uniformly. The kernel usually adds an address when the link comes up. So the estimate is based on
    /// the age of the newest address. An address without a creation time counts as new.
    static func upheaval(of addresses: [NetlinkAddress], at now: Duration) -> Duration {
        guard now >= startingTime else { return now }
        let hundredths = UInt32(truncatingIfNeeded: Int64(now / .milliseconds(10)))
        let youngest = addresses.map { address -> UInt32 in
            let age = address.created.map { hundredths &- $0 } ?? 0
            // The kernel's clock for creation times differs slightly from the clock for `now`. An address that seems to
            // be created in the near future counts as new.
            return age > .max - 6_000 ? 0 : age
        }.min()
        return now - .milliseconds(10) * Int64(youngest ?? 0)
    }

    // MARK: Receiving

    /// Processes a received message, or a message forwarded by another process on this host.
    func take(_ bytes: UnsafeRawBufferPointer, _ peer: SocketAddress, isMulticast: Bool) {
        guard let (arrival, isSelf) = arrival(from: peer, isMulticast: isMulticast) else { return }
        bytes.withMemoryRebound(to: UInt8.self) { bytes in
            if isMulticast, isSelf, let forwarded = ForwardedMessage(parsing: bytes.span) {
                let peer = SocketAddress(forwarded.peer, on: interface)
                guard forwarded.origin != origin, let sender = self.arrival(from: peer, isMulticast: false) else {
                    return
                }
                return take(forwarded.message.span, sender.0, isSelf: sender.isSelf)
            }
            if !isMulticast { forward(bytes.span, arrival, peer.family) }
            take(bytes.span, arrival, isSelf: isSelf)
        }
    }

    /// Handles a received message. Answers queries at once, queues responses, and drops irrelevant messages.
    private func take(_ bytes: Span<UInt8>, _ arrival: MulticastArrival, isSelf: Bool) {
        let now = System.now
        switch machine.interest(in: bytes, arrival, isSelf: isSelf, at: now) {
        case .none: break
        case .question: machine.received(bytes, arrival, isSelf: isSelf, at: now)
        case .answer:
            guard inbox.hasRoom(for: bytes.count, from: arrival.peer.address) else { return }
            inbox.add(MulticastInbox.Message(bytes.indices.map { bytes[$0] }, arrival, isSelf: isSelf))
        }
    }

    /// Forwards a unicast message to the other processes on this host, because the kernel delivers it to only one of
    /// the sockets that share the port (RFC 6762 §15.1).
    private func forward(_ bytes: Span<UInt8>, _ arrival: MulticastArrival, _ family: SocketAddress.Family) {
        // Forward a unicast message only if other processes share the port. Do not forward a message from beyond the
        // link, because every process ignores such messages.
        guard arrival.isOnLink, machine.hasSiblings || !machine.acceptsUnicast,
            let message = ForwardedMessage(bytes, from: arrival.peer, origin: origin)
        else { return }
        for socket in sockets where socket.family == family { socket.sendToHost(message.encoded) }
    }

    /// Checks whether the kernel has resolved the peer's link-layer address. If not, informs the state machine, because
    /// packets to this peer cannot be sent yet.
    func checkNeighbour(_ peer: MulticastPeer) {
        guard var socket = try? NetlinkSocket(),
            let neighbour = try? socket.neighbour(peer.address, on: interface.index), !neighbour.isResolved
        else { return }
        machine.neighbourUnresolved(peer, at: System.now)
    }

    /// Processes a limited number of queued responses. Returns whether more responses are queued.
    func readAnswers() -> Bool {
        for _ in 0..<Self.readingBudget {
            guard let message = inbox.next() else { return false }
            machine.received(message.bytes.span, message.arrival, isSelf: message.isSelf, at: System.now)
        }
        return !inbox.isEmpty
    }

    /// Whether messages must still be sent before the link can be closed.
    var isBusy: Bool { machine.isDeparting || !pacer.isEmpty }

    var nextDeadline: Duration? {
        [machine.deadline, pacer.deadline, sleepProxy?.client.deadline].compactMap { $0 }.min()
    }

    /// Queues a unicast message. The rate limit applies too, because thousands of answers may go to one peer.
    func send(_ bytes: [UInt8], to peer: MulticastPeer) { pacer.add(bytes, to: peer) }

    /// Describes for the state machine where a received message came from. `isSelf` is set if this host sent the
    /// message. Returns `nil` if the sender's address cannot be used.
    func arrival(from peer: SocketAddress, isMulticast: Bool) -> (MulticastArrival, isSelf: Bool)? {
        guard let sender = MulticastPeer(peer) else { return nil }
        let isOnLink = addresses.contains { own in
            sender.address.isInside(own.address, length: own.prefixLength)
        }
        let isSelf = hostAddresses.contains(sender.address)
        return (MulticastArrival(from: sender, isMulticast: isMulticast, isOnLink: isOnLink || isSelf), isSelf)
    }

    /// Returns this host's address records on this link.
    func addressRecords(of host: DNSName) -> [DNSRecord] { Self.addressRecords(of: host, at: addresses) }

    /// Returns the address records that other hosts on the link can use (RFC 6762 §6.2). Link-local IPv4 addresses are
    /// included only if there is no routable address (RFC 3927 §1.9).
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
