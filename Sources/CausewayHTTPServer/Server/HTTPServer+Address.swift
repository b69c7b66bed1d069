public import Causeway
public import CausewayTypes

extension HTTPServer {
    /// The local address at which a server listens: which hosts can reach it, and its port.
    public struct Address: Hashable, Sendable {
        private enum Kind: Hashable, Sendable {
            case loopback
            case any
            case host(NWEndpoint.Host)
        }

        private let kind: Kind
        let port: NWEndpoint.Port

        /// All loopback addresses, IPv4 and IPv6: only programs on this host can connect.
        ///
        /// Listens on the loopback interface. Before Linux 5.7 this needs the capability `CAP_NET_RAW`, and otherwise
        /// ``HTTPServer/run()`` throws `.posix(.EPERM)`; `.host("127.0.0.1", port: port)` needs none.
        ///
        /// - Parameter port: The port; `.any` lets the system choose one.
        public static func loopback(port: NWEndpoint.Port = .any) -> Address { Address(kind: .loopback, port: port) }

        /// All addresses of this host, IPv4 and IPv6: every host that can reach this one can connect.
        ///
        /// - Parameter port: The port; `.any` lets the system choose one.
        public static func any(port: NWEndpoint.Port = .any) -> Address { Address(kind: .any, port: port) }

        /// One address of this host.
        ///
        /// - Parameters:
        ///   - host: An IPv4 or IPv6 address. A server with a name other than `localhost` fails with `.posix(.EINVAL)`.
        ///   - port: The port; `.any` lets the system choose one.
        public static func host(_ host: NWEndpoint.Host, port: NWEndpoint.Port = .any) -> Address {
            Address(kind: .host(host), port: port)
        }

        /// Returns the address of a server whose program gives none. It is the loopback address. If the parameters
        /// already require a local endpoint or an interface, returns `nil`.
        static func standard(for parameters: NWParameters) -> Address? {
            let isFree =
                parameters.requiredLocalEndpoint == nil && parameters.requiredInterface == nil
                && parameters.requiredInterfaceType == .other
            return isFree ? .loopback() : nil
        }

        /// Returns a copy of parameters that makes a listener listen at this address, at the port given to it.
        func applied(to parameters: NWParameters) -> NWParameters {
            let parameters = parameters.copy()
            switch kind {
            case .loopback:
                let interface = NWInterface(name: "lo")
                parameters.requiredInterface = interface
                // If the interface cannot be looked up, listen on IPv4 only.
                parameters.requiredLocalEndpoint =
                    interface == nil ? .hostPort(host: .ipv4(.loopback), port: .any) : nil
            case .any:
                parameters.requiredLocalEndpoint = nil
            case .host(let host):
                parameters.requiredLocalEndpoint = .hostPort(host: host, port: .any)
            }
            return parameters
        }
    }

    /// Creates a server at an address. It does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - address: Where the server listens. ``Address/loopback(port:)`` is right for tests, for development and
    ///     behind a proxy on this host. A server for other hosts needs ``Address/any(port:)`` or
    ///     ``Address/host(_:port:)``. The default, `nil`, is what the parameters require, and otherwise loopback with a
    ///     port that the system chooses.
    ///   - parameters: The transport, as in ``init(using:on:configuration:handler:)``. The address replaces their
    ///     local endpoint.
    ///   - configuration: Limits and timeouts.
    ///   - handler: Responds to each request.
    /// - Throws: Never at present. A server that cannot listen fails in ``run()``.
    public convenience init(
        at address: Address? = nil, using parameters: NWParameters = HTTPServer.defaultParameters,
        configuration: Configuration = Configuration(), handler: @escaping Handler
    ) throws {
        let address = address ?? Address.standard(for: parameters)
        try self.init(
            using: address?.applied(to: parameters) ?? parameters, on: address?.port ?? .any,
            configuration: configuration, handler: handler)
    }

    /// Creates a server at an address that hands each request to its route's handler.
    ///
    /// ```swift
    /// let server = try HTTPServer(at: .loopback(port: 8080), routes: routes)
    /// ```
    ///
    /// - Throws: As ``init(at:using:configuration:handler:)``.
    public convenience init(
        at address: Address? = nil, using parameters: NWParameters = HTTPServer.defaultParameters,
        configuration: Configuration = Configuration(), routes: HTTPServerRoutes
    ) throws {
        try self.init(at: address, using: parameters, configuration: configuration) { request in
            try await routes.respond(to: request)
        }
    }
}
