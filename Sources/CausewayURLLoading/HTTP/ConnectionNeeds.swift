internal import Foundation

/// The values of a request that determine which connections it can use.
struct ConnectionNeeds: Equatable, Sendable {
    /// Options that restrict the choice of connection.
    static let restrictions: RequestOptions = [
        .allowsCellularAccess, .allowsExpensiveAccess, .allowsConstrainedAccess, .allowsUltraConstrainedAccess,
        .requiresDNSSECValidation,
    ]

    var options: RequestOptions
    var serviceType: NSURLRequest.NetworkServiceType

    /// Creates the needs from single request values. Copying all request values would take much longer.
    init(_ options: RequestOptions, _ serviceType: NSURLRequest.NetworkServiceType) {
        self.options = options.intersection(Self.restrictions)
        self.serviceType = serviceType
    }

    /// Creates the needs of a request with these values.
    init(_ values: RequestValues) { self.init(values.options, values.networkServiceType) }

    /// Creates the needs of a task without a request.
    init(_ access: SessionSettings.Access) {
        options = access.options.intersection(Self.restrictions)
        serviceType = access.networkServiceType
    }
}
