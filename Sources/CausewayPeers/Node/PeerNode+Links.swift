internal import Causeway
internal import Dispatch

extension PeerNode {
    private static let handshakeTime = Duration.seconds(5)
    /// The time limit for a closed link's last bytes.
    private static let closingTime = Duration.seconds(2)

    /// A link keeps the node alive until it is closed, so that a released group's last bytes are sent.
    func link(_ connection: NWConnection, waits: Bool) -> PeerLink {
        PeerLink(connection, queue: queue, waits: waits) { [self] link, event in
            apply { core, now in core.handle(event, of: link, now) }
        }
    }

    /// A listener accepted a connection.
    func accept(_ connection: NWConnection) {
        let link = link(connection, waits: true)
        apply { core, now in core.accept(link, now) }
    }

    /// Begins the handshake of an accepted connection.
    func begin(_ link: PeerLink) {
        link.start()
        queue.call(after: Self.handshakeTime) { [weak self, weak link] in
            // A reference that only this timer holds must not be released under the lock.
            guard let self, let link else { return }
            apply { core, _ in
                if core.endHandshake(link) { core.request(.cancel(link)) }
            }
        }
    }

    /// Ends a link after the written bytes.
    func end(_ link: PeerLink) {
        link.close(abruptly: false)
        queue.call(after: Self.closingTime) { link.close(abruptly: true) }
    }
}
