internal import CausewayTypes
package import CausewayWire

/// Registers this host's records with a sleep proxy, which answers for the host while it sleeps.
///
/// While the host is awake, the client looks for sleep proxies on the link. Just before the host sleeps, it sends the
/// records to the best proxy in a DNS update (RFC 2136). The update has an owner option (``DNSOwner``), which describes
/// how to wake the host, and a lease time (RFC 9664). The client then reports whether a proxy accepted the records. If
/// none did, the host must send goodbye packets.
///
/// The client does no I/O and reads no clock. The code that runs the client performs its actions, passes answers and
/// replies to it, and calls ``advance(to:)`` at ``deadline``.
package struct SleepProxyClient: Sendable {
    package enum Action: Equatable, Sendable {
        case ask(DNSQuestion)
        case stop(DNSQuestion)
        case send([UInt8], to: MulticastPeer)
        /// A proxy accepted all records. It answers queries for them until the host wakes or the lease ends.
        case registered(leaseSeconds: UInt32)
        /// No proxy accepted the records, or no proxy is known.
        case failed
    }

    /// What a host registers with a sleep proxy: its records, and the owner option. The owner option states how to wake
    /// the host.
    package struct Registration: Sendable {
        package var records: [DNSRecord]
        package var owner: DNSOwner

        package init(_ records: [DNSRecord], of owner: DNSOwner) {
            self.records = records
            self.owner = owner
        }
    }

    package static let type: DNSName = "_sleep-proxy._udp.local"
    /// The lease time, in seconds, that the host requests from the proxy. It is long, because the host cannot renew the
    /// lease while it sleeps.
    package static let leaseSeconds: UInt32 = 86_400
    /// Maximum number of known proxies. If the list is full, a better proxy replaces the worst one.
    static let proxyLimit = 64
    /// Maximum number of proxies whose addresses are queried, the best proxies first.
    static let locatedLimit = 16
    /// Maximum number of sleep proxies to try. If none of them accepts the records, the host sleeps without a proxy.
    static let attemptLimit = 2
    /// Retransmission interval. It is short, because the host is about to sleep.
    static let retryInterval: Duration = .milliseconds(100)
    /// Maximum number of transmissions per proxy.
    static let sendLimit = 3
    /// Maximum number of update messages. Sending more would take too long.
    static let messageLimit = 64

    private(set) var proxies = SleepProxyList()
    private var conversation: SleepProxyConversation?
    /// The sleep proxies that were already tried for this registration.
    private var tried: Set<MulticastPeer> = []
    private var actions: [Action] = []
    private var isStarted = false
    /// Maximum message size in bytes.
    package var messageByteLimit = MulticastDNS.messageByteLimit
    private var random: any RandomNumberGenerator & Sendable

    package init(random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.random = random
    }

    /// Starts the query for sleep proxies. Later calls have no effect.
    package mutating func start() {
        guard !isStarted else { return }
        isStarted = true
        actions.append(.ask(DNSQuestion(Self.type, .ptr)))
    }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// The addresses of the known sleep proxies, best first.
    package var reachable: [MulticastPeer] { proxies.reachable }

    /// Processes records that were added to and removed from a question's answers.
    package mutating func changed(_ question: DNSQuestion, added: [DNSRecord], removed: [DNSRecord]) {
        proxies.changed(question, added: added, removed: removed, &actions)
    }

    // MARK: Sleep

    /// Registers the records before the host sleeps. The action `registered` or `failed` reports the result. Without a
    /// known proxy, `failed` is available when this method returns.
    package mutating func sleep(_ registration: Registration, at now: Duration) {
        guard conversation == nil else { return }
        tried = []
        converse(registration, at: now)
    }

    /// Abandons a pending registration, because the host is awake again.
    package mutating func wake() { conversation = nil }

    /// Sends the registration to the best proxy that was not tried yet. Reports failure if there is none.
    private mutating func converse(_ registration: Registration, at now: Duration) {
        conversation = nil
        guard tried.count < Self.attemptLimit, let peer = reachable.first(where: { !tried.contains($0) }),
            let messages = SleepProxyUpdate.messages(registration, limit: messageByteLimit, using: &random)
        else { return actions.append(.failed) }
        tried.insert(peer)
        let begun = SleepProxyConversation(registration, with: peer, messages, at: now)
        actions += begun.transmissions
        conversation = begun
    }

    /// Processes a message from the proxy. Ignores malformed messages, and messages from other peers. If the proxy
    /// replies with an error, tries the next proxy.
    package mutating func received(_ bytes: Span<UInt8>, from peer: MulticastPeer, at now: Duration) {
        guard let registration = conversation?.registration, let outcome = conversation?.received(bytes, from: peer)
        else { return }
        switch outcome {
        case .pending: break
        case .refused: converse(registration, at: now)
        case .registered(let leaseSeconds):
            conversation = nil
            actions.append(.registered(leaseSeconds: leaseSeconds))
        }
    }

    // MARK: Time

    package var deadline: Duration? { conversation?.due }

    package mutating func advance(to now: Duration) {
        guard let waiting = conversation, waiting.due <= now else { return }
        guard conversation?.retry(at: now) == true else { return converse(waiting.registration, at: now) }
        actions += waiting.transmissions
    }
}

extension SleepProxyClient: QueueingMachine {
    package var hasEnded: Bool { false }
}
