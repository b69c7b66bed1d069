internal import Causeway
internal import Dispatch

extension PeerNode {
    private static let handshakeTime = Duration.seconds(5)
    /// How long a link that is being closed may take to send its remaining bytes. After this time, the link is ended
    /// abruptly.
    private static let closingTime = Duration.seconds(2)

    /// Creates a link for a connection. The link keeps the node alive until the link is closed. So the last bytes are
    /// sent even if the program has released the group.
    func link(_ connection: NWConnection, waits: Bool) -> PeerLink {
        PeerLink(connection, queue: queue, waits: waits) { [self] link, event in
            apply { core, now in core.handle(event, of: link, now) }
        }
    }

    /// Handles a connection that a listener has accepted.
    func accept(_ connection: NWConnection) {
        let link = link(connection, waits: true)
        apply { core, now in core.accept(link, now) }
    }

    /// Begins the handshake of an accepted connection.
    func begin(_ link: PeerLink) {
        link.start()
        queue.call(after: Self.handshakeTime) { [weak self, weak link] in
            // Hold strong references to the node and the link until `apply` has returned. Otherwise the last reference
            // to one of them could be released inside `apply`, under the lock.
            guard let self, let link else { return }
            apply { core, _ in
                if core.endHandshake(link) { core.request(.cancel(link)) }
            }
        }
    }

    /// Ends a link when its written bytes are sent, or after ``closingTime``.
    func end(_ link: PeerLink) {
        link.close(abruptly: false)
        queue.call(after: Self.closingTime) { link.close(abruptly: true) }
    }
}
