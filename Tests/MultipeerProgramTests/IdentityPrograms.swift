import MultipeerConnectivity
import Testing

/// Stores the local peer in the program's settings. If the display name has changed, creates a new peer.
struct PeerStore {
    let defaults: UserDefaults

    func peer(named name: String) throws -> MCPeerID {
        if let data = defaults.data(forKey: "peer"),
            let stored = try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data),
            stored.displayName == name
        {
            return stored
        }
        let made = MCPeerID(displayName: name)
        defaults.set(
            try NSKeyedArchiver.archivedData(withRootObject: made, requiringSecureCoding: true), forKey: "peer")
        return made
    }
}

/// Connects peers with data that a server or a QR code transports.
final class CustomDiscovery {
    let session: MCSession
    init(_ session: MCSession) { self.session = session }

    func offer(to archive: Data) async throws -> Data {
        guard let peer = try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: archive) else {
            throw MCError(.invalidParameter)
        }
        return try await session.nearbyConnectionData(forPeer: peer)
    }

    func connect(to peer: MCPeerID, with blob: Data) { session.connectPeer(peer, withNearbyConnectionData: blob) }
    func giveUp(_ peer: MCPeerID) { session.cancelConnectPeer(peer) }
}

/// Creates a peer picker, and receives its events.
@MainActor
final class PickerCoordinator: NSObject, MCBrowserViewControllerDelegate {
    private(set) var endings: [String] = []

    func start(_ session: MCSession) -> MCBrowserViewController {
        let picker = MCBrowserViewController(serviceType: "cw-picker", session: session)
        picker.delegate = self
        picker.minimumNumberOfPeers = 2
        picker.maximumNumberOfPeers = 4
        return picker
    }

    nonisolated func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {
        MainActor.assumeIsolated {
            browserViewController.dismiss(animated: true)
            endings.append("done")
        }
    }

    nonisolated func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
        MainActor.assumeIsolated {
            browserViewController.dismiss(animated: true, completion: nil)
            endings.append("cancelled")
        }
    }
}

/// A chat program with an advertiser assistant, which asks the user about invitations.
final class AssistedChat: NSObject, MCAdvertiserAssistantDelegate {
    let session: MCSession
    let assistant: MCAdvertiserAssistant

    init(_ name: String) {
        session = MCSession(peer: MCPeerID(displayName: name))
        assistant = MCAdvertiserAssistant(serviceType: "cw-chat", discoveryInfo: nil, session: session)
        super.init()
        assistant.delegate = self
    }

    func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {}
}

/// Returns the text that a program shows to its user for an error.
func message(for error: any Error) -> String {
    switch error {
    case MCError.notConnected: return "gone"
    case MCError.timedOut, MCError.unavailable: return "later"
    case let error as MCError where error.code == .cancelled: return "cancelled"
    default: return "other"
    }
}

@Suite("Identities, discovery and pickers as written for MultipeerConnectivity, Swift 6")
struct IdentityPrograms {
    @Test("A peer in the settings stays the same until its name changes")
    func stored() throws {
        let name = "causeway.multipeer.\(UInt32.random(in: 0...UInt32.max))"
        let defaults = try #require(UserDefaults(suiteName: name))
        defer { defaults.removePersistentDomain(forName: name) }
        let store = PeerStore(defaults: defaults)
        let first = try store.peer(named: "Ann")
        #expect(try store.peer(named: "Ann") == first)
        #expect(try store.peer(named: "Anna") != first)
    }

    @Test("Errors in patterns")
    func errors() {
        #expect(message(for: MCError(.notConnected)) == "gone")
        #expect(message(for: MCError(.unavailable)) == "later")
        #expect(message(for: MCError(.cancelled)) == "cancelled")
        #expect(message(for: MCError(.unknown)) == "other")
        let error: (any Error)? = MCError(.timedOut, userInfo: [NSLocalizedDescriptionKey: "slow"])
        #expect((error as! MCError?)?.code == .timedOut)
        #expect((error as NSError?)?.domain == MCErrorDomain && error?.localizedDescription == "slow")
    }

    @Test("An archive that is no peer is rejected")
    func archive() async {
        let discovery = CustomDiscovery(MCSession(peer: MCPeerID(displayName: "Ann")))
        await #expect(throws: (any Error).self) { try await discovery.offer(to: Data("nonsense".utf8)) }
    }

    @Test("A picker stores its limits and tells its delegate") @MainActor
    func picker() {
        let coordinator = PickerCoordinator()
        let picker = coordinator.start(MCSession(peer: MCPeerID(displayName: "Ann")))
        #expect(picker.minimumNumberOfPeers == 2 && picker.maximumNumberOfPeers == 4)
        #expect(picker.browser?.serviceType == "cw-picker" && picker.session.myPeerID.displayName == "Ann")
        picker.delegate?.browserViewControllerWasCancelled(picker)
        #expect(coordinator.endings == ["cancelled"])
    }

    @Test("An assistant keeps what it was given")
    func assistant() {
        let chat = AssistedChat("Ann")
        #expect(chat.assistant.serviceType == "cw-chat" && chat.assistant.session === chat.session)
        #expect(chat.assistant.discoveryInfo == nil)
        chat.assistant.stop()
    }
}
