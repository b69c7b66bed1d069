import CausewaySystem
import Dispatch
import Foundation
import Testing

@testable import CausewayPeers
@testable import MultipeerConnectivity

/// A session engine for tests. A test causes its events in any order, and inspects the calls to it.
final class FakeEngine: SessionEngine {
    private struct State: Sendable {
        var calls: [String] = []
        var failure: PeerFailure?
        var completions: [@Sendable (PeerFailure?) -> Void] = []
    }

    private let state = LockedValue(State())
    let handler: @Sendable (GroupEvent) -> Void

    init(_ handler: @escaping @Sendable (GroupEvent) -> Void) { self.handler = handler }

    var calls: [String] { state.withLock { $0.calls } }
    func failSends(with failure: PeerFailure?) { state.withLock { $0.failure = failure } }
    func completeFiles(with failure: PeerFailure?) {
        let completions = state.withLock { state in
            defer { state.completions = [] }
            return state.completions
        }
        for completion in completions { completion(failure) }
    }

    private func record(_ call: String) { state.withLock { $0.calls.append(call) } }

    func accept(_ invitation: PeerInvitation) { record("accept") }
    func invite(_ peer: PeerIdentity, service: String, context: Data?, timeout: Duration) {
        record("invite \(peer.name) \(service) \(context?.count ?? -1) \(timeout)")
    }
    func send(_ message: Data, to peers: [PeerIdentity], _ mode: PeerGroup.Mode) throws(PeerFailure) {
        if let failure = state.withLock({ $0.failure }) { throw failure }
        record("send \(message.count) to \(peers.map(\.name).joined(separator: ",")) \(mode)")
    }
    func sendFile(
        at url: URL, name: String, to peer: PeerIdentity, completion: @escaping @Sendable (PeerFailure?) -> Void
    ) -> Progress {
        record("file \(name) to \(peer.name)")
        state.withLock { $0.completions.append(completion) }
        return Progress(totalUnitCount: 10)
    }
    func openStream(_ name: String, to peer: PeerIdentity) throws(PeerFailure) -> PeerOutputStream {
        throw PeerFailure(.excess)
    }
    func connectionData(for peer: UInt64, completion: @escaping @Sendable (Result<Data, PeerFailure>) -> Void) {
        completion(.success(Data([7])))
    }
    func connect(to peer: UInt64, with data: Data) { record("connect \(peer) \(data.count)") }
    func cancelConnect(to peer: UInt64) { record("cancelConnect \(peer)") }
    func leave() { record("leave") }
}

/// A session core that uses fake engines and logs its delegate calls.
final class FakeSession: NSObject, MCSessionDelegate, @unchecked Sendable {
    // SAFETY: all properties are values behind locks, except `session`, which is never changed.
    let session: MCSession
    let core: SessionCore
    private let engines = LockedValue<[FakeEngine]>([])
    private let entries = LockedValue<[String]>([])
    private let acceptsCertificates: Bool

    init(_ peer: MCPeerID = MCPeerID(displayName: "me"), acceptsCertificates: Bool = true, failure: PeerFailure? = nil)
    {
        self.acceptsCertificates = acceptsCertificates
        let made = LockedValue<(@Sendable (FakeEngine) -> Void)?>(nil)
        core = SessionCore(peer: peer.peer) { _, _, handler throws(PeerFailure) in
            if let failure { throw failure }
            let engine = FakeEngine(handler)
            made.withLock { $0 }?(engine)
            return engine
        }
        session = MCSession(peer: peer)
        session.use(core)
        super.init()
        let engines = Unowned(self)
        made.withLock { $0 = { engine in engines.value?.engines.withLock { $0.append(engine) } } }
        session.delegate = self
    }

    private final class Unowned: @unchecked Sendable {
        weak var value: FakeSession?
        init(_ value: FakeSession) { self.value = value }
    }

    /// Returns the engine that the session currently uses. The first use of the session creates it.
    func engine() -> FakeEngine? {
        session.cancelConnectPeer(MCPeerID(displayName: "absent"))
        core.queue.sync {}
        return engines.withLock { $0.last }
    }

    /// Delivers an event on the session's queue, like the real engine. Returns after the session has handled the event.
    func cause(_ event: GroupEvent, by engine: FakeEngine?) {
        core.queue.sync { engine?.handler(event) }
    }

    /// The delegate calls so far. Waits until all queued calls have been made.
    var log: [String] {
        core.queue.sync {}
        return entries.withLock { $0 }
    }

    private func add(_ entry: String) { entries.withLock { $0.append(entry) } }

    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        add("\(peerID.displayName) \(state) of \(session.connectedPeers.map(\.displayName).joined(separator: ","))")
    }
    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        add("\(peerID.displayName) data \(data.count)")
    }
    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
    ) { add("\(peerID.displayName) stream \(streamName)") }
    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        with progress: Progress
    ) { add("\(peerID.displayName) starts \(resourceName)") }
    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        at localURL: URL?, withError error: (any Error)?
    ) {
        let exists = localURL.map { FileManager.default.fileExists(atPath: $0.path) } ?? false
        let code = (error as! MCError?).map { "\($0.code)" } ?? "-"
        add("\(peerID.displayName) finishes \(resourceName) \(exists) \(code)")
    }
    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping (Bool) -> Void
    ) {
        add("\(peerID.displayName) certificate \(certificate?.count ?? -1)")
        certificateHandler(acceptsCertificates)
    }
}
