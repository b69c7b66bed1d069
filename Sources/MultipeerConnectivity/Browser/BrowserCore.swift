internal import CausewayPeers
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// The implementation of ``MCNearbyServiceBrowser``. May be used from any thread; events are delivered on its private queue.
final class BrowserCore: Sendable {
    private struct State: Sendable {
        var runs = ServiceRuns<PeerBrowse>()
        var found = FoundPeers()
    }

    /// Invitation timeout in seconds, if the program passes none.
    static let defaultTimeout: TimeInterval = 30
    /// Maximum invitation timeout in seconds: a day.
    static let maximumTimeout: TimeInterval = 86_400

    let service: String
    private let peer: PeerIdentity
    private let queue = DispatchQueue(label: "causeway.multipeer.browser", target: .global())
    private let faces = WeakDelegate<MCNearbyServiceBrowser, any MCNearbyServiceBrowserDelegate>()
    private let state = LockedValue(State())

    init(peer: PeerIdentity, service: String) { (self.peer, self.service) = (peer, service) }

    func attach(_ browser: MCNearbyServiceBrowser) { faces.attach(browser) }

    var delegate: (any MCNearbyServiceBrowserDelegate)? {
        get { faces.delegate }
        set { faces.delegate = newValue }
    }

    func start() {
        guard let run = state.withLock({ $0.runs.begin() }) else { return }
        queue.async { self.begin(run) }
    }

    func stop() {
        let browse = state.withLock { state in
            state.found.end()
            return state.runs.end()
        }
        browse?.stop()
    }

    /// Adds the missing key digest to a peer, if this browser has found a peer with its ID. Otherwise returns the peer
    /// unchanged.
    ///
    /// An `MCPeerID` from an archive may have no digest. The digest ensures that the invitation goes to the peer that
    /// was found.
    func identity(of peer: PeerIdentity) -> PeerIdentity {
        peer.fingerprint.isEmpty ? state.withLock { $0.found.last(peer.id) } ?? peer : peer
    }

    private func begin(_ run: Int) {
        guard isCurrent(run) else { return }
        do throws(PeerFailure) {
            let node = try LocalPeers.shared.node(for: peer)
            let browse = node.browse(service, queue: queue) { [weak self] in self?.handle($0, run) }
            state.withLock { $0.runs.keep(browse, of: run) }?.stop()
        } catch {
            failed(error, run)
        }
    }

    private func isCurrent(_ run: Int) -> Bool { state.withLock { $0.runs.isCurrent(run) } }

    private func handle(_ event: BrowserEvent, _ run: Int) {
        guard isCurrent(run) else { return }
        switch event {
        case .started: break
        case .failed(let failure): failed(failure, run)
        case .found(let peer, let info):
            guard state.withLock({ $0.found.found(peer) }), let (browser, delegate) = faces.pair else { return }
            delegate.browser(browser, foundPeer: MCPeerID(peer), withDiscoveryInfo: info.isEmpty ? nil : info)
        case .lost(let peer):
            guard state.withLock({ $0.found.lost(peer) }), let (browser, delegate) = faces.pair else { return }
            delegate.browser(browser, lostPeer: MCPeerID(peer))
        }
    }

    private func failed(_ failure: PeerFailure, _ run: Int) {
        guard isCurrent(run) else { return }
        stop()
        guard let (browser, delegate) = faces.pair else { return }
        delegate.browser(browser, didNotStartBrowsingForPeers: MCError(failure))
    }
}

/// The peers that a browser has found, at most one for each peer ID. While a peer is present, another peer with the
/// same ID is ignored.
struct FoundPeers: Sendable {
    private var present: [UInt64: PeerIdentity] = [:]
    /// Lost peers, which can still be invited. They are in the order in which they were lost.
    private var gone: [PeerIdentity] = []
    private static let memory = 256

    /// Records a peer. Returns whether to report it.
    mutating func found(_ peer: PeerIdentity) -> Bool {
        guard present[peer.id].map({ $0 == peer }) ?? true else { return false }
        present[peer.id] = peer
        return true
    }

    /// Removes a peer that was lost. Returns whether the loss must be reported to the program.
    mutating func lost(_ peer: PeerIdentity) -> Bool {
        guard present[peer.id] == peer else { return false }
        present[peer.id] = nil
        remember(peer)
        return true
    }

    /// Records that all present peers are lost, because browsing has stopped. After the next start, the browser finds
    /// them again.
    mutating func end() {
        for peer in present.values { remember(peer) }
        present = [:]
    }

    /// Returns the present peer with this ID or, if no such peer is present, the latest lost peer with the ID.
    func last(_ id: UInt64) -> PeerIdentity? { present[id] ?? gone.last { $0.id == id } }

    private mutating func remember(_ peer: PeerIdentity) {
        gone.removeAll { $0.id == peer.id }
        gone.append(peer)
        if gone.count > Self.memory { gone.removeFirst() }
    }
}
