/// A failure in the form that the layers below the API pass around: a domain and a number.
///
/// ``NWError`` holds a `POSIXErrorCode`, whose size is known at run time only: every type that holds one is handled by
/// run-time layout look-ups, which cost more than a small send. Here all sizes are known; ``NWError`` is made at the edge.
package struct Failure: Error, Hashable, Sendable {
    package enum Domain: UInt8, Sendable { case posix, dns, tls }

    package var domain: Domain
    /// `errno`, a dns_sd code or an `OSStatus`.
    package var code: Int32

    package init(_ domain: Domain, _ code: Int32) {
        self.domain = domain
        self.code = code
    }

    package init(errno: Int32) { self.init(.posix, errno) }

    package init(_ error: NWError) {
        switch error {
        case .posix(let code): self.init(.posix, code.rawValue)
        case .dns(let code): self.init(.dns, code)
        case .tls(let code): self.init(.tls, code)
        case .wifiAware(let code): self.init(.posix, code)
        }
    }

    /// The same failure as programs see it.
    package var networkError: NWError {
        switch domain {
        case .posix: NWError(errno: code)
        case .dns: .dns(code)
        case .tls: .tls(code)
        }
    }
}
