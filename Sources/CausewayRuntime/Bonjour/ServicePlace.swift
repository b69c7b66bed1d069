package import CausewaySystem
internal import CausewayTypes
package import CausewayWire

extension ServiceLookup {
    /// What is known of where a service is. It does nothing by itself.
    package struct Place: Sendable, Equatable {
        package var host: DNSName?
        package var port: UInt16 = 0
        /// As they were heard, without a port: an address that goes is the same as the one that came. ``told`` has the port.
        package var addresses: [SocketAddress] = []
        package var text: [UInt8]?

        /// Takes what was heard in one message. Returns the host, if it is another than before: its addresses are to be asked for.
        mutating func heard(added: [DNSRecord], removed: [DNSRecord], on interface: NWInterface?) -> DNSName? {
            var wanted: DNSName?
            for record in removed { addresses.removeAll { $0 == record.address(on: interface) } }
            for record in added {
                switch record.data {
                // The root as a host says that there is no such service (RFC 2782).
                case .service(_, _, _, .root): continue
                case .service(_, _, let port, let target):
                    self.port = port
                    guard host != target else { continue }
                    (host, addresses) = (target, [])
                    wanted = target
                case .text(let text): self.text = text == [0] ? [] : text
                default:
                    guard let address = record.address(on: interface), !addresses.contains(address) else { continue }
                    addresses.append(address)
                }
            }
            return wanted
        }

        /// The same for a program: each address with the port, which may have come last.
        var told: Place {
            var place = self
            place.addresses = addresses.map { $0.withPort(port) }
            return place
        }
    }
}

extension DNSRecord {
    fileprivate func address(on interface: NWInterface?) -> SocketAddress? {
        switch data {
        case .ipv4(let address): SocketAddress(address, port: 0)
        case .ipv6(let address):
            SocketAddress(IPv6Address(high: address.high, low: address.low, interface: interface), port: 0)
        default: nil
        }
    }
}

extension SocketAddress {
    fileprivate func withPort(_ port: UInt16) -> SocketAddress {
        switch self {
        case .ipv4(let bits, _): .ipv4(bits: bits, port: port)
        case .ipv6(let high, let low, _, let scope): .ipv6(high: high, low: low, port: port, scope: scope)
        case .unix: self
        }
    }
}
