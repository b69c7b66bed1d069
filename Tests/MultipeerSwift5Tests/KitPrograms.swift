import Foundation
import MultipeerConnectivity
import Testing

// Source code as programs contained it for Apple's framework before Swift 6.

// MARK: Global functions and closures

typealias PeerBlock = (_ myPeerID: MCPeerID, _ peerID: MCPeerID) -> Void
typealias EventBlock = (_ peerID: MCPeerID, _ event: String, _ object: AnyObject?) -> Void

var onConnect: PeerBlock?
var onEvent: EventBlock?
var transceiver: Transceiver?

func transceive(_ serviceType: String, name: String, info: [String: String]? = nil) {
    transceiver = Transceiver(name: name, serviceType: serviceType, info: info)
}

func sendEvent(_ event: String, object: [String: Any] = [:], toPeers peers: [MCPeerID]? = nil) throws {
    guard let session = transceiver?.session else { return }
    let root: [String: Any] = ["event": event, "object": object]
    let data = try PropertyListSerialization.data(fromPropertyList: root, format: .binary, options: 0)
    try session.send(data, toPeers: peers ?? session.connectedPeers, with: .reliable)
}

class Transceiver: NSObject, MCSessionDelegate, MCNearbyServiceAdvertiserDelegate, MCNearbyServiceBrowserDelegate {
    let session: MCSession
    private let advertiser: MCNearbyServiceAdvertiser
    private let browser: MCNearbyServiceBrowser

    init(name: String, serviceType: String, info: [String: String]?) {
        let peer = MCPeerID(displayName: name)
        session = MCSession(peer: peer, securityIdentity: nil, encryptionPreference: .none)
        advertiser = MCNearbyServiceAdvertiser(peer: peer, discoveryInfo: info, serviceType: serviceType)
        browser = MCNearbyServiceBrowser(peer: peer, serviceType: serviceType)
        super.init()
        session.delegate = self
        advertiser.delegate = self
        browser.delegate = self
    }

    /// Both peers advertise and browse. The peer with the greater hash value invites the other.
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
    ) {
        if session.myPeerID.hashValue > peerID.hashValue {
            browser.invitePeer(peerID, to: session, withContext: nil, timeout: 30)
        }
    }
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?,
        invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        let accepts = session.myPeerID.hashValue < peerID.hashValue
        invitationHandler(accepts, accepts ? session : nil)
    }

    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        switch state {
        case .connected: onConnect?(session.myPeerID, peerID)
        case .connecting, .notConnected: break
        @unknown default: break
        }
    }
    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        let list = try? PropertyListSerialization.propertyList(from: data, options: [], format: nil)
        guard let root = list as? [String: Any], let event = root["event"] as? String else { return }
        DispatchQueue.main.async { onEvent?(peerID, event, root["object"] as AnyObject) }
    }
    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
    ) {}
    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        with progress: Progress
    ) {}
    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        at localURL: URL?, withError error: Error?
    ) {}
}

// MARK: Typed messages

struct Peer: Hashable, Identifiable {
    let underlying: MCPeerID
    let id: String
    let name: String
    let info: [String: String]?

    init(peer: MCPeerID, info: [String: String]?) throws {
        let data = try NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true)
        (underlying, id, name, self.info) = (peer, data.base64EncodedString(), peer.displayName, info)
    }
}

final class TypedTransceiver {
    private var handlers: [String: (Data, MCPeerID) throws -> Void] = [:]
    let connection: MCSession
    init(connection: MCSession) { self.connection = connection }

    struct Envelope: Codable {
        let type: String
        let payload: Data
    }

    func receive<T: Codable>(_ type: T.Type, using closure: @escaping (T, MCPeerID) -> Void) {
        handlers[String(describing: type)] = { data, peer in
            closure(try JSONDecoder().decode(T.self, from: data), peer)
        }
    }

    func encode<T: Codable>(_ payload: T) throws -> Data {
        let inner = try JSONEncoder().encode(payload)
        return try JSONEncoder().encode(Envelope(type: String(describing: T.self), payload: inner))
    }

    func handle(_ data: Data, from peer: MCPeerID) throws {
        let envelope = try JSONDecoder().decode(Envelope.self, from: data)
        try handlers[envelope.type]?(envelope.payload, peer)
    }

    func broadcast<T: Codable>(_ payload: T) {
        guard let data = try? encode(payload) else { return }
        try? connection.send(data, toPeers: connection.connectedPeers, with: MCSessionSendDataMode.reliable)
    }
}

// MARK: A singleton with lazy parts

class ServiceManager: NSObject {
    static let shared = ServiceManager()
    private let myPeerId = MCPeerID(displayName: ProcessInfo.processInfo.hostName.prefix(30).description)
    weak var delegate: ServiceManagerDelegate?

    lazy var session: MCSession = {
        let session = MCSession(peer: self.myPeerId, securityIdentity: nil, encryptionPreference: .required)
        return session
    }()
    lazy var advertiser = MCNearbyServiceAdvertiser(peer: myPeerId, discoveryInfo: nil, serviceType: "example-color")

    func send(colorName: String) {
        if session.connectedPeers.count > 0 {
            do {
                try session.send(colorName.data(using: .utf8)!, toPeers: session.connectedPeers, with: .reliable)
            } catch let error {
                print("error for sending: \(error)")
            }
        }
    }
}

protocol ServiceManagerDelegate: AnyObject {
    func connectedDevicesChanged(manager: ServiceManager, connectedDevices: [String])
}

@Suite("Programs as written for MultipeerConnectivity, Swift 5")
struct KitPrograms {
    @Test("Global functions with closures; both sides advertise and browse")
    func functions() throws {
        transceive("PKTest", name: "Ann", info: ["room": "1"])
        let made = try #require(transceiver)
        let other = MCPeerID(displayName: "Bob")
        var accepted: [Bool] = []
        let advertiser = MCNearbyServiceAdvertiser(
            peer: made.session.myPeerID, discoveryInfo: nil, serviceType: "pktest")
        made.advertiser(advertiser, didReceiveInvitationFromPeer: other, withContext: nil) { isAccepted, session in
            accepted.append(isAccepted && session === made.session)
        }
        #expect(accepted == [made.session.myPeerID.hashValue < other.hashValue])
        #expect(throws: MCError.self) { try sendEvent("move", object: ["to": 3], toPeers: [other]) }
    }

    @Test("Typed messages in envelopes")
    func typed() throws {
        struct Ping: Codable, Equatable { var number: Int }
        let kit = TypedTransceiver(connection: MCSession(peer: MCPeerID(displayName: "Ann")))
        var received: [Ping] = []
        kit.receive(Ping.self) { ping, _ in received.append(ping) }
        try kit.handle(try kit.encode(Ping(number: 7)), from: MCPeerID(displayName: "Bob"))
        #expect(received == [Ping(number: 7)])
        kit.broadcast(Ping(number: 8))
    }

    @Test("A peer as a value: archived, in sets and dictionaries")
    func value() throws {
        let id = MCPeerID(displayName: "Ann")
        let peer = try Peer(peer: id, info: nil)
        let data = try #require(Data(base64Encoded: peer.id))
        let decoded = NSKeyedUnarchiver.unarchiveObject(with: data) as? MCPeerID
        #expect(decoded == id && decoded !== id && [id: 1][decoded ?? MCPeerID(displayName: "x")] == 1)
    }

    @Test("A singleton with lazy parts")
    func singleton() {
        ServiceManager.shared.send(colorName: "red")
        #expect(ServiceManager.shared.advertiser.serviceType == "example-color")
    }
}
