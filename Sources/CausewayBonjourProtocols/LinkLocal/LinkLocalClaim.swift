package import CausewayTypes
package import CausewayWire

/// Chooses a link-local IPv4 address without a server and defends it against other hosts (RFC 3927).
///
/// This type does no I/O and reads no clock. The code that runs it reports the link state, packets and the time,
/// performs the returned actions, and calls ``advance(to:)`` at ``deadline``. Early, late and repeated calls are
/// harmless.
package struct LinkLocalClaim: Sendable {
    package enum Action: Equatable, Sendable {
        /// Broadcast this message on the link.
        case send(ARPMessage)
        /// Add the address to the interface, because it is free.
        case assign(IPv4Address)
        /// Remove the address from the interface.
        case release(IPv4Address, Reason)
        /// Mark the address as preferred, or as deprecated: existing connections keep a deprecated address, but new
        /// connections do not use it (RFC 3927 §1.9).
        case prefer(IPv4Address, Bool)
        /// Another host uses the probed address. The next candidate is probed.
        case conflicted(IPv4Address, with: LinkAddress)
    }

    package enum Reason: Equatable, Sendable {
        case conflict(LinkAddress)
        case linkWentDown
        case ended
    }

    private struct Probing: Sendable {
        var address: IPv4Address
        var sent = 0
        var next: Duration
    }

    private struct Holding: Sendable {
        var address: IPv4Address
        var since: Duration
        var announced = 0
        var next: Duration?
        var lastConflict: Duration?
        var lastAnswer: Duration?
        var isPreferred = true
    }

    private enum State: Sendable {
        /// No link-local address is needed now: the link is down, or the interface has routable addresses.
        case waiting
        case probing(Probing)
        case holding(Holding)
        case ended
    }

    // Constants from RFC 3927 §9.
    private static let firstWait: Range<Duration> = .zero..<Duration.seconds(1)
    private static let probeCount = 3
    private static let probeSpacing: Range<Duration> = .seconds(1)..<Duration.seconds(2)
    private static let lastWait: Duration = .seconds(2)
    private static let announcementCount = 2
    private static let announcementSpacing: Duration = .seconds(2)
    private static let conflictLimit = 10
    private static let slowInterval: Duration = .seconds(60)
    private static let defenceInterval: Duration = .seconds(10)
    /// Minimum time between two ARP replies by broadcast. A request that arrives earlier is still answered by unicast,
    /// because the kernel itself replies to each ARP request.
    private static let answerSpacing: Duration = .seconds(1)

    private let link: LinkAddress
    private var candidates: LinkLocalCandidates
    /// The first address to probe. This is the host's previous address, from the time before the link went down or from
    /// an earlier run.
    private var remembered: IPv4Address?
    private var state: State = .waiting
    private var conflicts = 0
    /// When the first probe for the latest candidate was sent.
    private var lastStart: Duration?
    private var random: any RandomNumberGenerator & Sendable

    /// - Parameter remembered: This host's previous address. It is used only if it is a valid candidate.
    package init(
        _ link: LinkAddress, remembered: IPv4Address? = nil,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.link = link
        self.random = random
        candidates = LinkLocalCandidates(link)
        self.remembered = remembered.flatMap { LinkLocalCandidates.contains($0) ? $0 : nil }
    }

    /// The claimed address; `nil` if there is none.
    package var address: IPv4Address? {
        if case .holding(let holding) = state { holding.address } else { nil }
    }

    /// The address being probed; `nil` if there is none.
    package var candidate: IPv4Address? {
        if case .probing(let probing) = state { probing.address } else { nil }
    }

    // MARK: The link

    /// - Parameter hasRoutable: Whether the interface has an IPv4 address that is valid beyond the link.
    package mutating func linkChanged(isUp: Bool, hasRoutable: Bool, at now: Duration) -> [Action] {
        switch state {
        case .ended: return []
        case .waiting:
            if isUp, !hasRoutable { begin(at: now) }
            return []
        case .probing(let probing):
            if isUp, !hasRoutable { return [] }
            remembered = probing.address
            state = .waiting
            return []
        case .holding(var holding):
            guard isUp else {
                // The host may now be attached to another link, where another host may use the address. So the address
                // must be probed again (RFC 3927 §2.2).
                remembered = holding.address
                state = .waiting
                return [.release(holding.address, .linkWentDown)]
            }
            guard holding.isPreferred == hasRoutable else { return [] }
            holding.isPreferred = !hasRoutable
            state = .holding(holding)
            return [.prefer(holding.address, holding.isPreferred)]
        }
    }

    /// Releases the address. All later events are ignored.
    package mutating func end() -> [Action] {
        defer { state = .ended }
        return address.map { [.release($0, .ended)] } ?? []
    }

    /// Starts probing: the remembered address first, then the candidates in order.
    private mutating func begin(at now: Duration) {
        let address = remembered.take() ?? candidates.next()
        var start = now
        // After ten conflicts, probe one address per minute: a host may be answering for every address (RFC 3927 §2.2.1).
        if conflicts >= Self.conflictLimit, let lastStart { start = max(now, lastStart + Self.slowInterval) }
        state = .probing(Probing(address: address, next: start + .random(in: Self.firstWait, using: &random)))
    }

    // MARK: Packets

    /// Processes a packet. Invalid packets are ignored.
    package mutating func received(_ packet: ARPMessage, at now: Duration) -> [Action] {
        // Ignore packets with this host's hardware address, because some switches send a host's own packets back to it.
        guard packet.senderLink != link else { return [] }
        switch state {
        case .waiting, .ended: return []
        case .probing(let probing):
            let isProbe = packet.operation == .request && packet.sender.bits == 0
            guard packet.sender == probing.address || (isProbe && packet.target == probing.address) else { return [] }
            conflicts += 1
            begin(at: now)
            return [.conflicted(probing.address, with: packet.senderLink)]
        case .holding(var holding):
            if packet.sender == holding.address { return defend(holding, from: packet.senderLink, at: now) }
            guard packet.operation == .request, packet.target == holding.address,
                holding.lastAnswer.map({ now - $0 >= Self.answerSpacing }) ?? true
            else { return [] }
            holding.lastAnswer = now
            state = .holding(holding)
            // Broadcast the reply. Another host that uses this address then detects the conflict (RFC 3927 §2.5).
            return [
                .send(
                    ARPMessage(
                        .reply, senderLink: link, sender: holding.address, targetLink: packet.senderLink,
                        target: packet.sender))
            ]
        }
    }

    /// Defends the address after the first conflict. Releases it after a second conflict within ten seconds (RFC 3927 §2.5).
    private mutating func defend(_ holding: Holding, from other: LinkAddress, at now: Duration) -> [Action] {
        var holding = holding
        if let last = holding.lastConflict, now - last < Self.defenceInterval {
            conflicts += 1
            begin(at: now)
            return [.release(holding.address, .conflict(other))]
        }
        holding.lastConflict = now
        state = .holding(holding)
        return [announcement(of: holding.address)]
    }

    private func announcement(of address: IPv4Address) -> Action {
        .send(ARPMessage(.request, senderLink: link, sender: address, target: address))
    }

    // MARK: Time

    package var deadline: Duration? {
        switch state {
        case .probing(let probing): probing.next
        case .holding(let holding): holding.next
        case .waiting, .ended: nil
        }
    }

    package mutating func advance(to now: Duration) -> [Action] {
        switch state {
        case .waiting, .ended: return []
        case .probing(let probing): return now < probing.next ? [] : probe(probing, at: now)
        case .holding(let holding):
            guard let next = holding.next, now >= next else { return [] }
            return announce(holding, at: now)
        }
    }

    private mutating func probe(_ probing: Probing, at now: Duration) -> [Action] {
        var probing = probing
        guard probing.sent < Self.probeCount else {
            return [.assign(probing.address)] + announce(Holding(address: probing.address, since: now), at: now)
        }
        if probing.sent == 0 { lastStart = now }
        probing.sent += 1
        let isLast = probing.sent == Self.probeCount
        probing.next = now + (isLast ? Self.lastWait : .random(in: Self.probeSpacing, using: &random))
        state = .probing(probing)
        return [.send(ARPMessage(.request, senderLink: link, sender: IPv4Address(bits: 0), target: probing.address))]
    }

    /// Sends an announcement of the address. The first two calls send one announcement each.
    ///
    /// The third call follows 60 seconds after the address was claimed. It sends nothing, and resets the conflict
    /// counter.
    private mutating func announce(_ holding: Holding, at now: Duration) -> [Action] {
        var holding = holding
        guard holding.announced < Self.announcementCount else {
            conflicts = 0
            holding.next = nil
            state = .holding(holding)
            return []
        }
        holding.announced += 1
        let isLast = holding.announced == Self.announcementCount
        holding.next = isLast ? holding.since + Self.slowInterval : now + Self.announcementSpacing
        state = .holding(holding)
        return [announcement(of: holding.address)]
    }
}

extension LinkLocalClaim: ReturningMachine {
    package var hasEnded: Bool {
        if case .ended = state { true } else { false }
    }
}
