internal import CausewayTypes
package import CausewayWire

/// A tunnel's destination: an address, or a name that the proxy resolves.
package struct TunnelDestination: Hashable, Sendable {
    package enum Host: Hashable, Sendable {
        case address(InternetAddress)
        /// A domain name in A-labels.
        case name(String)
    }

    package var host: Host
    package var port: UInt16

    package init(_ host: Host, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// The destination as a URL authority, such as `example.com:443` or `[2001:db8::1]:443` (RFC 9110 §7.2).
    package var authority: String {
        switch host {
        case .name(let name): "\(name):\(port)"
        case .address(.ipv4(let address)): "\(address.debugDescription):\(port)"
        case .address(.ipv6(let address)):
            "[\(IPv6Address(high: address.high, low: address.low).debugDescription)]:\(port)"
        }
    }
}

/// A user name and password for a proxy.
package typealias TunnelCredential = PasswordCredential

/// Asks a SOCKS 5 proxy to connect or to relay datagrams (RFC 1928), with user name and password if the proxy demands them (RFC 1929).
package struct SOCKSHandshake: TunnelHandshake {
    private enum Phase { case method, credential, reply }

    private let command: UInt8
    private let destination: TunnelDestination
    private let credential: TunnelCredential?
    private let refused: (@Sendable (ProxyRefusal) -> Void)?
    private var phase = Phase.method

    /// The address that the proxy has bound; set when the handshake is complete. For a UDP association, the client
    /// sends its datagrams to this address. All zeros mean the proxy's own address.
    package private(set) var bound: TunnelDestination?

    /// Requests a connection.
    ///
    /// - Parameters:
    ///   - destination: The tunnel's destination.
    ///   - credential: The proxy credential, if there is one.
    ///   - refused: Called if the handshake fails because the proxy demands another credential.
    package init(
        to destination: TunnelDestination, credential: TunnelCredential?,
        refused: (@Sendable (ProxyRefusal) -> Void)? = nil
    ) {
        (command, self.destination, self.credential, self.refused) = (1, destination, credential, refused)
    }

    /// Requests a UDP association (RFC 1928 §7). The association exists as long as the connection to the proxy is open.
    ///
    /// - Parameter isIPv6: Whether the datagrams use IPv6. The client does not know their source address yet, so the
    ///   address and the port in the request are zeros.
    package init(associatingOverIPv6 isIPv6: Bool, credential: TunnelCredential?) {
        let unknown: InternetAddress = isIPv6 ? .ipv6(IPv6Address(high: 0, low: 0)) : .ipv4(IPv4Address(bits: 0))
        (command, destination, self.credential) = (3, TunnelDestination(.address(unknown), port: 0), credential)
        refused = nil
    }

    package mutating func begin() -> TunnelStep { .send(greeting) }

    /// The first message. It lists the authentication methods that the client offers. Without a credential, the only
    /// method is "no authentication required".
    package var greeting: [UInt8] { credential == nil ? [5, 1, 0] : [5, 2, 0, 2] }

    package mutating func received(_ bytes: inout ByteChain) -> TunnelStep {
        switch phase {
        case .method: chosenMethod(&bytes)
        case .credential: credentialReply(&bytes)
        case .reply: replied(&bytes)
        }
    }

    private mutating func chosenMethod(_ bytes: inout ByteChain) -> TunnelStep {
        guard bytes.count >= 2 else { return .wait }
        let answer = Array(bytes.take(atMost: 2).bytes)
        guard answer[0] == 5 else { return .failed(.tunnelBroken) }
        switch answer[1] {
        case 0: return ask()
        case 2:
            guard let credential else { return .failed(.tunnelBroken) }
            let (name, password) = (Array(credential.username.utf8), Array(credential.password.utf8))
            guard (1...255).contains(name.count), password.count <= 255 else { return deny() }
            phase = .credential
            return .send([1, UInt8(name.count)] + name + [UInt8(password.count)] + password)
        // The proxy accepts none of the offered methods (RFC 1928 §3). If no credential was offered, the proxy demands
        // one.
        case 0xFF: return deny()
        default: return .failed(.tunnelDenied)
        }
    }

    /// Returns the failure for a proxy that refused a missing or wrong credential. Calls `refused` to report the
    /// refusal.
    private func deny() -> TunnelStep {
        refused?(ProxyRefusal(challenges: [], hadCredential: credential != nil))
        return .failed(.tunnelDenied)
    }

    private mutating func credentialReply(_ bytes: inout ByteChain) -> TunnelStep {
        guard bytes.count >= 2 else { return .wait }
        let answer = Array(bytes.take(atMost: 2).bytes)
        return answer[1] == 0 ? ask() : deny()
    }

    private mutating func ask() -> TunnelStep {
        phase = .reply
        guard let place = destination.socksBytes else { return .failed(Failure(.dns, -65_540)) }
        return .send([5, command, 0] + place)
    }

    private mutating func replied(_ bytes: inout ByteChain) -> TunnelStep {
        guard bytes.count >= 5 else { return .wait }
        let head = Array(bytes.front(5))
        guard head[0] == 5 else { return .failed(.tunnelBroken) }
        guard head[1] == 0 else { return .failed(Self.failure(head[1])) }
        guard let count = TunnelDestination.socksByteCount(head[3...]) else { return .failed(.tunnelBroken) }
        guard bytes.count >= 3 + count else { return .wait }
        bound = TunnelDestination(socksBytes: bytes.front(3 + count).dropFirst(3))
        bytes.drop(atMost: 3 + count)
        return .open
    }

    /// Returns the failure for a reply code (RFC 1928 §6).
    private static func failure(_ code: UInt8) -> Failure {
        switch code {
        case 2: .tunnelDenied
        case 3: .tunnelNetworkUnreachable
        case 4: .tunnelHostUnreachable
        case 5: .tunnelRefused
        case 6: .tunnelTimedOut
        // The proxy does not support the command, for example because it does not relay datagrams.
        case 7: .tunnelUnsupported
        default: .tunnelBroken
        }
    }
}
