package import CausewaySystem
internal import CausewayTypes
package import CausewayWire

extension ServiceLookup {
    /// A service's location and TXT record, as far as known. This value performs no I/O.
    package struct Place: Sendable, Equatable {
        package var host: DNSName?
        package var port: UInt16 = 0
        /// The received addresses without a port, so that they can be compared with removed records. ``told`` adds the
        /// port.
        package var addresses: [SocketAddress] = []
        package var text: [UInt8]?

        /// Processes one message's changes. Returns the host if it is new and its addresses must be queried.
        mutating func heard(added: [DNSRecord], removed: [DNSRecord], on interface: NWInterface?) -> DNSName? {
            var wanted: DNSName?
            for record in removed { addresses.removeAll { $0 == record.address(on: interface) } }
            for record in added {
                switch record.data {
                // The root domain as target means that the service does not exist (RFC 2782).
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

        /// The state for the program, with the port in each address. The port may arrive after the addresses.
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
