extension NWParameters {
    /// TLS over TCP with default options. Each access returns new parameters.
    public class var tls: NWParameters { NWParameters(tls: NWProtocolTLS.Options()) }

    /// DTLS over UDP with default options. Each access returns new parameters.
    public class var dtls: NWParameters { NWParameters(dtls: NWProtocolTLS.Options()) }

    /// Plain TCP with default options. Each access returns new parameters.
    public class var tcp: NWParameters { NWParameters(tls: nil) }

    /// Plain UDP with default options. Each access returns new parameters.
    public class var udp: NWParameters { NWParameters(dtls: nil) }

    /// Creates parameters for a QUIC stream, with the application protocols to offer (ALPN). QUIC is not implemented: connections and
    /// listeners with these parameters fail with `.posix(.ENOTSUP)`.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public class func quic(alpn: [String]) -> NWParameters {
        NWParameters(quic: NWProtocolQUIC.Options(alpn: alpn))
    }

    /// Creates parameters for the datagram flow of a QUIC tunnel, with the application protocols to offer (ALPN). QUIC is not implemented:
    /// connections and listeners with these parameters fail with `.posix(.ENOTSUP)`.
    ///
    /// Counterpart: macOS 13, iOS 16.
    public class func quicDatagram(alpn: [String]) -> NWParameters {
        let options = NWProtocolQUIC.Options(alpn: alpn)
        options.isDatagram = true
        return NWParameters(quic: options)
    }

    /// Parameters for TLS over TCP that also permit peer-to-peer interfaces. Each access returns new parameters.
    ///
    /// Counterpart: macOS 13, iOS 16.
    public class var applicationService: NWParameters {
        let parameters = NWParameters.tls
        parameters.includePeerToPeer = true
        return parameters
    }
}
