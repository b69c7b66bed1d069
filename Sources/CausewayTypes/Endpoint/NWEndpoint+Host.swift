extension NWEndpoint {
    /// A host name or address.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum Host: Hashable, CustomDebugStringConvertible, ExpressibleByStringLiteral, Sendable {
        /// The literal type for creating a host.
        public typealias StringLiteralType = String

        /// A name to resolve, and the interface to use, if any.
        case name(String, NWInterface?)
        /// An IPv4 address.
        case ipv4(IPv4Address)
        /// An IPv6 address.
        case ipv6(IPv6Address)

        /// Creates a host from a literal, like ``init(_:)``.
        public init(stringLiteral: NWEndpoint.Host.StringLiteralType) {
            self.init(stringLiteral)
        }

        /// Creates a host from an address literal, or from a name if the text is not a literal.
        ///
        /// An IPv4-mapped IPv6 literal becomes ``ipv4(_:)``. A suffix such as `%eth0` becomes the interface if this host has an interface
        /// with that name; otherwise it stays part of the name.
        public init(_ string: String) {
            let literal = ScopedLiteral(string)
            if let address = IPv4Address(literal) {
                self = .ipv4(address)
            } else if let address = IPv6Address(literal) {
                if address.isIPv4Mapped, let embedded = address.asIPv4 {
                    self = .ipv4(embedded)
                } else {
                    self = .ipv6(address)
                }
            } else if let interface = literal.interface {
                self = .name(String(literal.address), interface)
            } else {
                self = .name(string, nil)
            }
        }

        /// The scope interface, if any.
        public var interface: NWInterface? {
            switch self {
            case .name(_, let interface): interface
            case .ipv4(let address): address.interface
            case .ipv6(let address): address.interface
            }
        }

        /// The name or address, followed by `%` and the interface name if there is one.
        public var debugDescription: String {
            switch self {
            case .name(let name, let interface):
                guard let interface else { return name }
                return "\(name)%\(interface.name)"
            case .ipv4(let address):
                return address.debugDescription
            case .ipv6(let address):
                return address.debugDescription
            }
        }
    }
}
