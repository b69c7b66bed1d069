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
    ///   - info: Key-value pairs for browsers, sent as a TXT record (RFC 6763 §6). Every host on the network can read them.
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

    /// The delegate, which receives all events. It is not retained.
    open var delegate: (any MCNearbyServiceAdvertiserDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// The advertised peer.
    open var myPeerID: MCPeerID { peer }
    /// The key-value pairs for browsers.
    open var discoveryInfo: [String: String]? { info }
    /// The service type as passed to the initializer.
    open var serviceType: String { type }

    /// Starts advertising. Has no effect if the peer is already advertised.
    open func startAdvertisingPeer() { core.start() }

    /// Stops advertising. After this call, no further invitation is delivered. Invitations delivered earlier can still
    /// be answered.
    open func stopAdvertisingPeer() { core.stop() }
}
