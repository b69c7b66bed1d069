internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
public import FoundationEssentials

extension NWConnectionGroup {
    /// Sends a message to one endpoint or to all members. Before the group is ready, the message waits.
    ///
    /// A message to a multicast address is sent on every interface on which the group has joined that address. Can be
    /// called from any thread.
    ///
    /// - Parameters:
    ///   - content: The message bytes. `nil` sends nothing; empty data sends an empty message.
    ///   - endpoint: The destination, a numeric address with a port; `nil` for all members.
    ///   - message: The message's content context. Its ``NWProtocolIP/Metadata`` selects the ECN codepoint and the
    ///     service class.
    ///   - completion: Called once on the group's queue. The error is `nil` if the message was sent to all
    ///     destinations. It is `EINVAL` if the endpoint is not a numeric address with a port, and `EAFNOSUPPORT` if no
    ///     member of the group has the endpoint's address family. It is `ETIMEDOUT` if the message expired, and
    ///     `ECANCELED` if the group was cancelled or the antecedent failed.
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
        // The program can pass the content context of a received message. The IP header fields in that context describe
        // the received datagram, so do not use them for the datagram to send.
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
    /// The parts from which an `NWConnection` for an extracted connection is created.
    struct Extracted {
        var driver: ConnectionDriver
        var peer: SocketAddress
        var parameters: NWParameters
    }

    /// Creates a connection to one host over the group's port. The connection is not started.
    ///
    /// After this call, the connection instead of the group receives the host's datagrams. The connection may outlive the group.
    ///
    /// The connection uses only interfaces that the group's parameters permit. While no permitted interface leads to
    /// the host, sending fails with `ENETUNREACH`.
    ///
    /// - Parameters:
    ///   - endpoint: A numeric address with a port.
    ///   - options: Must be `nil`: a multicast group has no protocol with such options.
    /// - Returns: The connection. `nil` if the group has not been ready yet or has ended, if `endpoint` is `nil`, if
    ///   `options` is not `nil`, or if there already is a connection to the host.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func extract(connectionTo endpoint: NWEndpoint? = nil, using options: NWProtocolOptions? = nil)
        -> NWConnection?
    {
        NWConnection(from: self, to: endpoint, using: options)
    }

    /// Cancels an extracted connection, so that the group receives the peer's datagrams again.
    ///
    /// Received data not yet read by the program is lost.
    ///
    /// - Returns: `false` if the connection does not belong to this group or has ended.
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
    /// The socket address for a numeric endpoint; `nil` for other endpoints. An IPv4-mapped IPv6 address is converted to IPv4.
    var address: SocketAddress? {
        switch self {
        case .hostPort(.ipv4(let address), let port): SocketAddress(address, port: port.rawValue)
        case .hostPort(.ipv6(let address), let port): SocketAddress(address, port: port.rawValue).unmapped
        case .hostPort(.name, _), .service, .unix, .url, .opaque: nil
        }
    }
}
