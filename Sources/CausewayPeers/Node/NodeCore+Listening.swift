internal import CausewayPeerProtocols
internal import Dispatch
internal import Foundation
internal import Network

extension NodeCore {
    /// Opens the node's listener, once. It advertises no service: peers learn its port from links and introductions.
    mutating func listen(_ node: PeerNode) {
        guard service.phase == .idle else { return }
        service.phase = .starting
        service.networkWatch = node.followNetwork()
        let parameters = PeerTransport.parameters(node.local, queue: node.queue) { _ in true }
        guard let listener = try? NWListener(using: parameters) else {
            return node.queue.async { node.listens(on: 0) }
        }
        let batch = AcceptBatch(of: listener)
        listener.newConnectionHandler = { [weak node, weak listener] connection in
            guard let node else { return connection.forceCancel() }
            node.accept(connection)
            batch.took(listener)
        }
        listener.stateUpdateHandler = { [weak node, weak listener] state in
            guard let node else { return }
            switch state {
            case .ready: node.listens(on: listener?.port?.rawValue ?? 0)
            case .failed, .waiting: node.listens(on: 0)
            case .setup, .cancelled: break
            @unknown default: break
            }
        }
        service.listener = listener
        listener.start(queue: node.queue)
    }

    /// The listener has a port, or could not be opened (port 0). Without a listener, the node connects only to peers
    /// that it dials.
    fileprivate mutating func listens(on port: UInt16, _ addresses: [[UInt8]], _ node: PeerNode) {
        service.phase = .settled
        service.port = port
        mesh.listens(on: port, addresses: addresses)
        let waiting = service.waiting
        service.waiting = []
        for work in waiting { work(&self, node) }
    }

    /// Runs work as soon as the port is known.
    mutating func whenListening(_ node: PeerNode, _ work: @escaping Waiting) {
        listen(node)
        if service.phase == .settled { return work(&self, node) }
        service.waiting.append(work)
    }
}

extension PeerNode {
    /// Runs on the node's queue, like the changes of the network, so that the newest addresses win.
    fileprivate func listens(on port: UInt16) {
        let addresses = LocalAddresses.current()
        apply { core, _ in core.listens(on: port, addresses, self) }
    }
}

/// This host's addresses, which members pass to peers that connect to it.
enum LocalAddresses {
    /// Addresses in network byte order, without loopback addresses unless there are no others.
    static func current() -> [[UInt8]] {
        let all = Host.current().addresses.compactMap { text -> [UInt8]? in
            if let address = IPv4Address(text) { return [UInt8](address.rawValue) }
            return IPv6Address(text).map { [UInt8]($0.rawValue) }
        }
        let others = all.filter { $0.first != 127 && $0 != [UInt8](IPv6Address.loopback.rawValue) }
        // Link-local addresses go last, because only the first addresses are used on hosts with many interfaces.
        let isLocal = { (address: [UInt8]) in address.count == 16 && address[0] == 0xFE && address[1] & 0xC0 == 0x80 }
        let usable = others.isEmpty ? all : others
        return Array((usable.filter { !isLocal($0) } + usable.filter(isLocal)).prefix(8))
    }
}
