internal import Causeway
internal import CausewayPeerProtocols
package import Dispatch

/// A browser event.
package enum BrowserEvent: Sendable {
    case started
    case failed(PeerFailure)
    /// A peer appeared, or its TXT record changed. The dictionary contains the keys and values in the record. The
    /// peer's program chose them.
    case found(PeerIdentity, [String: String])
    case lost(PeerIdentity)
}

extension PeerNode {
    /// Browses for peers that advertise a service type such as `abc-chat`. Events run on `queue`.
    package func browse(
        _ service: String, queue: DispatchQueue? = nil, _ handler: @escaping @Sendable (BrowserEvent) -> Void
    ) -> PeerBrowse {
        let parameters = NWParameters()
        parameters.includePeerToPeer = true
        let browser = NWBrowser(
            for: .bonjourWithTXTRecord(type: "_\(service.lowercased())._tcp", domain: nil), using: parameters)
        let browse = PeerBrowse(self, browser, queue ?? DispatchQueue(label: "causeway.peers.browser"), handler)
        browse.start()
        return browse
    }
}

/// A running browser. It ends when it is stopped or released.
///
/// A peer is found once, even if it is seen on several interfaces and in several instances. A peer is lost when none of
/// its instances is left. The local peer is left out, and so are instances without a peer's record, such as instances
/// of Apple's framework.
package final class PeerBrowse: Sendable {
    private struct State {
        var handler: (@Sendable (BrowserEvent) -> Void)?
        /// The announcement that the program knows of each found peer. This is the latest one that was reported.
        var told: [PeerIdentity: PeerAnnouncement] = [:]
        var choice = InstanceChoice<NWEndpoint>()
    }

    private let node: PeerNode
    private let browser: NWBrowser
    private let queue: DispatchQueue
    private let state: LockedValue<State>

    init(
        _ node: PeerNode, _ browser: NWBrowser, _ queue: DispatchQueue,
        _ handler: @escaping @Sendable (BrowserEvent) -> Void
    ) {
        self.node = node
        self.browser = browser
        self.queue = queue
        state = LockedValue(State(handler: handler))
    }

    deinit { browser.cancel() }

    fileprivate func start() {
        browser.stateUpdateHandler = { [weak self] new in
            switch new {
            case .ready: self?.post(.started)
            case .failed(let error): self?.post(.failed(PeerFailure(.network, "\(error)")))
            case .setup, .waiting, .cancelled: break
            @unknown default: break
            }
        }
        browser.browseResultsChangedHandler = { [weak self] results, _ in self?.update(results) }
        browser.start(queue: queue)
    }

    /// Stops browsing. No event starts after the call has returned.
    package func stop() {
        let handler = state.withLock { $0.handler.take() }
        browser.cancel()
        withExtendedLifetime(handler) {}
    }

    private func post(_ event: BrowserEvent) { state.withLock { $0.handler }?(event) }

    /// Returns the peer's announcement from a browse result. Returns `nil` if the result does not describe a peer, or
    /// if this peer cannot invite the found peer.
    private func announcement(_ result: NWBrowser.Result) -> PeerAnnouncement? {
        // Leave out peers with the same ID as the local peer, because they cannot be invited. This also leaves out the
        // local peer itself.
        guard case .bonjour(let record) = result.metadata, let announcement = PeerAnnouncement(record),
            announcement.peer.key.id != node.local.peer.id
        else { return nil }
        return announcement
    }

    /// Updates the known services from new browse results. Runs on the program's queue.
    private func update(_ results: Set<NWBrowser.Result>) {
        var choice = state.withLock { $0.choice }
        let instances = choice.update(results, key: { $0.endpoint }, value: { announcement($0) })
        for (endpoint, announcement) in instances { node.learn(endpoint, of: PeerIdentity(announcement.peer)) }
        let newChoice = choice
        var events: [BrowserEvent] = []
        state.withLock { state in
            state.choice = newChoice
            let current = Dictionary(
                instances.values.map { (PeerIdentity($0.peer), $0) },
                uniquingKeysWith: { first, second in
                    // If a peer has two service instances, keep the instance that was reported earlier. Otherwise the
                    // choice could change back and forth between the two instances.
                    state.told[PeerIdentity(first.peer)] == second ? second : first
                })
            for (peer, announcement) in current where state.told[peer] != announcement {
                events.append(.found(peer, announcement.info))
            }
            for peer in state.told.keys where current[peer] == nil { events.append(.lost(peer)) }
            state.told = current
        }
        events.forEach(post)
    }
}

/// Chooses at most 1,024 service instances that a browser shows.
///
/// A shown instance stays until it is gone. Otherwise a flood of instances would hide different known peers after each
/// change. These peers would be lost and found again and again.
struct InstanceChoice<Key: Hashable & Sendable>: Sendable {
    static var limit: Int { 1_024 }

    private var shown: Set<Key> = []

    /// Selects the service instances that the program sees. Returns their values by key.
    ///
    /// - Parameters:
    ///   - found: All instances that were found.
    ///   - key: Returns the key that identifies an instance.
    ///   - value: Returns an instance's value. Returns `nil` if the instance is not a peer.
    mutating func update<Instance, Value>(
        _ found: some Collection<Instance>, key: (Instance) -> Key, value: (Instance) -> Value?
    ) -> [Key: Value] {
        var chosen: [Key: Value] = [:]
        for isShown in [true, false] {
            for instance in found where chosen.count < Self.limit && shown.contains(key(instance)) == isShown {
                chosen[key(instance)] = value(instance)
            }
        }
        shown = Set(chosen.keys)
        return chosen
    }
}
