public import Foundation

/// Receives ``MCAdvertiserAssistant`` events, on a private serial queue.
///
/// Counterpart: `MCAdvertiserAssistantDelegate`, macOS 10.10, iOS 7.
@preconcurrency public protocol MCAdvertiserAssistantDelegate: NSObjectProtocol {
    /// The user is about to be asked about an invitation.
    func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant)
    /// The question about an invitation has ended: the user has answered it, or it was withdrawn.
    func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant)
}

extension MCAdvertiserAssistantDelegate {
    /// Default implementation: does nothing.
    public func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {}
    /// Default implementation: does nothing.
    public func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {}
}
