internal import Causeway
internal import CausewayPeers
internal import CausewaySystem
internal import Dispatch
public import Foundation

/// Shows found peers on the terminal, and invites those that the user selects.
///
/// Linux has no view controllers: ``present(animated:completion:)`` shows the list on the controlling terminal. The
/// arrow keys select a peer, Enter invites it, `d` is Done, and `q` or Escape is Cancel. The main queue must run, as in
/// every program with a user interface.
///
/// Counterpart: `MCBrowserViewController`, macOS 10.10, iOS 7. There it is a view controller.
@preconcurrency @MainActor open class MCBrowserViewController: NSObject {
    /// The delegate, which receives all events. It is not retained.
    open weak var delegate: (any MCBrowserViewControllerDelegate)?
    /// The minimum number of peers in the session, including the local peer: 2 to 8. With fewer peers, the user cannot
    /// choose Done.
    open var minimumNumberOfPeers: Int {
        get { list.minimum }
        set {
            list.minimum = Self.clamped(newValue)
            draw()
        }
    }
    /// The maximum number of peers in the session, including the local peer: 2 to 8. At this number, no peer is
    /// invited.
    open var maximumNumberOfPeers: Int {
        get { list.maximum }
        set {
            list.maximum = Self.clamped(newValue)
            draw()
        }
    }

    private let usedBrowser: MCNearbyServiceBrowser
    private let usedSession: MCSession
    private nonisolated let core: SessionCore
    private var list: PickerList
    private var screen: PickerScreen?
    private var observer: Int?
    /// Whether there is no terminal. The delegate is then notified of a cancellation.
    private var isCancelling = false
    /// Opens the terminal, and returns `nil` if there is none. Tests replace this function.
    var openTerminal: @MainActor () -> (any Terminal)? = { TerminalDevice() }

    /// Invitation timeout in seconds.
    private static let invitationTimeout: TimeInterval = 30

    /// Creates a peer picker with its own browser for the service type.
    public convenience init(serviceType: String, session: MCSession) {
        self.init(
            browser: MCNearbyServiceBrowser(peer: session.myPeerID, serviceType: serviceType), session: session)
    }

    /// Creates a peer picker. If the browser has no delegate, the picker becomes its delegate. Otherwise the browser's
    /// delegate must forward the browser's events to the picker.
    public init(browser: MCNearbyServiceBrowser, session: MCSession) {
        (usedBrowser, usedSession, core) = (browser, session, session.core)
        list = PickerList(title: "Peers for \(browser.serviceType)")
        super.init()
        if browser.delegate == nil { browser.delegate = self }
    }

    deinit {
        if let observer { core.removeObserver(observer) }
        screen?.end()
    }

    private static func clamped(_ count: Int) -> Int {
        min(max(count, kMCSessionMinimumNumberOfPeers), kMCSessionMaximumNumberOfPeers)
    }

    /// The browser that finds peers.
    open var browser: MCNearbyServiceBrowser? { usedBrowser }
    /// The session that invited peers join.
    open var session: MCSession { usedSession }

    // MARK: Presentation

    /// Shows the list on the terminal, and starts browsing.
    ///
    /// Without a terminal, as in a service or a background job, nothing is shown and the browser is not changed. The
    /// delegate is then notified of a cancellation shortly after this call, unless ``dismiss(animated:completion:)`` is
    /// called before the notification. In programs without a terminal, use ``MCNearbyServiceBrowser`` directly.
    ///
    /// An addition of Causeway: on Apple platforms another view controller presents this one.
    ///
    /// - Parameters:
    ///   - flag: Has no effect.
    ///   - completion: Called on the main thread when the list is shown. Not called without a terminal.
    open func present(animated flag: Bool = true, completion: (() -> Void)? = nil) {
        guard screen == nil, !isCancelling else { return }
        guard let terminal = openTerminal() else { return cancelLater() }
        let screen = PickerScreen(terminal)
        self.screen = screen
        observer = core.observe { [weak self] peer, state in
            DispatchQueue.main.async { MainActor.assumeIsolated { self?.update { $0.changed(peer, to: state) } } }
        }
        for peer in usedSession.connectedPeers { list.changed(peer.peer, to: .connected) }
        screen.begin { [weak self] key in
            DispatchQueue.main.async { MainActor.assumeIsolated { self?.press(key) } }
        }
        draw()
        usedBrowser.startBrowsingForPeers()
        completion?()
    }

    /// Notifies the delegate of a cancellation once, after ``present(animated:completion:)`` has returned.
    private func cancelLater() {
        isCancelling = true
        DispatchQueue.main.async {
            MainActor.assumeIsolated {
                guard self.isCancelling else { return }
                self.isCancelling = false
                self.perform(.cancel)
            }
        }
    }

    /// Stops browsing and restores the terminal. If no list is shown, the browser is not changed.
    ///
    /// - Parameters:
    ///   - flag: Has no effect.
    ///   - completion: Called on the main thread afterwards.
    open func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) {
        end()
        guard let completion else { return }
        let body = Unchecked(completion)
        DispatchQueue.main.async { MainActor.assumeIsolated { body.value() } }
    }

    private func end() {
        isCancelling = false
        // If the list is not shown, do not stop the browser, because the program may be using it for something else.
        guard let shown = screen.take() else { return }
        usedBrowser.stopBrowsingForPeers()
        observer.take().map { core.removeObserver($0) }
        shown.end()
        // Clear the list, because the browser reports all peers again after its next start.
        list.clear()
    }

    private func update(_ change: (inout PickerList) -> Void) {
        change(&list)
        draw()
    }

    private func draw() {
        guard let screen else { return }
        screen.draw(list.lines(height: screen.height))
    }

    private func press(_ key: PickerKey) {
        guard screen != nil else { return }
        if key == .interrupt {
            end()
            _ = raise(SIGINT)
            return
        }
        let action = list.press(key)
        draw()
        action.map { perform($0) }
    }

    private func perform(_ action: PickerList.Action) {
        switch action {
        case .invite(let peer):
            usedBrowser.invitePeer(
                MCPeerID(peer), to: usedSession, withContext: nil, timeout: Self.invitationTimeout)
        case .finish:
            guard let delegate else { return end() }
            delegate.browserViewControllerDidFinish(self)
        case .cancel:
            guard let delegate else { return end() }
            delegate.browserViewControllerWasCancelled(self)
        }
    }
}

extension MCBrowserViewController: MCNearbyServiceBrowserDelegate {
    /// Adds a found peer to the list, unless the delegate refuses.
    nonisolated public func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
    ) {
        let peer = peerID.peer
        DispatchQueue.main.async {
            MainActor.assumeIsolated {
                let isListed =
                    self.delegate?.browserViewController(
                        self, shouldPresentNearbyPeer: MCPeerID(peer), withDiscoveryInfo: info) ?? true
                if isListed { self.update { $0.found(peer) } }
            }
        }
    }

    /// Removes a lost peer from the list, unless it is invited or takes part in the session.
    nonisolated public func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        let peer = peerID.peer
        DispatchQueue.main.async { MainActor.assumeIsolated { self.update { $0.lost(peer) } } }
    }

    /// Handles a browsing error. If the list of peers is shown, the delegate gets a cancellation. Otherwise, nothing
    /// happens.
    nonisolated public func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {
        DispatchQueue.main.async {
            MainActor.assumeIsolated { if self.screen != nil { self.perform(.cancel) } }
        }
    }
}
