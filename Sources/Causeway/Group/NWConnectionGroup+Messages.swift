internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
public import FoundationEssentials

extension NWConnectionGroup {
    /// Sends a message to one endpoint, or to all members. It leaves when the group is ready.
    ///
    /// To a member it goes on every interface that the member is joined on.
    ///
    /// - Parameters:
    ///   - content: The bytes of the message. `nil` sends nothing, empty content an empty message.
    ///   - endpoint: The receiver, a numeric address with a port; `nil` for all members.
    ///   - message: The message's context. ECN and service class are those of its ``NWProtocolIP/Metadata``.
    ///   - completion: Called once, on the queue of the group: with an error if it has not left for one of the receivers.
    @preconcurrency public func send(
        content: Data?, to endpoint: NWEndpoint? = nil, message: NWConnectionGroup.Message = .default,
        completion: @escaping (_ error: NWError?) -> Void
    ) {
        let completion = Unchecked(completion)
        let finish: SendCompletion = { failure in completion.value(failure?.networkError) }
        guard let endpoint else { return enqueue(content, to: .members, message, finish) }
        guard let address = endpoint.address, address.port != 0 else {
            return enqueue(nil, to: .members, message) { failure in
                finish(failure ?? Failure(errno: Errno.invalid))
            }
        }
        enqueue(content, to: .address(address), message, finish)
    }

    func answer(_ datagram: GroupDatagram, _ content: Data?, _ message: Message) {
        enqueue(content, to: datagram.answer, message) { _ in }
    }

    private func enqueue(
        _ content: Data?, to target: GroupTarget, _ message: Message, _ completion: @escaping SendCompletion
    ) {
        let metadata = message.protocolMetadata(definition: NWProtocolIP.definition) as? NWProtocolIP.Metadata
        // What a received message says of its header is not meant for an answer that is sent with it.
        let trafficClass =
            message.remoteEndpoint == nil ? metadata?.trafficClass(connectionClass: parameters.serviceClass) : nil
        let outbound = GroupOutbound(content, to: target, trafficClass: trafficClass, completion: completion)
        let expiration = message.expirationMilliseconds
        driver.send(
            SendQueue.Entry(
                outbound, ticket: message.ticket, priority: message.priority,
                deadline: expiration == 0 ? nil : System.now + .milliseconds(Int64(clamping: expiration)),
                antecedent: message.antecedent?.ticket))
    }
}

extension NWConnectionGroup {
    /// What becomes a connection.
    struct Extracted {
        var driver: ConnectionDriver
        var peer: SocketAddress
        var parameters: NWParameters
    }

    /// Opens a flow to one host over the group's port, not started: from now on what that host sends goes there.
    ///
    /// - Parameters:
    ///   - endpoint: A numeric address with a port.
    ///   - options: `nil`; a multicast group has no protocol that takes any.
    /// - Returns: `nil` before the group has been ready and after its end, without an endpoint, and for a host that is a
    ///   connection already.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func extract(connectionTo endpoint: NWEndpoint? = nil, using options: NWProtocolOptions? = nil)
        -> NWConnection?
    {
        NWConnection(from: self, to: endpoint, using: options)
    }

    /// Gives back what ``extract(connectionTo:using:)`` gave out: the connection is cancelled, and what its peer sends comes to the
    /// group again. `false` if the connection is not from here, or has ended.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func reinsert(connection: NWConnection) -> Bool {
        guard driver.holds(connection.driver) else { return false }
        connection.cancel()
        return true
    }

    func extracted(_ endpoint: NWEndpoint?, _ options: NWProtocolOptions?) -> Extracted? {
        guard options == nil, let peer = endpoint?.address, let driver = driver.extract(peer) else { return nil }
        return Extracted(driver: driver, peer: peer, parameters: parameters)
    }

    func extracted(_ datagram: GroupDatagram) -> Extracted? {
        guard let driver = driver.extract(from: datagram) else { return nil }
        return Extracted(driver: driver, peer: datagram.peer, parameters: parameters)
    }
}

extension NWEndpoint {
    /// The address of a numeric endpoint; `nil` for all others. An IPv4 address in IPv6's clothes is taken out of them.
    var address: SocketAddress? {
        switch self {
        case .hostPort(.ipv4(let address), let port): SocketAddress(address, port: port.rawValue)
        case .hostPort(.ipv6(let address), let port): SocketAddress(address, port: port.rawValue).unmapped
        case .hostPort(.name, _), .service, .unix, .url, .opaque: nil
        }
    }
}
