public import FoundationEssentials

extension NWListener {
    /// A service that a listener advertises.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public struct Service: Equatable, CustomDebugStringConvertible, Sendable {
        /// The instance name (RFC 6763 §4.1.1); `nil` for the host name.
        public let name: String?

        /// The service type, for example `_ipp._tcp` (RFC 6763 §4.1.2). Empty for an application service.
        public let type: String

        /// The domain; `nil` for `local`.
        public let domain: String?

        /// Whether the registration fails on a name conflict, instead of choosing another name (default: `false`).
        ///
        /// Counterpart: macOS 10.15, iOS 13.
        public var noAutoRename = false

        private var record: Data?

        /// Whether the name is certainly unique, for example because of its random digits. Such a service is advertised
        /// at once, without probing (RFC 6762 §8.1). Instead of this host's name, it uses a random host name, which is
        /// unique too.
        package var isKnownUnique = false

        /// The name passed to ``init(applicationService:)``.
        package let applicationService: String?

        /// Creates a service.
        ///
        /// - Parameters:
        ///   - name: The service name; `nil` for the host name.
        ///   - type: The type, such as `_http._tcp`.
        ///   - domain: The domain; `nil` for `local`.
        ///   - txtRecord: The TXT record in wire format (RFC 6763 §6.1); `nil` for an empty record.
        public init(name: String? = nil, type: String, domain: String? = nil, txtRecord: Data? = nil) {
            self.name = name
            self.type = type
            self.domain = domain
            record = txtRecord
            applicationService = nil
        }

        /// Creates a service with a TXT record.
        ///
        /// Counterpart: macOS 10.15, iOS 13.
        public init(name: String? = nil, type: String, domain: String? = nil, txtRecord: NWTXTRecord) {
            self.init(name: name, type: type, domain: domain, txtRecord: txtRecord.data)
        }

        /// Creates an application service. Not supported: the listener fails with `.posix(.ENOTSUP)`.
        ///
        /// Counterpart: macOS 13, iOS 16.
        public init(applicationService: String) {
            name = nil
            type = ""
            domain = nil
            record = nil
            self.applicationService = applicationService
        }

        /// The TXT record in wire format (RFC 6763 §6.1). To change it, set ``txtRecordObject``.
        public var txtRecord: Data? { record }

        /// The TXT record.
        ///
        /// Counterpart: macOS 10.15, iOS 13.
        public var txtRecordObject: NWTXTRecord? {
            get { record.map { NWTXTRecord($0) } }
            set { record = newValue?.data }
        }

        /// The name, type and domain, with `*` for each part that the system chooses, and the size of the TXT record in bytes.
        public var debugDescription: String {
            if let applicationService { return "application service \(applicationService)" }
            let text = record.map { " (TXT \($0.count) bytes)" } ?? ""
            return "\(name ?? "*").\(type).\(domain ?? "*")\(text)"
        }
    }
}
