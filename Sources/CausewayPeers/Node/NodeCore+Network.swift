internal import Causeway
internal import CausewayPeerProtocols
internal import Dispatch

/// The networks to which this host is connected, including networks without a router.
struct LocalNetwork: Equatable, Sendable {
    /// The path to any destination. It is unsatisfied if there is no router.
    let path: NWPath
    /// The interfaces that carry packets, without loopback.
    let links: [PathQuery.Interface]

    static var current: LocalNetwork {
        let query = PathQuery.everywhere()
        return LocalNetwork(
            path: query.path, links: query.interfaces.filter { $0.isCarrying && $0.interface.type != .loopback })
    }

    /// The interfaces that may lead to a link-local IPv6 address. Interfaces from the network path come first, in the
    /// order of the path. All other interfaces follow.
    var linkLocalInterfaces: [NWInterface] {
        let all = links.filter { $0.addresses.contains(where: Self.isLinkLocal) }.map(\.interface)
        let preferred = path.availableInterfaces.filter(all.contains)
        return preferred + all.filter { !preferred.contains($0) }
    }

    /// Whether an address such as `fe80::1%eth0/64` is a link-local address (RFC 4291 §2.5.6).
    private static func isLinkLocal(_ text: String) -> Bool {
        IPv6Address(String(text.prefix { $0 != "%" && $0 != "/" }))?.isLinkLocal ?? false
    }

    /// Returns whether the networks have changed so that links may break or new links may become possible. While the
    /// path is satisfied, interfaces outside the path do not count, for example interfaces of containers.
    func hasMoved(from old: LocalNetwork) -> Bool {
        path != old.path || (path.status != .satisfied && links != old.links)
    }
}

extension PeerNode {
    /// Observes the network interfaces.
    ///
    /// Observing the path is not enough: without a router the path stays unsatisfied, although addresses change.
    func followNetwork() -> PathQuery.Watch {
        PathQuery.follow { [weak self] in
            guard let queue = self?.queue else { return }
            queue.async { [weak self] in self?.networkChanged() }
        }
    }

    /// Handles a change of the network. Runs on the queue of the node.
    private func networkChanged() {
        let network = LocalNetwork.current
        guard withCore({ core in core.service.network != network }) else { return }
        let addresses = LocalAddresses.current()
        apply { core, now in core.networkChanged(to: network, addresses, at: now) }
    }
}

extension NodeCore {
    fileprivate mutating func networkChanged(to network: LocalNetwork, _ addresses: [[UInt8]], at now: Duration) {
        let old = service.network
        service.network = network
        if service.phase == .settled { mesh.listens(on: service.port, addresses: addresses) }
        if old.map({ network.hasMoved(from: $0) }) ?? true { mesh.networkChanged(at: now) }
    }
}
