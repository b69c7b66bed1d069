/// The local peer's properties, and its memory limits.
package struct PeerConfiguration: Sendable {
    /// The listener port, which other members dial; 0 without a listener.
    package var port: UInt16 = 0
    /// Up to 4 own addresses with 4 or 16 bytes, without loopback. Members announce them to other members, with the port.
    package var addresses: [[UInt8]] = []
    package var agent = "Causeway"
    /// The features that this process supports. Without ``Hello/Features/udp``, unreliable messages use the control
    /// link.
    package var features = Hello.Features.current
    /// Maximum number of message bytes queued per member. Above this number, a send returns ``SendResult/full``.
    package var queueLimit = 64 << 20
    /// Maximum number of inbound links that have no member yet, in total and per address.
    package var lobbyLimit = 128
    package var lobbyLimitPerAddress = 40
    /// Maximum number of unanswered invitations, in total and for each address.
    package var invitationLimit = 16
    package var invitationLimitPerAddress = 3

    package init() {}
}
