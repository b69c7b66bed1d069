public import CausewayTypes

/// An endpoint for a ``NetworkConnection``, such as a result of a ``NetworkBrowser``.
///
/// Counterpart: macOS 26, iOS 26.
public protocol Connectable {}

/// A ``Connectable`` value whose endpoint this library can read.
package protocol EndpointHolder: Connectable {
    var nwEndpoint: NWEndpoint { get }
}

extension Connectable {
    /// The endpoint; `nil` for a program-defined type, because this library cannot read its endpoint.
    package var connectableEndpoint: NWEndpoint? { (self as? any EndpointHolder)?.nwEndpoint }
}

/// The error for a discovered endpoint of an unexpected kind, for example a Bonjour result that is not a service.
public struct UnexpectedEndpointType: Error {
    /// The unexpected endpoint.
    public let endpoint: NWEndpoint

    /// Creates the error.
    public init(endpoint: NWEndpoint) {
        self.endpoint = endpoint
    }
}

/// Describes the service for a ``NetworkListener`` to register.
///
/// Counterpart: macOS 26, iOS 26.
public protocol ListenerProvider {
    /// The service to register.
    var service: NWListener.Service { get }
}

extension ListenerProvider where Self == BonjourListenerProvider {
    /// Describes a Bonjour service.
    public static func bonjour(
        name: String? = nil, type: String, domain: String? = nil, txtRecord: NWTXTRecord? = nil
    ) -> BonjourListenerProvider {
        BonjourListenerProvider(name: name, type: type, domain: domain, txtRecord: txtRecord)
    }
}

/// A Bonjour service to register.
///
/// Counterpart: macOS 26, iOS 26.
public struct BonjourListenerProvider: ListenerProvider, Sendable {
    /// The service to register.
    public let service: NWListener.Service

    /// Describes a service to register. If the name is `nil`, the service has the name of this host. If the domain is
    /// `nil`, it is `local`.
    public init(name: String? = nil, type: String, domain: String? = nil, txtRecord: NWTXTRecord? = nil) {
        service = NWListener.Service(name: name, type: type, domain: domain, txtRecord: txtRecord?.data)
    }
}

/// Describes the endpoints to discover with a ``NetworkBrowser``. A browser with a program-defined provider fails with `.posix(.ENOTSUP)`.
///
/// Counterpart: macOS 26, iOS 26.
public protocol BrowserProvider: Sendable {
    /// The result type.
    associatedtype Endpoint: Connectable
}

extension BrowserProvider where Self == Bonjour {
    /// Discovers instances of a Bonjour service type, such as `_ipp._tcp`.
    public static func bonjour(
        _ type: String, domain: String? = nil, includeTxtRecord: Bool = false
    ) -> Bonjour {
        Bonjour(type: type, domain: domain, includesTXTRecord: includeTxtRecord)
    }
}

/// Discovers Bonjour services.
///
/// Counterpart: macOS 26, iOS 26.
public struct Bonjour: BrowserProvider {
    package let type: String
    package let domain: String?
    package let includesTXTRecord: Bool

    /// The descriptor for an ``NWBrowser``.
    package var descriptor: NWBrowser.Descriptor {
        includesTXTRecord
            ? .bonjourWithTXTRecord(type: type, domain: domain) : .bonjour(type: type, domain: domain)
    }

    /// A discovered service.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Endpoint: Equatable, Identifiable, Sendable, Connectable, CustomStringConvertible {
        /// The type of ``id``.
        public typealias ID = String

        /// The browse result.
        public let result: NWBrowser.Result
        /// The TXT record; empty if it was not requested.
        public let txtRecord: NWTXTRecord
        /// The instance name.
        public let name: String
        /// The service type.
        public let type: String
        /// The domain.
        public let domain: String

        /// Creates the endpoint for a browse result.
        ///
        /// - Throws: ``UnexpectedEndpointType`` for a result that is not a service.
        package init(_ result: NWBrowser.Result) throws(UnexpectedEndpointType) {
            guard case .service(let name, let type, let domain, _) = result.endpoint else {
                throw UnexpectedEndpointType(endpoint: result.endpoint)
            }
            self.result = result
            self.name = name
            self.type = type
            self.domain = domain
            txtRecord = if case .bonjour(let record) = result.metadata { record } else { NWTXTRecord() }
        }

        /// The name, type and domain. They identify a service even if its other properties change.
        public var id: String { "\(name).\(type).\(domain)" }

        /// The endpoint to connect to.
        public var nwEndpoint: NWEndpoint { result.endpoint }

        /// The name, the type and the domain.
        public var description: String { nwEndpoint.debugDescription }

        /// Whether both endpoints have the same browse result.
        public static func == (lhs: Bonjour.Endpoint, rhs: Bonjour.Endpoint) -> Bool { lhs.result == rhs.result }
    }
}

extension Bonjour.Endpoint: EndpointHolder {}
