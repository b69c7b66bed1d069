internal import Causeway
internal import CausewayHTTP
internal import CausewayProtocols
internal import Foundation

extension HTTPNetwork {
    /// Returns the parameters for a connection to an origin, with the session's settings and the request's needs.
    func makeParameters(for origin: HTTPOrigin, _ needs: ConnectionNeeds) -> NWParameters {
        let parameters = HTTPEngine.defaultParameters(for: origin)
        limit(parameters, isSecure: origin.isSecure, needs)
        guard origin.isSecure,
            let tls = parameters.defaultProtocolStack.applicationProtocols.lazy
                .compactMap({ $0 as? NWProtocolTLS.Options }).first
        else { return parameters }
        limit(tls)
        challenges.install(in: tls.securityProtocolOptions, for: origin)
        return parameters
    }

    /// Applies the session's settings to connection parameters.
    func limit(_ parameters: NWParameters, isSecure: Bool, _ needs: ConnectionNeeds) {
        let options = needs.options
        parameters.prohibitExpensivePaths = !options[.allowsExpensiveAccess]
        parameters.prohibitConstrainedPaths = !options[.allowsConstrainedAccess]
        parameters.allowUltraConstrainedPaths = options[.allowsUltraConstrainedAccess]
        if !options[.allowsCellularAccess] { parameters.prohibitedInterfaceTypes = [.cellular] }
        parameters.requiresDNSSECValidation = options[.requiresDNSSECValidation]
        parameters.serviceClass = Self.serviceClass(needs.serviceType)
        parameters.multipathServiceType = Self.multipath(settings.access.multipathServiceType)
        if let context = try? proxies(isSecure: isSecure) { parameters.setPrivacyContext(context) }
    }

    /// Applies the session's TLS versions.
    func limit(_ tls: NWProtocolTLS.Options) {
        let (security, transport) = (tls.securityProtocolOptions, settings.transport)
        sec_protocol_options_set_min_tls_protocol_version(security, transport.minimumTLSVersion)
        sec_protocol_options_set_max_tls_protocol_version(security, transport.maximumTLSVersion)
    }

    private static func serviceClass(_ type: NSURLRequest.NetworkServiceType) -> NWParameters.ServiceClass {
        switch type {
        case .default, .voip: .bestEffort
        case .video, .avStreaming, .responsiveAV: .interactiveVideo
        case .background: .background
        case .voice: .interactiveVoice
        case .responsiveData: .responsiveData
        case .callSignaling: .signaling
        }
    }

    private static func multipath(
        _ type: URLSessionConfiguration.MultipathServiceType
    ) -> NWParameters.MultipathServiceType {
        switch type {
        case .none: .disabled
        case .handover: .handover
        case .interactive: .interactive
        case .aggregate: .aggregate
        }
    }
}
