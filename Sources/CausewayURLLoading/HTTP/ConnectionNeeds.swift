internal import Foundation

/// The values of a request that determine which connections it can use.
struct ConnectionNeeds: Equatable, Sendable {
    /// The request options that restrict which connections a request can use.
    static let restrictions: RequestOptions = [
        .allowsCellularAccess, .allowsExpensiveAccess, .allowsConstrainedAccess, .allowsUltraConstrainedAccess,
        .requiresDNSSECValidation,
    ]

    var options: RequestOptions
    var serviceType: NSURLRequest.NetworkServiceType

    /// Creates the connection requirements of a request from two of its values. Copying all request values would take
    /// much longer.
    init(_ options: RequestOptions, _ serviceType: NSURLRequest.NetworkServiceType) {
        self.options = options.intersection(Self.restrictions)
        self.serviceType = serviceType
    }

    /// Creates the connection requirements of a request.
    init(_ values: RequestValues) { self.init(values.options, values.networkServiceType) }

    /// Creates the connection requirements of a task without a request.
    init(_ access: SessionSettings.Access) {
        options = access.options.intersection(Self.restrictions)
        serviceType = access.networkServiceType
    }
}
