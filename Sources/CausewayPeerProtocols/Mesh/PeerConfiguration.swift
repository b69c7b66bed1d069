/// Properties of this process's peer, and the limits that bound its memory.
package struct PeerConfiguration: Sendable {
    /// The listener's port; 0 without a listener. Other members dial it.
    package var port: UInt16 = 0
    /// Up to 4 own addresses of 4 or 16 bytes, without loopback. Members tell them to other members, with the port.
    package var addresses: [[UInt8]] = []
    package var agent = "Causeway"
    /// What this process can do. Without ``Hello/Features/udp`` unreliable messages travel on the control link.
    package var features = Hello.Features.current
    /// Bytes of messages queued per member before ``SendResult/full``.
    package var queueLimit = 64 << 20
    /// Inbound links that are not members yet, in all and per address.
    package var lobbyLimit = 128
    package var lobbyLimitPerAddress = 40
    /// Invitations that wait for an answer, in all and per address.
    package var invitationLimit = 16
    package var invitationLimitPerAddress = 3

    package init() {}
}
