import Causeway
import CausewayHTTP
import CausewayHTTPProtocols
import CausewayProtocols
import CausewayTypes

/// A failure of `nw http` with its exit code.
struct HTTPCommandFailure: Error {
    /// The exit codes, which are the same as curl's.
    enum Code: Int32 {
        case other = 1
        case unresolved = 6
        case notConnected = 7
        case invalidResponse = 8
        case partial = 18
        case status = 22
        case write = 23
        case read = 26
        case timedOut = 28
        case noRange = 33
        case handshake = 35
        case redirects = 47
        case noResponse = 52
        case proxyRefused = 56
        case notTrusted = 60
        case coding = 61
        case tooLarge = 63
    }

    let code: Code
    let message: PrintableText
    /// Whether the failure is permanent, because the server's name does not exist. A retry then cannot succeed.
    let isLasting: Bool

    init(_ code: Code, _ message: PrintableText, isLasting: Bool = false) {
        self.code = code
        self.message = message
        self.isLasting = isLasting
    }
}

extension HTTPCommandFailure {
    /// Creates the explanation for a failure of the HTTP engine.
    ///
    /// - Parameter reason: Why the server is not trusted, or why a proxy failed. This text replaces the error's less
    ///   exact text.
    init(_ failure: HTTPFailure, to origin: HTTPOrigin, reason: PrintableText?) {
        let place: PrintableText = "\(origin.host):\(origin.port)"
        if case .cannotConnect(let error) = failure {
            self.init(
                Self.code(of: error), "connection to \(place) failed: \(reason ?? describe(error))",
                isLasting: Self.isLasting(error))
        } else if case .connectionLost(let received, let expected, let error) = failure {
            let total: PrintableText = expected.map { " of \($0)" } ?? ""
            let cause: PrintableText = error.map { ": \(describe($0))" } ?? ""
            self.init(.partial, "the connection ended after \(received)\(total) bytes of content\(cause)")
        } else if case .noResponse(let error) = failure {
            let cause: PrintableText = error.map { ": \(describe($0))" } ?? ""
            self.init(.noResponse, "\(place) closed the connection without a response\(cause)")
        } else if case .contentFailed(let error) = failure {
            self.init(.read, "cannot read the content to send: \(describe(error))")
        } else if Self.isTimeout(failure) {
            self.init(.timedOut, "timed out")
        } else if case .invalidRequest(let problem) = failure {
            self.init(.other, "the request is invalid: \(PrintableText(foreign: problem.explanation))")
        } else if case .invalidResponse(let problem) = failure {
            self.init(
                .invalidResponse, "the response of \(place) is invalid: \(PrintableText(foreign: problem.explanation))")
        } else {
            self.init(Self.code(of: failure), "\(place): \(PrintableText(foreign: failure.explanation))")
        }
    }

    init(_ refusal: RefusingProxy) { self.init(.proxyRefused, refusal.text) }

    init(_ failure: DecodingFailure) {
        if case .excess = failure {
            self.init(.tooLarge, PrintableText(foreign: failure.description))
        } else {
            self.init(.coding, PrintableText(foreign: failure.description))
        }
    }

    init(_ refusal: RedirectRefusal, from target: URIReference) {
        switch refusal {
        case .tooMany(let limit):
            self.init(.redirects, "more than \(limit) redirects; raise the limit with --max-redirs")
        case .downgrade: self.init(.other, "\(target) redirects from https to http, which is not followed")
        case .invalidLocation: self.init(.invalidResponse, "\(target) redirects to an invalid location")
        case .unsupportedScheme(let scheme):
            self.init(.other, "\(target) redirects to the scheme '\(scheme)', which is not supported")
        }
    }

    private static func isTimeout(_ failure: HTTPFailure) -> Bool {
        switch failure {
        case .timedOut, .deadlineExceeded: true
        default: false
        }
    }

    private static func code(of failure: HTTPFailure) -> Code {
        switch failure {
        case .violation, .reset: .invalidResponse
        case .tooLarge: .tooLarge
        default: .other
        }
    }

    private static func isLasting(_ error: NWError) -> Bool {
        guard case .dns(let code) = error else { return false }
        return [kDNSServiceErr_NoSuchName, kDNSServiceErr_NoSuchRecord, kDNSServiceErr_BadParam].contains(Int(code))
    }

    private static func code(of error: NWError) -> Code {
        switch error {
        case .posix(.ETIMEDOUT): .timedOut
        case .posix, .wifiAware: .notConnected
        case .dns: .unresolved
        case .tls(let status): isTrustProblem(status) ? .notTrusted : .handshake
        }
    }

    private static func isTrustProblem(_ status: OSStatus) -> Bool {
        [
            errSSLXCertChainInvalid, errSSLBadCert, errSSLUnknownRootCert, errSSLNoRootCert, errSSLCertExpired,
            errSSLCertNotYetValid, errSSLHostNameMismatch,
        ].contains(status)
    }
}
