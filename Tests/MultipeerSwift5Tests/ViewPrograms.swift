import Foundation
import MultipeerConnectivity
import Testing

/// A chat view controller that uses the advertiser assistant and the browser view controller.
class ChatController: NSObject, MCSessionDelegate, MCBrowserViewControllerDelegate {
    var peerID: MCPeerID!
    var mcSession: MCSession!
    var mcAdvertiserAssistant: MCAdvertiserAssistant?
    var messages = [String]()
    var received: [URL] = []
    var streams: [InputStream] = []

    func viewDidLoad() {
        peerID = MCPeerID(displayName: "Ann")
        mcSession = MCSession(peer: peerID, securityIdentity: nil, encryptionPreference: .required)
        mcSession.delegate = self
    }

    func startHosting() {
        mcAdvertiserAssistant = MCAdvertiserAssistant(
            serviceType: "hws-project25", discoveryInfo: nil, session: mcSession)
    }

    func joinSession() -> MCBrowserViewController {
        let mcBrowser = MCBrowserViewController(serviceType: "hws-project25", session: mcSession)
        mcBrowser.delegate = self
        return mcBrowser
    }

    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {
        browserViewController.dismiss(animated: true)
    }
    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
        browserViewController.dismiss(animated: true, completion: nil)
    }

    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        switch state {
        case MCSessionState.connected: messages.append("Connected: \(peerID.displayName)")
        case MCSessionState.connecting: messages.append("Connecting: \(peerID.displayName)")
        case MCSessionState.notConnected: messages.append("Not Connected: \(peerID.displayName)")
        @unknown default: messages.append("fatal error")
        }
    }
    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        if let text = String(data: data, encoding: .utf8) {
            DispatchQueue.main.async { [unowned self] in messages.append(text) }
        }
    }
    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
    ) {
        stream.schedule(in: .main, forMode: .common)
        stream.open()
        streams.append(stream)
    }
    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        with progress: Progress
    ) {
        messages.append(progress.localizedDescription)
    }
    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        at localURL: URL?, withError error: Error?
    ) {
        guard let localURL = localURL, error == nil else { return }
        let target = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try? FileManager.default.moveItem(at: localURL, to: target)
        received.append(target)
    }
    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping (Bool) -> Void
    ) {
        certificateHandler(true)
    }
}

/// Stores the connection state of each peer. A lock protects the states.
final class PeerTable {
    private let lock = NSLock()
    private var states = [MCPeerID: MCSessionState]()

    subscript(peer: MCPeerID) -> MCSessionState {
        get { lock.lock(); defer { lock.unlock() }; return states[peer] ?? .notConnected }
        set { lock.lock(); states[peer] = newValue; lock.unlock() }
    }
}

@Suite("View controllers as written for MultipeerConnectivity, Swift 5")
struct ViewPrograms {
    @Test("A chat with assistant and picker")
    func chat() async {
        let chat = ChatController()
        chat.viewDidLoad()
        chat.startHosting()
        await MainActor.run {
            let picker = chat.joinSession()
            #expect(picker.minimumNumberOfPeers == kMCSessionMinimumNumberOfPeers)
            chat.browserViewControllerDidFinish(picker)
        }
        chat.session(chat.mcSession, peer: MCPeerID(displayName: "Bob"), didChange: .connected)
        #expect(chat.messages == ["Connected: Bob"])
        #expect(chat.mcAdvertiserAssistant?.serviceType == "hws-project25")
    }

    @Test("A table of states with peers as keys")
    func table() {
        let table = PeerTable()
        let peer = MCPeerID(displayName: "Ann")
        table[peer] = .connecting
        #expect(table[peer.copy() as! MCPeerID] == .connecting)
        #expect(table[MCPeerID(displayName: "Ann")] == .notConnected)
        #expect(MCSessionState(rawValue: 2) == .connected && MCEncryptionPreference.none.rawValue == 2)
    }
}
