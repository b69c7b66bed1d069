extension PeerMesh {
    /// Whether messages to the member are accepted: the member is connected, or its link is being replaced.
    package func isConnected(_ member: MemberID) -> Bool { self[member]?.phase.isConnected == true }

    /// Returns the number of bytes that ``write(_:_:at:)`` would accept.
    package func streamSpace(_ channel: ChannelID) -> Int {
        guard self[channel.member]?.traffic?.membership == channel.membership else { return 0 }
        return self[channel.member]?.traffic?.streams.outgoing[channel.number]?.space ?? 0
    }
}
