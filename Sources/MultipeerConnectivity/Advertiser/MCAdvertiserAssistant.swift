internal import Causeway
public import Foundation

/// Advertises the peer of a session, and asks the user about each invitation.
///
/// The question appears on the controlling terminal: `y` accepts, everything else declines. Without a terminal, and after 30 seconds
/// without an answer, the invitation is declined. A program that reads from the terminal itself sets ``decision`` instead.
///
/// Counterpart: `MCAdvertiserAssistant`, macOS 10.10, iOS 7.
@preconcurrency open class MCAdvertiserAssistant: NSObject {
    private let advertiser: MCNearbyServiceAdvertiser
    private let usedSession: MCSession
    private let core: AssistantCore

    /// Creates an assistant.
    ///
    /// - Parameters:
    ///   - serviceType: 1 to 15 ASCII letters, digits and hyphens (RFC 6335 §5.1), such as `abc-chat`.
    ///   - info: Pairs that browsers receive, as a TXT record (RFC 6763 §6).
    ///   - session: The session that invited peers join.
    /// - Precondition: Service type and info are valid.
    public init(serviceType: String, discoveryInfo info: [String: String]?, session: MCSession) {
        advertiser = MCNearbyServiceAdvertiser(
            peer: session.myPeerID, discoveryInfo: info, serviceType: serviceType)
        usedSession = session
        core = AssistantCore(session, service: serviceType)
        super.init()
        core.faces.attach(self)
        advertiser.delegate = core
    }

    deinit { core.stop() }

    /// The receiver of all events. Not retained.
    open var delegate: (any MCAdvertiserAssistantDelegate)? {
        get { core.faces.delegate }
        set { core.faces.delegate = newValue }
    }

    /// The session that invited peers join.
    open var session: MCSession { usedSession }
    /// The pairs that browsers receive.
    open var discoveryInfo: [String: String]? { advertiser.discoveryInfo }
    /// The service type, as it was given.
    open var serviceType: String { advertiser.serviceType }

    /// Starts advertising.
    open func start() { advertiser.startAdvertisingPeer() }

    /// Stops advertising, and declines the invitations that wait for an answer.
    open func stop() {
        advertiser.stopAdvertisingPeer()
        core.stop()
    }

    /// Decides about invitations instead of the terminal: called with the inviter, its context, and a handler to call once. Called on a
    /// private queue.
    ///
    /// An addition of Causeway.
    public var decision: (@Sendable (MCPeerID, Data?, @escaping @Sendable (Bool) -> Void) -> Void)? {
        get { core.decision }
        set { core.decision = newValue }
    }
}
