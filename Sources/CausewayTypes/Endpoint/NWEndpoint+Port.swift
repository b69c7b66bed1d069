internal import CCausewayLinux

extension NWEndpoint {
    /// A TCP or UDP port.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public struct Port: Hashable, CustomDebugStringConvertible, ExpressibleByIntegerLiteral, RawRepresentable, Sendable
    {
        /// The literal type for creating a port.
        public typealias IntegerLiteralType = UInt16

        /// Port 0: the system chooses a free port.
        public static let any: NWEndpoint.Port = 0
        /// Port 22.
        public static let ssh: NWEndpoint.Port = 22
        /// Port 25.
        public static let smtp: NWEndpoint.Port = 25
        /// Port 80.
        public static let http: NWEndpoint.Port = 80
        /// Port 110.
        public static let pop: NWEndpoint.Port = 110
        /// Port 143.
        public static let imap: NWEndpoint.Port = 143
        /// Port 443.
        public static let https: NWEndpoint.Port = 443
        /// Port 993.
        public static let imaps: NWEndpoint.Port = 993
        /// Port 1080.
        public static let socks: NWEndpoint.Port = 1080

        /// The port number in host byte order.
        public let rawValue: UInt16

        /// Creates a port from an integer literal.
        public init(integerLiteral value: NWEndpoint.Port.IntegerLiteralType) {
            rawValue = value
        }

        /// Creates a port. Never returns `nil`, because every 16-bit number is valid; 0 is ``any``.
        public init?(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        package init(_ number: UInt16) {
            rawValue = number
        }

        /// Creates a port from decimal digits, or from a service name in this host's service database.
        ///
        /// Looking up a service name reads a file.
        ///
        /// - Returns: `nil` for a number above 65535 and for an unknown name.
        public init?(_ service: String) {
            guard !service.isEmpty, !service.utf8.contains(0) else { return nil }
            guard service.utf8.contains(where: { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
                guard let number = UInt16(service) else { return nil }
                self.init(number)
                return
            }
            guard let number = Self.number(ofService: service) else { return nil }
            self.init(number)
        }

        /// The port number in decimal.
        public var debugDescription: String { String(rawValue) }

        private static func number(ofService service: String) -> UInt16? {
            for transport in ["tcp", "udp"] {
                let number = unsafe causeway_service_port(service, transport)
                if number >= 0 { return UInt16(exactly: number) }
            }
            return wellKnown[service]
        }

        // Minimal container images have no service database, so the names of the constants above are built in.
        private static let wellKnown: [String: UInt16] = [
            "ssh": 22, "smtp": 25, "http": 80, "pop3": 110, "imap": 143, "https": 443, "imaps": 993, "socks": 1080,
        ]
    }
}
