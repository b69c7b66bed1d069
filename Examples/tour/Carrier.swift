import Causeway
import Dispatch
import FoundationEssentials

/// A transport and an address of this host.
struct Carrier: Sendable {
    enum Kind: Sendable { case tcp, udp, tls }

    let title: String
    let kind: Kind
    /// The address to listen on. Port 0 stands for a free port.
    let address: NWEndpoint

    var isIPv6: Bool {
        if case .hostPort(.ipv6, _) = address { true } else { false }
    }

    static func all(socketPath: String) -> [Carrier] {
        let hosts: [(NWEndpoint.Host, String)] = [(.ipv6(.loopback), "IPv6"), (.ipv4(.loopback), "IPv4")]
        let networked = [(Kind.tcp, "TCP"), (.udp, "UDP"), (.tls, "TLS 1.3")].flatMap { kind, name in
            hosts.map { host, family in
                Carrier(title: "\(name) over \(family)", kind: kind, address: .hostPort(host: host, port: .any))
            }
        }
        return networked + [Carrier(title: "Unix-domain socket", kind: .tcp, address: .unix(path: socketPath))]
    }

    func makeParameters() -> NWParameters {
        switch kind {
        case .tcp: .tcp
        case .udp: .udp
        case .tls: NWParameters(tls: Self.makeTLSOptions())
        }
    }

    func makeListener() throws -> NWListener {
        let parameters = makeParameters()
        parameters.requiredLocalEndpoint = address
        return try NWListener(using: parameters)
    }

    /// Returns the endpoint of a listener at this address.
    func endpoint(of listener: NWListener) -> NWEndpoint {
        guard case .hostPort(let host, _) = address, let port = listener.port else { return address }
        return .hostPort(host: host, port: port)
    }

    /// Returns TLS options with a pre-shared key, which both sides use instead of certificates.
    private static func makeTLSOptions() -> NWProtocolTLS.Options {
        let options = NWProtocolTLS.Options()
        sec_protocol_options_add_pre_shared_key(
            options.securityProtocolOptions, bytes("a key for this tour only"), bytes("tour"))
        sec_protocol_options_set_min_tls_protocol_version(options.securityProtocolOptions, .TLSv13)
        return options
    }

    private static func bytes(_ text: String) -> __DispatchData {
        Data(text.utf8).withUnsafeBytes { DispatchData(bytes: $0) } as __DispatchData
    }
}
