internal import Causeway
internal import CausewayPeerProtocols
internal import Dispatch
internal import Foundation

extension NodeCore {
    /// Opens the node's listener, once. It advertises no service: peers learn its port from links and introductions.
    mutating func listen() {
        guard service.phase == .idle else { return }
        service.phase = .starting
        request(.listen)
    }

    /// Records that the listener has a port, or that it could not be opened (port 0).
    ///
    /// Without a listener, the node connects only to peers that it dials.
    ///
    /// - Returns: The closures that waited for the port. They have now run. Release them after the lock is free,
    ///   because they may hold the last references to the program's objects.
    fileprivate mutating func listens(on port: UInt16, _ addresses: [[UInt8]], at now: Duration) -> [Waiting] {
        service.phase = .settled
        service.port = port
        mesh.listens(on: port, addresses: addresses)
        let waiting = service.waiting
        service.waiting = []
        for work in waiting { work(&self, now) }
        return waiting
    }

    /// Opens the listener if necessary. Runs `work` when the listener has a port or could not be opened.
    mutating func whenListening(_ now: Duration, _ work: @escaping Waiting) {
        listen()
        if service.phase == .settled { return work(&self, now) }
        service.waiting.append(work)
    }
}

extension PeerNode {
    func openListener() {
        let watch = followNetwork()
        withCore { core in core.service.networkWatch = watch }
        let parameters = PeerTransport.parameters(local, queue: queue) { _ in true }
        guard let listener = try? NWListener(using: parameters) else {
            return queue.async { [self] in listens(on: 0) }
        }
        let batch = AcceptBatch(of: listener)
        listener.newConnectionHandler = { [weak self, weak listener] connection in
            guard let self else { return connection.forceCancel() }
            accept(connection)
            batch.took(listener)
        }
        listener.stateUpdateHandler = { [weak self, weak listener] state in
            guard let self else { return }
            switch state {
            case .ready: listens(on: listener?.port?.rawValue ?? 0)
            case .failed, .waiting: listens(on: 0)
            case .setup, .cancelled: break
            @unknown default: break
            }
        }
        withCore { core in core.service.listener = listener }
        listener.start(queue: queue)
    }

    /// Reports this host's addresses to the mesh after the listener has got its port.
    ///
    /// This method and the handling of network changes both run on the node's queue. An older list of addresses
    /// therefore cannot replace a newer list.
    private func listens(on port: UInt16) {
        let addresses = LocalAddresses.current()
        let waiting = apply { core, now in core.listens(on: port, addresses, at: now) }
        withExtendedLifetime(waiting) {}
    }
}

/// This host's addresses. Members pass them to other peers, which can then connect to this host.
enum LocalAddresses {
    /// Addresses in network byte order, without loopback addresses unless there are no others.
    static func current() -> [[UInt8]] {
        let all = Host.current().addresses.compactMap { text -> [UInt8]? in
            if let address = IPv4Address(text) { return [UInt8](address.rawValue) }
            return IPv6Address(text).map { [UInt8]($0.rawValue) }
        }
        let others = all.filter { $0.first != 127 && $0 != [UInt8](IPv6Address.loopback.rawValue) }
        // Put link-local addresses at the end, because only the first eight addresses in the list are returned.
        let isLocal = { (address: [UInt8]) in address.count == 16 && address[0] == 0xFE && address[1] & 0xC0 == 0x80 }
        let usable = others.isEmpty ? all : others
        return Array((usable.filter { !isLocal($0) } + usable.filter(isLocal)).prefix(8))
    }
}
