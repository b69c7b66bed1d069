internal import Causeway
internal import CausewayPeers
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// The implementation of ``MCSession``.
///
/// The program can use a session again after `disconnect()`. The time from the first use to the next `disconnect()` is
/// called a life of the session. Each life has its own engine. Events from the engine of an earlier life are dropped,
/// so that no event follows a disconnect.
final class SessionCore: Sendable {
    /// A closure that the session calls on its queue at each state change of a peer. It is called before the delegate
    /// is notified of the change.
    typealias Observer = @Sendable (PeerIdentity, MCSessionState) -> Void

    private struct State: Sendable {
        var life = 0
        var engine: (any SessionEngine)?
        var roster = SessionRoster()
        var observers: [Int: Observer] = [:]
        var observerCount = 0
    }

    let peer: PeerIdentity
    let queue = DispatchQueue(label: "causeway.multipeer.session", target: .global())
    let faces = WeakDelegate<MCSession, any MCSessionDelegate>()
    private let make: SessionEngineMaker
    private let state = LockedValue(State())

    convenience init(peer: PeerIdentity, _ settings: PeerGroup.Settings) {
        self.init(peer: peer) { peer, queue, handler throws(PeerFailure) in
            PeerGroup(try LocalPeers.shared.node(for: peer), settings, queue: queue, handler)
        }
    }

    init(peer: PeerIdentity, make: @escaping SessionEngineMaker) {
        self.peer = peer
        self.make = make
    }

    func attach(_ session: MCSession) { faces.attach(session) }

    var delegate: (any MCSessionDelegate)? {
        get { faces.delegate }
        set { faces.delegate = newValue }
    }

    // MARK: Peers

    var connectedPeers: [MCPeerID] { state.withLock { $0.roster.connected }.map(\.value) }

    /// Returns the session's engine, and the identity of a connected peer, including its key.
    ///
    /// - Throws: ``MCError`` with `notConnected` if the peer is not connected.
    func connection(to peer: PeerIdentity) throws(MCError) -> (engine: any SessionEngine, peer: PeerIdentity) {
        let found = state.withLock { state -> (any SessionEngine, PeerIdentity)? in
            guard let engine = state.engine, let peer = state.roster.connected(peer.id) else { return nil }
            return (engine, peer)
        }
        guard let found else { throw MCError(.notConnected, "'\(peer.name)' is not connected") }
        return found
    }

    func object(_ peer: PeerIdentity) -> MCPeerID { state.withLock { $0.roster.object(peer) }.value }

    func isPresent(_ peer: PeerIdentity) -> Bool { state.withLock { $0.roster.isPresent(peer.id) } }

    /// Adds a state observer. Returns its number.
    func observe(_ observer: @escaping Observer) -> Int {
        state.withLock { state in
            state.observerCount += 1
            state.observers[state.observerCount] = observer
            return state.observerCount
        }
    }

    func removeObserver(_ number: Int) { state.withLock { _ = $0.observers.removeValue(forKey: number) } }

    // MARK: The engine of the current life

    /// Runs `body` with the engine, on the queue. Creates the engine if necessary. If the engine cannot be created, or
    /// if the session is left before `body` runs, calls `otherwise` instead.
    func withEngine(
        _ body: @escaping @Sendable (any SessionEngine) -> Void, otherwise: @escaping @Sendable (PeerFailure) -> Void
    ) {
        let life = state.withLock { $0.life }
        queue.async {
            do throws(PeerFailure) { body(try self.engine(life)) } catch { otherwise(error) }
        }
    }

    /// Returns the engine for a session's life (the period between two resets), and creates the engine if necessary.
    ///
    /// Call this only on the queue, so that each life gets only one engine.
    private func engine(_ life: Int) throws(PeerFailure) -> any SessionEngine {
        let (isCurrent, known) = state.withLock { ($0.life == life, $0.engine) }
        guard isCurrent else { throw PeerFailure(.cancelled) }
        if let known { return known }
        let made = try make(peer, queue) { [weak self] in self?.handle($0, life) }
        let isKept = state.withLock { state in
            guard state.life == life else { return false }
            state.engine = made
            return true
        }
        guard isKept else {
            made.leave()
            throw PeerFailure(.cancelled)
        }
        return made
    }

    /// Ends the session's current life: drops all peers and leaves the group.
    func leave(reporting: Bool) {
        let engine = state.withLock { state in
            state.life += 1
            let peers = state.roster.removeAll()
            // Queue the reports while the lock is held. Otherwise events from the session's next use could be queued
            // before them.
            if reporting { for peer in peers { queue.async { self.tell(peer.value, [.notConnected]) } } }
            return state.engine.take()
        }
        engine?.leave()
    }

    // MARK: Events

    private func handle(_ event: GroupEvent, _ life: Int) {
        switch event {
        case .connecting(let peer): change(peer, life) { $0.connecting(peer) }
        case .connected(let peer): change(peer, life) { $0.connected(peer) }
        case .notConnected(let peer, _):
            change(peer, life) { roster in
                roster.lost(peer)
                return [.notConnected]
            }
        case .suspended, .resumed: break
        default: if state.withLock({ $0.life == life }) { deliver(event) }
        }
    }

    private func change(
        _ peer: PeerIdentity, _ life: Int, _ body: (inout SessionRoster) -> [MCSessionState]
    ) {
        let (object, states) = state.withLock { state -> (Unchecked<MCPeerID>, [MCSessionState]) in
            guard state.life == life else { return (state.roster.object(peer), []) }
            let before = state.roster.isPresent(peer.id) ? state.roster.object(peer) : nil
            let states = body(&state.roster)
            return (before ?? state.roster.object(peer), states)
        }
        tell(object.value, states)
    }

    /// Reports states to observers, then to the delegate. Call this only on the queue.
    private func tell(_ peer: MCPeerID, _ states: [MCSessionState]) {
        let observers = state.withLock { state in state.observers.sorted { $0.key < $1.key }.map(\.value) }
        for state in states {
            for observer in observers { observer(peer.peer, state) }
            guard let (session, delegate) = faces.pair else { continue }
            delegate.session(session, peer: peer, didChange: state)
        }
    }

    /// Reports to the program that an invitation to a peer could not be sent.
    func failed(_ peer: PeerIdentity) { tell(object(peer), [.notConnected]) }
}
