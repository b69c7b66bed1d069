internal import Causeway
internal import CausewayPeerProtocols
package import Dispatch
package import Foundation

/// An advertisement event.
package enum AdvertiserEvent: Sendable {
    case started(port: UInt16)
    case failed(PeerFailure)
    case invited(PeerInvitation)
}

extension PeerNode {
    /// Advertises the local peer under a service type such as `abc-chat`. Events run on `queue`.
    package func advertise(
        _ service: String, info: [String: String] = [:], queue: DispatchQueue? = nil,
        _ handler: @escaping @Sendable (AdvertiserEvent) -> Void
    ) -> PeerAdvertisement {
        let port = PeerAdvertisement.Port(service, queue ?? DispatchQueue(label: "causeway.peers.advertiser"), handler)
        let announcement = PeerAnnouncement(PeerInfo(key: local.peer.key, name: local.peer.name), info)
        let parameters = PeerTransport.parameters(local, queue: self.queue) { _ in true }
        let listener = try? NWListener(
            service: PeerDiscovery.service(
                NWListener.Service(
                    name: announcement.instance, type: "_\(service.lowercased())._tcp",
                    txtRecord: announcement.record)),
            using: parameters)
        apply { core, _ in
            core.listen()
            core.service.advertisements.append(port)
        }
        guard let listener else {
            port.post(.failed(PeerFailure(.network, "cannot open a listener")))
            return PeerAdvertisement(self, port, nil)
        }
        let batch = AcceptBatch(of: listener)
        listener.newConnectionHandler = { [weak self, weak listener] connection in
            guard let self else { return connection.forceCancel() }
            accept(connection)
            batch.took(listener)
        }
        listener.stateUpdateHandler = { [weak listener] state in
            switch state {
            case .ready: port.post(.started(port: listener?.port?.rawValue ?? 0))
            case .failed(let error): port.post(.failed(PeerFailure(.network, "\(error)")))
            case .setup, .waiting, .cancelled: break
            @unknown default: break
            }
        }
        listener.start(queue: self.queue)
        return PeerAdvertisement(self, port, listener)
    }
}

/// A running advertisement. It ends when it is stopped or released.
package final class PeerAdvertisement: Sendable {
    /// Delivers events to the program. It reports nothing after the advertisement has ended.
    final class Port: Sendable {
        /// The service type, in lower case.
        let service: String
        private let queue: DispatchQueue
        private let state: LockedValue<State>

        private struct State {
            var handler: (@Sendable (AdvertiserEvent) -> Void)?
            /// Invitations that were not passed to the program yet. An invitation that ends while it waits here is
            /// removed. So the limit of `PeerMesh` on unanswered invitations also limits this list, even if the program
            /// blocks the queue.
            var waiting: [Question] = []
            var isAsking = false
        }

        private struct Question: Sendable {
            let id: InvitationID
            let peer: PeerIdentity
            let context: Data?
            let node: PeerNode

            func decline() {
                node.apply { core, now in core.mesh.answer(id, with: nil, at: now) }
            }
        }

        init(_ service: String, _ queue: DispatchQueue, _ handler: @escaping @Sendable (AdvertiserEvent) -> Void) {
            self.service = service.lowercased()
            self.queue = queue
            state = LockedValue(State(handler: handler))
        }

        func post(_ event: AdvertiserEvent) {
            queue.async { [self] in state.withLock { $0.handler }?(event) }
        }

        /// Queues an invitation for the program. If the advertisement has already ended, declines the invitation
        /// instead. The `PeerInvitation` object is created later, on the program's queue.
        func invited(_ id: InvitationID, _ peer: PeerIdentity, _ context: Data?, _ node: PeerNode) {
            let question = Question(id: id, peer: peer, context: context, node: node)
            let (isOpen, mustAsk) = state.withLock { state in
                guard state.handler != nil else { return (false, false) }
                state.waiting.append(question)
                defer { state.isAsking = true }
                return (true, !state.isAsking)
            }
            guard isOpen else { return question.decline() }
            if mustAsk { askLater() }
        }

        /// Passes one waiting invitation to the program, in a block on the queue. Each invitation has its own block, so
        /// that other blocks on the queue can run in between.
        private func askLater() {
            queue.async { [self] in
                let (question, handler) = state.withLock { state in
                    let question = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
                    state.isAsking = question != nil
                    return (question, state.handler)
                }
                guard let question else { return }
                handler?(.invited(PeerInvitation(question.peer, question.context, question.id, question.node)))
                askLater()
            }
        }

        /// Removes an invitation that has ended from the queue, if the program has not received it yet.
        func withdraw(_ id: InvitationID) { state.withLock { $0.waiting.removeAll { $0.id == id } } }

        /// Stops the delivery of events. Declines the invitations that the program has not received.
        ///
        /// Otherwise the inviters would wait for their whole timeout. Their invitations would also count toward the
        /// limit for unanswered invitations in `PeerMesh`.
        func close() {
            let (handler, waiting) = state.withLock { state in
                defer { (state.handler, state.waiting) = (nil, []) }
                return (state.handler, state.waiting)
            }
            for question in waiting { question.decline() }
            withExtendedLifetime(handler) {}
        }
    }

    private let node: PeerNode
    private let port: Port
    private let listener: NWListener?

    init(_ node: PeerNode, _ port: Port, _ listener: NWListener?) {
        self.node = node
        self.port = port
        self.listener = listener
    }

    deinit { stop() }

    /// Stops advertising. After the call has returned, no event starts. Invitations that the program has not received
    /// yet are declined.
    package func stop() {
        port.close()
        listener?.cancel()
        node.apply { core, _ in core.service.advertisements.removeAll { $0 === port } }
    }
}

/// An invitation from a peer. Only the first answer counts. If the program does not answer, the invitation times out on
/// the inviter's side.
package final class PeerInvitation: Sendable {
    package let peer: PeerIdentity
    /// Data from the inviter, which is not trustworthy.
    package let context: Data?
    private let id: InvitationID
    private let node: PeerNode

    init(_ peer: PeerIdentity, _ context: Data?, _ id: InvitationID, _ node: PeerNode) {
        self.peer = peer
        self.context = context
        self.id = id
        self.node = node
    }

    /// Whether the program can still answer: the inviter still waits, and the program has not answered yet.
    package var isOpen: Bool { node.apply { core, _ in core.mesh.isAsked(id) } }

    /// Joins the inviter's mesh with `group`, if `group` belongs to the node that received the invitation. Otherwise
    /// declines the invitation.
    package func accept(with group: PeerGroup) {
        guard group.node === node else { return decline() }
        node.apply { core, now in core.mesh.answer(id, with: group.session, at: now) }
    }

    package func decline() {
        node.apply { core, now in core.mesh.answer(id, with: nil, at: now) }
    }
}
