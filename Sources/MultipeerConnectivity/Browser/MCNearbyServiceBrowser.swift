internal import CausewayPeers
internal import CausewaySystem
public import Foundation

/// Finds peers that advertise a service type on the local network, and invites them.
///
/// The methods may be called on any thread, in any state, and repeatedly. Browsing stops when the object is released.
///
/// Counterpart: `MCNearbyServiceBrowser`, macOS 10.10, iOS 7.
@preconcurrency open class MCNearbyServiceBrowser: NSObject {
    let core: BrowserCore
    private let peer: MCPeerID
    private let type: String

    /// Creates a browser.
    ///
    /// - Parameters:
    ///   - myPeerID: The local peer. The browser does not report this peer.
    ///   - serviceType: 1 to 15 ASCII letters, digits and hyphens (RFC 6335 §5.1), such as `abc-chat`.
    /// - Precondition: The service type is valid.
    public init(peer myPeerID: MCPeerID, serviceType: String) {
        if let problem = ServiceType.problem(with: serviceType) {
            Misuse.stop("MCNearbyServiceBrowser: \(problem)")
        }
        (peer, type) = (myPeerID, serviceType)
        core = BrowserCore(peer: myPeerID.peer, service: serviceType.lowercased())
        super.init()
        core.attach(self)
    }

    deinit { core.stop() }

    /// The delegate, which receives all events. It is not retained.
    open var delegate: (any MCNearbyServiceBrowserDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// The local peer.
    open var myPeerID: MCPeerID { peer }
    /// The service type as passed to the initializer.
    open var serviceType: String { type }

    /// Starts browsing. Has no effect if the browser is already running. After a stop, all peers are found again.
    open func startBrowsingForPeers() { core.start() }

    /// Stops browsing. No event is delivered after the call. Found peers can still be invited.
    open func stopBrowsingForPeers() { core.stop() }

    /// Invites a peer to a session. The session reports the result as a state change: `connected`, or `notConnected` if
    /// the peer declines, does not answer in time, or cannot be reached.
    ///
    /// - Parameters:
    ///   - peerID: A peer that this browser found.
    ///   - session: The session that the peer joins if it accepts. Create the session with the browser's local peer.
    ///   - context: Data for the invited peer, at most 64 KiB. The data is sent encrypted.
    ///   - timeout: The time for the answer in seconds, at most a day; 30 for values that are not positive.
    open func invitePeer(
        _ peerID: MCPeerID, to session: MCSession, withContext context: Data?, timeout: TimeInterval
    ) {
        let isFinite = timeout.isFinite && timeout > 0
        let seconds = isFinite ? min(timeout, BrowserCore.maximumTimeout) : BrowserCore.defaultTimeout
        session.core.invite(
            core.identity(of: peerID.peer), service: core.service, context: context, timeout: .seconds(seconds))
    }
}
