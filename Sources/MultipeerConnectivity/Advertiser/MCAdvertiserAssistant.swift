internal import Causeway
public import Foundation

/// Advertises a session's local peer, and asks the user about each invitation that arrives.
///
/// The question appears on the controlling terminal: `y` or `yes` accepts, everything else declines. Without a
/// terminal, and after 30 seconds without an answer, the invitation is declined. If your program reads from the
/// terminal, set ``decision``: the program then answers the invitations and no question appears.
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
    ///   - info: Key-value pairs for browsers, sent as a TXT record (RFC 6763 §6).
    ///   - session: The session that connects to the inviter when an invitation is accepted. Its local peer is
    ///     advertised.
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

    /// The delegate, which receives all events. It is not retained.
    open var delegate: (any MCAdvertiserAssistantDelegate)? {
        get { core.faces.delegate }
        set { core.faces.delegate = newValue }
    }

    /// The session that connects to the inviter when an invitation is accepted.
    open var session: MCSession { usedSession }
    /// The key-value pairs for browsers.
    open var discoveryInfo: [String: String]? { advertiser.discoveryInfo }
    /// The service type as passed to the initializer.
    open var serviceType: String { advertiser.serviceType }

    /// Starts to advertise the local peer.
    open func start() { advertiser.startAdvertisingPeer() }

    /// Stops advertising. Also declines the invitations that still wait for the user's answer on the terminal.
    open func stop() {
        advertiser.stopAdvertisingPeer()
        core.stop()
    }

    /// A closure that accepts or declines each invitation; `nil` to ask the user on the terminal. The closure is called
    /// on a private queue with the inviter, the invitation's context, and a handler. Call the handler once, with `true`
    /// to accept.
    ///
    /// An addition of Causeway.
    public var decision: (@Sendable (MCPeerID, Data?, @escaping @Sendable (Bool) -> Void) -> Void)? {
        get { core.decision }
        set { core.decision = newValue }
    }
}
