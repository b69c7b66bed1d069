internal import CausewayPeers
internal import CausewaySystem
public import Foundation

/// Advertises a peer on the local network, and receives invitations.
///
/// The methods may be called on any thread, in any state, and repeatedly. Advertising stops when the object is released.
///
/// Counterpart: `MCNearbyServiceAdvertiser`, macOS 10.10, iOS 7.
@preconcurrency open class MCNearbyServiceAdvertiser: NSObject {
    private let core: AdvertiserCore
    private let peer: MCPeerID
    private let type: String
    private let info: [String: String]?

    /// Creates an advertiser.
    ///
    /// - Parameters:
    ///   - myPeerID: The peer to advertise.
    ///   - info: Pairs that browsers receive, as a TXT record (RFC 6763 §6). Everyone on the network can read them.
    ///   - serviceType: 1 to 15 ASCII letters, digits and hyphens (RFC 6335 §5.1), such as `abc-chat`.
    /// - Precondition: Service type and info are valid. Each `key=value` has at most 255 bytes.
    public init(peer myPeerID: MCPeerID, discoveryInfo info: [String: String]?, serviceType: String) {
        if let problem = ServiceType.problem(with: serviceType) ?? ServiceType.problem(withInfo: info ?? [:]) {
            Misuse.stop("MCNearbyServiceAdvertiser: \(problem)")
        }
        (peer, self.info, type) = (myPeerID, info, serviceType)
        core = AdvertiserCore(peer: myPeerID.peer, service: serviceType.lowercased(), info: info ?? [:])
        super.init()
        core.attach(self)
    }

    deinit { core.stop() }

    /// The receiver of all events. Not retained.
    open var delegate: (any MCNearbyServiceAdvertiserDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// The advertised peer.
    open var myPeerID: MCPeerID { peer }
    /// The pairs that browsers receive.
    open var discoveryInfo: [String: String]? { info }
    /// The service type, as it was given.
    open var serviceType: String { type }

    /// Starts advertising. Without effect if the peer is advertised already.
    open func startAdvertisingPeer() { core.start() }

    /// Stops advertising. No further invitation arrives after the call; those that arrived can still be answered.
    open func stopAdvertisingPeer() { core.stop() }
}
