internal import Causeway
internal import CausewaySystem
internal import CausewayTypes
internal import Dispatch
internal import Foundation

/// The implementation of ``MCAdvertiserAssistant``.
final class AssistantCore: NSObject, Sendable, MCNearbyServiceAdvertiserDelegate {
    typealias Decision = @Sendable (MCPeerID, Data?, @escaping @Sendable (Bool) -> Void) -> Void

    private struct State: Sendable {
        var decision: Decision?
        /// The questions to the user about invitations that are still unanswered. ``TerminalQuestions`` limits their
        /// number.
        var open: [TerminalQuestions.Question] = []
    }

    /// Seconds until an unanswered invitation is declined.
    private static let patience = 30

    let faces = WeakDelegate<MCAdvertiserAssistant, any MCAdvertiserAssistantDelegate>()
    private let questions: TerminalQuestions
    private let service: String
    private let session: Unchecked<MCSession>
    private let queue = DispatchQueue(label: "causeway.multipeer.assistant", target: .global())
    private let state = LockedValue(State())

    init(_ session: MCSession, service: String, questions: TerminalQuestions = .shared) {
        self.session = Unchecked(session)
        (self.service, self.questions) = (service, questions)
    }

    var decision: Decision? {
        get { state.withLock { $0.decision } }
        set { state.withLock { $0.decision = newValue } }
    }

    func stop() {
        let open = state.withLock { state in
            defer { state.open = [] }
            return state.open
        }
        for question in open { questions.withdraw(question) }
    }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        let handler = Unchecked(invitationHandler)
        // If the session is full, refuse the invitation without asking the user.
        guard session.value.connectedPeers.count + 1 < kMCSessionMaximumNumberOfPeers else {
            return invitationHandler(false, nil)
        }
        let answer: @Sendable (Bool) -> Void = { [session] isAccepted in
            handler.value(isAccepted, isAccepted ? session.value : nil)
        }
        if let decision {
            let isOpen = LockedValue(true)
            willPresent {}
            decision(peerID, context) { [weak self] isAccepted in
                // The handler may be called more than once. Only its first call counts.
                let isFirst = isOpen.withLock { isOpen in
                    defer { isOpen = false }
                    return isOpen
                }
                guard isFirst else { return }
                answer(isAccepted)
                self?.didDismiss()
            }
        } else {
            ask(peerID, answer)
        }
    }

    private func ask(_ peer: MCPeerID, _ answer: @escaping @Sendable (Bool) -> Void) {
        let asked = LockedValue(false)
        let question = questions.ask(
            "'\(peer.displayName)' invites you to '\(service)'. Accept?", within: Self.patience
        ) { [weak self] appear in
            asked.withLock { $0 = true }
            self?.willPresent(then: appear)
        } _: { [weak self] isAccepted in
            answer(isAccepted)
            if asked.withLock({ $0 }) { self?.didDismiss() }
        }
        // Remember only the questions that are still open. The new question may already be closed: `ask` declines it if
        // too many questions wait.
        state.withLock { $0.open = ($0.open + [question]).filter(\.isOpen) }
    }

    /// Notifies the delegate that an invitation is about to be presented, then calls `present`. Both calls run on the
    /// assistant's private queue.
    private func willPresent(then present: @escaping @Sendable () -> Void) {
        queue.async {
            if let (assistant, delegate) = self.faces.pair {
                delegate.advertiserAssistantWillPresentInvitation(assistant)
            }
            present()
        }
    }

    private func didDismiss() {
        queue.async {
            guard let (assistant, delegate) = self.faces.pair else { return }
            delegate.advertiserAssistantDidDismissInvitation(assistant)
        }
    }
}
