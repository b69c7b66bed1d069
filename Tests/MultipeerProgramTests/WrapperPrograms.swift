import MultipeerConnectivity
import Testing

// Programs as written for Apple's framework, in Swift 6 mode: only the module itself is imported.

/// One object advertises, browses and owns the session. Its state belongs to the main actor, and its delegate methods
/// switch to the main actor.
@MainActor
final class ConnectionManager: NSObject {
    private(set) var connected: [String] = []
    private(set) var log: [String] = []
    private let me: MCPeerID
    private let session: MCSession
    private let advertiser: MCNearbyServiceAdvertiser
    private let browser: MCNearbyServiceBrowser

    init(name: String) {
        me = MCPeerID(displayName: name)
        session = MCSession(peer: me, securityIdentity: nil, encryptionPreference: .required)
        advertiser = MCNearbyServiceAdvertiser(peer: me, discoveryInfo: ["v": "1"], serviceType: "cw-manager")
        browser = MCNearbyServiceBrowser(peer: me, serviceType: "cw-manager")
        super.init()
        session.delegate = self
        advertiser.delegate = self
        browser.delegate = self
    }

    func start() {
        advertiser.startAdvertisingPeer()
        browser.startBrowsingForPeers()
    }

    func stop() {
        advertiser.stopAdvertisingPeer()
        browser.stopBrowsingForPeers()
        session.disconnect()
    }

    func send(_ text: String) {
        guard !session.connectedPeers.isEmpty else { return log.append("alone") }
        do {
            try session.send(Data(text.utf8), toPeers: session.connectedPeers, with: .reliable)
        } catch {
            log.append(error.localizedDescription)
        }
    }
}

extension ConnectionManager: MCSessionDelegate {
    nonisolated func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        let names = session.connectedPeers.map(\.displayName)
        Task { @MainActor in self.connected = names }
    }

    nonisolated func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        let line = peerID.displayName + ": " + String(decoding: data, as: UTF8.self)
        DispatchQueue.main.async { self.log.append(line) }
    }

    nonisolated func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
    ) {}
    nonisolated func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        with progress: Progress
    ) {}
    nonisolated func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        at localURL: URL?, withError error: (any Error)?
    ) {}
}

extension ConnectionManager: MCNearbyServiceAdvertiserDelegate, MCNearbyServiceBrowserDelegate {
    nonisolated func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        invitationHandler(false, nil)
    }

    nonisolated func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
    ) {
        guard info?["v"] == "1" else { return }
        let name = peerID.displayName
        Task { @MainActor in self.log.append("found \(name)") }
    }

    nonisolated func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}

/// A wrapper that turns the session's delegate calls into closure calls.
final class ClosureLink: NSObject, MCSessionDelegate, @unchecked Sendable {
    var onState: ((MCPeerID, MCSessionState) -> Void)?
    var onData: ((MCPeerID, Data) -> Void)?
    let session: MCSession

    init(_ peer: MCPeerID) {
        session = MCSession(peer: peer)
        super.init()
        session.delegate = self
    }

    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        switch state {
        case .notConnected, .connecting, .connected: onState?(peerID, state)
        @unknown default: break
        }
    }
    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) { onData?(peerID, data) }
    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
    ) { stream.close() }
    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        with progress: Progress
    ) { progress.cancel() }
    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        at localURL: URL?, withError error: (any Error)?
    ) {}
    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping (Bool) -> Void
    ) {
        certificateHandler(certificate == nil)
    }
}

/// An actor that owns a session and turns its events into an asynchronous sequence.
actor PeerHub {
    enum Event: Sendable {
        case state(name: String, MCSessionState)
        case message(name: String, Data)
    }

    private final class Bridge: NSObject, MCSessionDelegate {
        let continuation: AsyncStream<Event>.Continuation
        init(_ continuation: AsyncStream<Event>.Continuation) { self.continuation = continuation }

        func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
            continuation.yield(.state(name: peerID.displayName, state))
        }
        func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
            continuation.yield(.message(name: peerID.displayName, data))
        }
        func session(
            _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
            fromPeer peerID: MCPeerID
        ) {}
        func session(
            _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
            with progress: Progress
        ) {}
        func session(
            _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
            at localURL: URL?, withError error: (any Error)?
        ) {}
    }

    nonisolated let events: AsyncStream<Event>
    private let bridge: Bridge
    private let session: MCSession

    init(name: String) {
        let (events, continuation) = AsyncStream<Event>.makeStream()
        self.events = events
        bridge = Bridge(continuation)
        session = MCSession(peer: MCPeerID(displayName: name))
        session.delegate = bridge
    }

    var names: [String] { session.connectedPeers.map(\.displayName) }

    func broadcast(_ message: some Encodable) throws {
        try session.send(JSONEncoder().encode(message), toPeers: session.connectedPeers, with: .unreliable)
    }

    func finish() {
        session.disconnect()
        bridge.continuation.finish()
    }
}

/// A class on the main actor. Its conformance to the delegate protocol is checked at run time.
@MainActor
final class BrowserModel: NSObject, @preconcurrency MCNearbyServiceBrowserDelegate {
    private(set) var peers: [MCPeerID: [String: String]] = [:]
    let browser: MCNearbyServiceBrowser

    init(_ peer: MCPeerID) {
        browser = MCNearbyServiceBrowser(peer: peer, serviceType: "cw-model")
        super.init()
        browser.delegate = self
    }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
    ) {
        peers[peerID] = info ?? [:]
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) { peers[peerID] = nil }
    func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: Error) { peers = [:] }
}

@Suite("Wrappers as written for MultipeerConnectivity, Swift 6")
struct WrapperPrograms {
    @Test("A manager that owns session, advertiser and browser") @MainActor
    func manager() {
        let manager = ConnectionManager(name: "Ann")
        manager.send("hello")
        #expect(manager.log == ["alone"])
        manager.stop()
    }

    @Test("Closures instead of delegates")
    func closures() {
        let link = ClosureLink(MCPeerID(displayName: "Bob"))
        let peer = MCPeerID(displayName: "Eve")
        var states: [MCSessionState] = []
        link.onState = { _, state in states.append(state) }
        link.session(link.session, peer: peer, didChange: .connecting)
        #expect(states == [.connecting])
        #expect(throws: MCError.self) { try link.session.send(Data(), toPeers: [peer], with: .reliable) }
    }

    @Test("An actor with a sequence of events")
    func actor() async {
        let hub = PeerHub(name: "Cid")
        await #expect(hub.names.isEmpty)
        await #expect(throws: (any Error).self) { try await hub.broadcast(["move": 3]) }
        await hub.finish()
        for await _ in hub.events { Issue.record("an event without a peer") }
    }

    @Test("A model of the main actor with a preconcurrency conformance") @MainActor
    func model() {
        let model = BrowserModel(MCPeerID(displayName: "Dan"))
        let peer = MCPeerID(displayName: "Eve")
        model.browser.delegate?.browser(model.browser, foundPeer: peer, withDiscoveryInfo: ["a": "b"])
        #expect(model.peers[peer] == ["a": "b"])
        model.browser.delegate?.browser(model.browser, lostPeer: peer)
        #expect(model.peers.isEmpty)
    }
}
