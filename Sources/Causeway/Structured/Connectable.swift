public import CausewayTypes

/// Something that a ``NetworkConnection`` can be made to, such as what a ``NetworkBrowser`` has found.
///
/// Counterpart: macOS 26, iOS 26.
public protocol Connectable {}

/// What a connection is made to for a ``Connectable``.
package protocol EndpointHolder: Connectable {
    var nwEndpoint: NWEndpoint { get }
}

extension Connectable {
    /// The endpoint; `nil` for a type of the program's own, which has none that is known here.
    package var connectableEndpoint: NWEndpoint? { (self as? any EndpointHolder)?.nwEndpoint }
}

/// A provider has produced an endpoint of another kind than it promised.
///
/// Counterpart: macOS 26, iOS 26.
public struct UnexpectedEndpointType: Error {
    /// The endpoint.
    public let endpoint: NWEndpoint

    /// Makes the error.
    public init(endpoint: NWEndpoint) {
        self.endpoint = endpoint
    }
}

/// What a ``NetworkListener`` advertises.
///
/// Counterpart: macOS 26, iOS 26.
public protocol ListenerProvider {
    /// The service.
    var service: NWListener.Service { get }
}

extension ListenerProvider where Self == BonjourListenerProvider {
    /// A Bonjour service.
    public static func bonjour(
        name: String? = nil, type: String, domain: String? = nil, txtRecord: NWTXTRecord? = nil
    ) -> BonjourListenerProvider {
        BonjourListenerProvider(name: name, type: type, domain: domain, txtRecord: txtRecord)
    }
}

/// A Bonjour service to advertise.
///
/// Counterpart: macOS 26, iOS 26.
public struct BonjourListenerProvider: ListenerProvider, Sendable {
    /// The service.
    public let service: NWListener.Service

    /// Describes a service. A name of `nil` is the host's, a domain of `nil` the default ones.
    public init(name: String? = nil, type: String, domain: String? = nil, txtRecord: NWTXTRecord? = nil) {
        service = NWListener.Service(name: name, type: type, domain: domain, txtRecord: txtRecord?.data)
    }
}

/// What a ``NetworkBrowser`` looks for.
///
/// Counterpart: macOS 26, iOS 26.
public protocol BrowserProvider: Sendable {
    /// What it finds.
    associatedtype Endpoint: Connectable
}

extension BrowserProvider where Self == Bonjour {
    /// Instances of a Bonjour service type, such as `_ipp._tcp`.
    public static func bonjour(
        _ type: String, domain: String? = nil, includeTxtRecord: Bool = false
    ) -> Bonjour {
        Bonjour(type: type, domain: domain, includesTXTRecord: includeTxtRecord)
    }
}

/// Looks for Bonjour services.
///
/// Counterpart: macOS 26, iOS 26.
public struct Bonjour: BrowserProvider {
    package let type: String
    package let domain: String?
    package let includesTXTRecord: Bool

    /// What a ``NWBrowser`` would be given.
    package var descriptor: NWBrowser.Descriptor {
        includesTXTRecord
            ? .bonjourWithTXTRecord(type: type, domain: domain) : .bonjour(type: type, domain: domain)
    }

    /// A service that was found.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Endpoint: Equatable, Identifiable, Sendable, Connectable, CustomStringConvertible {
        public typealias ID = String

        /// The browse result.
        public let result: NWBrowser.Result
        /// The TXT record; empty when it was not asked for.
        public let txtRecord: NWTXTRecord
        /// The name of the instance.
        public let name: String
        /// The service type.
        public let type: String
        /// The domain.
        public let domain: String

        /// - Throws: ``UnexpectedEndpointType`` for a result that is no service.
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

        /// Name, type and domain: the same for one service whatever else changes about it.
        public var id: String { "\(name).\(type).\(domain)" }

        /// What to connect to.
        public var nwEndpoint: NWEndpoint { result.endpoint }

        /// The name, the type and the domain.
        public var description: String { nwEndpoint.debugDescription }

        public static func == (lhs: Bonjour.Endpoint, rhs: Bonjour.Endpoint) -> Bool { lhs.result == rhs.result }
    }
}

extension Bonjour.Endpoint: EndpointHolder {}
