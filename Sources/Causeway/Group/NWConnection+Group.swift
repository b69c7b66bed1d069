extension NWConnection {
    /// Creates a connection to the sender of a received group message, as ``NWConnectionGroup/Message/extractConnection()`` does.
    ///
    /// Returns `nil` if the message was not received, or if there already is a connection to its sender.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public convenience init?(message: NWConnectionGroup.Message) {
        guard let extracted = message.extract() else { return nil }
        self.init(extracted)
    }

    /// Creates a connection to one endpoint over a group's port, as ``NWConnectionGroup/extract(connectionTo:using:)`` does. Returns `nil`
    /// in the same cases as that method.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public convenience init?(from group: NWConnectionGroup, to: NWEndpoint? = nil, using: NWProtocolOptions? = nil) {
        guard let extracted = group.extracted(to, using) else { return nil }
        self.init(extracted)
    }

    /// Creates a connection to one peer of a group. The group supplies the connection's driver.
    convenience init(_ extracted: NWConnectionGroup.Extracted) {
        self.init(extracted.driver, .init(peer: extracted.peer), parameters: extracted.parameters)
    }
}
