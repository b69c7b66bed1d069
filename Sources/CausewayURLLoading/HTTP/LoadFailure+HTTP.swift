internal import Causeway
internal import CausewayHTTP
internal import CausewayProtocols
internal import Foundation

extension LoadFailure {
    /// Converts an exchange failure to a load failure.
    ///
    /// - Parameter rejection: The server's certificate chain, if it was rejected.
    init(_ failure: HTTPFailure, rejection: TrustRejection?, _ request: URLRequest) {
        switch failure {
        case .cannotConnect(let error): self.init(connecting: error, rejection, request.values.options)
        case .connectionLost(_, _, let error), .noResponse(let error):
            if case .tls(let status) = error, let cause = Self.clientCertificate(status) {
                self.init(cause, underlying: error)
            } else {
                self.init(.connectionLost, underlying: error ?? NWError.posix(.ECONNRESET))
            }
        case .invalidResponse(let failure): self.init(failure)
        case .violation:
            self.init(
                .protocolViolation, underlying: NWError.posix(.EPROTO),
                details: [Self.reasonKey: failure.explanation])
        case .reset:
            self.init(
                .connectionLost, underlying: NWError.posix(.ECONNRESET),
                details: [Self.reasonKey: failure.explanation])
        case .invalidRequest(let failure):
            self.init(unsendable: failure, hasContent: request.values.body != .none)
        case .deadlineExceeded, .timedOut: self.init(.timedOut, underlying: NWError.posix(.ETIMEDOUT))
        case .cancelled, .closed: self.init(.cancelled)
        case .contentFailed(let error):
            self = error as? LoadFailure ?? LoadFailure(.bodyStreamExhausted, underlying: error)
        case .tooLarge: self.init(.tooLarge)
        }
    }

    /// Creates the failure for a request that cannot be sent. The description names the invalid part of the request,
    /// because the default description of the error code mentions only the URL.
    init(unsendable failure: HTTP1Failure, hasContent: Bool) {
        var cause = Cause.badURL
        let reason = failure.explanation
        if case .misuse = failure, hasContent { cause = .bodyStreamExhausted }
        self.init(
            cause, underlying: NWError.posix(.EINVAL),
            details: [NSLocalizedDescriptionKey: "The request cannot be sent: \(reason).", Self.reasonKey: reason])
    }

    private init(_ failure: HTTP1Failure) {
        let underlying = NWError.posix(.EBADMSG)
        switch failure {
        case .syntax: self.init(.unreadableResponse, underlying: underlying)
        case .endedEarly, .endedWithoutResponse, .aborted: self.init(.connectionLost, underlying: underlying)
        case .framing, .unsupportedCoding, .invalidRequest, .tooManyInformationalResponses, .unexpectedBytes,
            .unexpectedUpgrade, .unwritable, .misuse:
            self.init(.protocolViolation, underlying: underlying)
        }
        details[Self.reasonKey] = failure.explanation
    }

    /// The user info key for the reason as text.
    static let reasonKey = NSLocalizedFailureReasonErrorKey

    /// Creates the failure for a load whose proxy settings cannot be used.
    init(unusableProxies error: NWError) {
        let reason =
            switch error {
            case .posix(.ENOTSUP): "Proxies cannot be discovered automatically."
            case .posix(.EPROTONOSUPPORT): "The type of the proxy is not supported."
            default: "The settings of the proxies are not valid."
            }
        self.init(.connectionRefused, underlying: error, details: [Self.reasonKey: reason])
    }

    /// Creates the failure for a connection that cannot be established.
    init(connecting error: NWError, _ rejection: TrustRejection?, _ options: RequestOptions) {
        switch error {
        case .posix(.ETIMEDOUT): self.init(.timedOut, underlying: error)
        case .posix(.ENETDOWN), .posix(.ENETUNREACH), .posix(.EADDRNOTAVAIL):
            self.init(.notConnected, underlying: error)
            noteForbiddenPath(options)
        case .posix(let code):
            self.init(.connectionRefused, underlying: error)
            guard code == .ENOTSUP, options[.requiresDNSSECValidation] else { return }
            details[Self.reasonKey] = "DNSSEC validation is required, and names cannot be validated."
        case .dns(let code) where Int(code) == kDNSServiceErr_Timeout: self.init(.timedOut, underlying: error)
        case .dns: self.init(.hostNotFound, underlying: error)
        case .tls(let status):
            self.init(security: rejection?.failure ?? (rejection == nil ? error : nil), status)
            if let trust = rejection?.trust { details[NSURLErrorFailingURLPeerTrustErrorKey] = trust }
            if rejection?.lacksKnownRoot == true { cause = .certificateRootUnknown }
            underlying = rejection?.failure ?? error
        case .wifiAware: self.init(.connectionRefused, underlying: error)
        }
    }

    /// Creates the failure for a failed TLS handshake. If `reason` is `nil`, the program rejected the certificate
    /// chain.
    private init(security reason: NWError?, _ status: OSStatus) {
        guard case .tls(let code) = reason ?? .tls(errSSLXCertChainInvalid) else {
            self.init(.certificateUntrusted)
            return
        }
        if let cause = Self.clientCertificate(code) {
            self.init(cause)
            return
        }
        switch code {
        case errSSLCertExpired: self.init(.certificateDateInvalid)
        case errSSLCertNotYetValid: self.init(.certificateNotYetValid)
        case errSSLUnknownRootCert, errSSLNoRootCert: self.init(.certificateRootUnknown)
        case errSSLXCertChainInvalid, errSSLBadCert, errSSLHostNameMismatch: self.init(.certificateUntrusted)
        case errSSLNetworkTimeout: self.init(.timedOut)
        default: self.init(.handshakeFailed)
        }
    }

    /// Returns the failure's cause if a TLS alert concerns the client's certificate; otherwise `nil`.
    private static func clientCertificate(_ code: OSStatus) -> Cause? {
        switch code {
        case errSSLCertificateRequired: .clientCertificateRequired
        case errSSLPeerBadCert, errSSLPeerUnsupportedCert, errSSLPeerCertRevoked, errSSLPeerCertExpired,
            errSSLPeerCertUnknown, errSSLPeerUnknownCA, errSSLPeerAccessDenied:
            .clientCertificateRejected
        default: nil
        }
    }

    /// Adds the reason why the network is unavailable to the error's details. Does so if an interface is up but the
    /// request forbids its use.
    private mutating func noteForbiddenPath(_ options: RequestOptions) {
        let interfaces = PathQuery.everywhere().interfaces.filter(\.isCarrying)
        let reasons: [(URLError.NetworkUnavailableReason, RequestOptions, (PathQuery.Interface) -> Bool)] = [
            (.cellular, .allowsCellularAccess, { $0.interface.type == .cellular }),
            (.expensive, .allowsExpensiveAccess, \.isExpensive),
            // Check `.ultraConstrained` before `.constrained`, because an ultra-constrained interface is also
            // constrained.
            (.ultraConstrained, .allowsUltraConstrainedAccess, \.isUltraConstrained),
            (.constrained, .allowsConstrainedAccess, \.isConstrained),
        ]
        let reason = reasons.first { !options[$0.1] && interfaces.contains(where: $0.2) }?.0
        if let reason { details[NSURLErrorNetworkUnavailableReasonKey] = reason.rawValue }
    }

    init(_ failure: DecodingFailure) {
        let cause: Cause =
            switch failure {
            case .unavailable, .unsupported: .encodingUnknown
            case .damaged, .truncated: .encodingBroken
            case .excess: .tooLarge
            }
        self.init(cause, underlying: NWError.posix(.EBADMSG), details: [Self.reasonKey: failure.description])
    }
}
