internal import CausewayTypes
package import CausewayWire

/// Where a tunnel leads. A name is the proxy's to resolve.
package struct TunnelDestination: Hashable, Sendable {
    package enum Host: Hashable, Sendable {
        case address(InternetAddress)
        /// In A-labels.
        case name(String)
    }

    package var host: Host
    package var port: UInt16

    package init(_ host: Host, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// `example.com:443`, `[2001:db8::1]:443` (RFC 9110 §7.2).
    package var authority: String {
        switch host {
        case .name(let name): "\(name):\(port)"
        case .address(.ipv4(let address)): "\(address.debugDescription):\(port)"
        case .address(.ipv6(let address)):
            "[\(IPv6Address(high: address.high, low: address.low).debugDescription)]:\(port)"
        }
    }
}

/// Who asks a proxy.
package struct TunnelCredential: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    package var username: String
    package var password: String

    package init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    /// Neither the name nor the password, wherever it is printed.
    package var description: String { "(credential)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Asks a SOCKS 5 proxy for a connection (RFC 1928), with a name and password where it wants them (RFC 1929).
package struct SOCKSHandshake: TunnelHandshake {
    private enum Phase { case method, credential, reply }

    private let destination: TunnelDestination
    private let credential: TunnelCredential?
    private var phase = Phase.method

    package init(to destination: TunnelDestination, credential: TunnelCredential?) {
        self.destination = destination
        self.credential = credential
    }

    package mutating func begin() -> [UInt8] {
        // Without a credential nothing but «no authentication» is offered.
        credential == nil ? [5, 1, 0] : [5, 2, 0, 2]
    }

    package mutating func received(_ octets: inout ByteChain) -> TunnelStep {
        switch phase {
        case .method: chosenMethod(&octets)
        case .credential: judged(&octets)
        case .reply: replied(&octets)
        }
    }

    private mutating func chosenMethod(_ octets: inout ByteChain) -> TunnelStep {
        guard octets.count >= 2 else { return .wait }
        let answer = Array(octets.take(atMost: 2).octets)
        guard answer[0] == 5 else { return .failed(.tunnelBroken) }
        switch answer[1] {
        case 0: return ask()
        case 2:
            guard let credential else { return .failed(.tunnelBroken) }
            let (name, password) = (Array(credential.username.utf8), Array(credential.password.utf8))
            guard (1...255).contains(name.count), password.count <= 255 else { return .failed(.tunnelDenied) }
            phase = .credential
            return .send([1, UInt8(name.count)] + name + [UInt8(password.count)] + password)
        default: return .failed(.tunnelDenied)
        }
    }

    private mutating func judged(_ octets: inout ByteChain) -> TunnelStep {
        guard octets.count >= 2 else { return .wait }
        let answer = Array(octets.take(atMost: 2).octets)
        return answer[1] == 0 ? ask() : .failed(.tunnelDenied)
    }

    private mutating func ask() -> TunnelStep {
        phase = .reply
        var request: [UInt8] = [5, 1, 0]
        switch destination.host {
        case .address(.ipv4(let address)): request += [1] + Self.octets(address.bits)
        case .address(.ipv6(let address)): request += [4] + Self.octets(address.high) + Self.octets(address.low)
        case .name(let name):
            let octets = Array(name.utf8)
            guard (1...255).contains(octets.count) else { return .failed(Failure(.dns, -65_540)) }
            request += [3, UInt8(octets.count)] + octets
        }
        return .send(request + Self.octets(destination.port))
    }

    private mutating func replied(_ octets: inout ByteChain) -> TunnelStep {
        guard octets.count >= 5 else { return .wait }
        let head = Array(octets.front(5))
        guard head[0] == 5 else { return .failed(.tunnelBroken) }
        guard head[1] == 0 else { return .failed(Self.failure(head[1])) }
        let addressCount: Int
        switch head[3] {
        case 1: addressCount = 4
        case 3: addressCount = 1 + Int(head[4])
        case 4: addressCount = 16
        default: return .failed(.tunnelBroken)
        }
        guard octets.count >= 4 + addressCount + 2 else { return .wait }
        octets.drop(atMost: 4 + addressCount + 2)
        return .open
    }

    /// RFC 1928 §6.
    private static func failure(_ code: UInt8) -> Failure {
        switch code {
        case 2: .tunnelDenied
        case 3: .tunnelNetworkUnreachable
        case 4: .tunnelHostUnreachable
        case 5: .tunnelRefused
        case 6: .tunnelTimedOut
        default: .tunnelBroken
        }
    }

    private static func octets<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
        stride(from: T.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> T($0)) }
    }
}
