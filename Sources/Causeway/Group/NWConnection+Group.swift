extension NWConnection {
    /// Makes the sender of a received group message a connection of its own, as
    /// ``NWConnectionGroup/Message/extractConnection()`` does. `nil` if the message was not received, or its sender is a
    /// connection already.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public convenience init?(message: NWConnectionGroup.Message) {
        guard let extracted = message.extract() else { return nil }
        self.init(extracted)
    }

    /// Opens a flow to one endpoint out of a group, as ``NWConnectionGroup/extract(connectionTo:using:)`` does.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public convenience init?(from group: NWConnectionGroup, to: NWEndpoint? = nil, using: NWProtocolOptions? = nil) {
        guard let extracted = group.extracted(to, using) else { return nil }
        self.init(extracted)
    }

    /// Wraps what a group gave.
    convenience init(_ extracted: NWConnectionGroup.Extracted) {
        self.init(extracted.driver, .init(peer: extracted.peer), parameters: extracted.parameters)
    }
}
