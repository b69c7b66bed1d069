public import FoundationEssentials

extension NWListener {
    /// A service that a listener advertises.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public struct Service: Equatable, CustomDebugStringConvertible, Sendable {
        /// The name of the instance (RFC 6763 §4.1.1); `nil` for the host's name.
        public let name: String?

        /// The service type, such as `_ipp._tcp` (RFC 6763 §4.1.2). Empty for an application service.
        public let type: String

        /// The domain; `nil` for the default ones.
        public let domain: String?

        /// Whether a conflict of names makes the registration fail instead of choosing another. Default `false`.
        ///
        /// Counterpart: macOS 10.15, iOS 13.
        public var noAutoRename = false

        private var record: Data?

        /// The name given to ``init(applicationService:)``.
        package let applicationService: String?

        /// Describes a service with a TXT record in wire form (RFC 6763 §6.1).
        public init(name: String? = nil, type: String, domain: String? = nil, txtRecord: Data? = nil) {
            self.name = name
            self.type = type
            self.domain = domain
            record = txtRecord
            applicationService = nil
        }

        /// Describes a service with a TXT record.
        ///
        /// Counterpart: macOS 10.15, iOS 13.
        public init(name: String? = nil, type: String, domain: String? = nil, txtRecord: NWTXTRecord) {
            self.init(name: name, type: type, domain: domain, txtRecord: txtRecord.data)
        }

        /// Names an application service.
        ///
        /// Counterpart: macOS 13, iOS 16.
        public init(applicationService: String) {
            name = nil
            type = ""
            domain = nil
            record = nil
            self.applicationService = applicationService
        }

        /// The TXT record in wire form. Setting ``txtRecordObject`` changes it.
        public var txtRecord: Data? { record }

        /// The TXT record.
        ///
        /// Counterpart: macOS 10.15, iOS 13.
        public var txtRecordObject: NWTXTRecord? {
            get { record.map { NWTXTRecord($0) } }
            set { record = newValue?.data }
        }

        /// Name, type and domain with `*` for what is left to the system, and the size of the TXT record.
        public var debugDescription: String {
            if let applicationService { return "application service \(applicationService)" }
            let text = record.map { " (TXT \($0.count) bytes)" } ?? ""
            return "\(name ?? "*").\(type).\(domain ?? "*")\(text)"
        }
    }
}
