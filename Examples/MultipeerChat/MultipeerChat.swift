// Shows MultipeerConnectivity: all who run it on one network share a chat: swift run MultipeerChat NAME
import MultipeerConnectivity

final class Chat: NSObject, MCSessionDelegate, MCNearbyServiceAdvertiserDelegate, MCNearbyServiceBrowserDelegate {
    private let (session, advertiser, browser): (MCSession, MCNearbyServiceAdvertiser, MCNearbyServiceBrowser)

    init(name: String) {
        let me = MCPeerID(displayName: name)
        session = MCSession(peer: me, securityIdentity: nil, encryptionPreference: .required)
        advertiser = MCNearbyServiceAdvertiser(peer: me, discoveryInfo: nil, serviceType: "cw-chat")
        browser = MCNearbyServiceBrowser(peer: me, serviceType: "cw-chat")
        super.init()
        (session.delegate, advertiser.delegate, browser.delegate) = (self, self, self)
        advertiser.startAdvertisingPeer()
        browser.startBrowsingForPeers()
    }

    func say(_ line: String) { try? session.send(Data(line.utf8), toPeers: session.connectedPeers, with: .reliable) }
    func leave() { session.disconnect() }
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
    ) {
        browser.invitePeer(peerID, to: session, withContext: nil, timeout: 10)
    }
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) { invitationHandler(true, session) }

    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        if state != .connecting { print("\(peerID.displayName) \(state == .connected ? "joined" : "left")") }
    }
    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        print("\(peerID.displayName): \(String(decoding: data, as: UTF8.self))")
    }
    func session(_ session: MCSession, didReceive stream: InputStream, withName name: String, fromPeer: MCPeerID) {}
    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        with progress: Progress
    ) {}
    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        at localURL: URL?, withError error: (any Error)?
    ) {}
}

@main
enum MultipeerChat {
    static func main() {
        guard CommandLine.arguments.count == 2 else {
            print("usage: MultipeerChat NAME")
            exit(64)
        }
        let chat = Chat(name: CommandLine.arguments[1])
        while let line = readLine() { chat.say(line) }
        chat.leave()
    }
}
