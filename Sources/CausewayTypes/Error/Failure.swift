/// A failure in the layers below the API: a domain and a number.
///
/// ``NWError`` contains a `POSIXErrorCode`, whose size is known only at run time. Types that contain an ``NWError`` need run-time layout
/// lookups, which cost more than a small send. All sizes in this type are known at compile time; the API layer converts a failure to
/// ``NWError``.
package struct Failure: Error, Hashable, Sendable {
    package enum Domain: UInt8, Sendable { case posix, dns, tls }

    package var domain: Domain
    /// An `errno`, a dns_sd error code or an `OSStatus`.
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

    /// The failure as an ``NWError`` for programs.
    package var networkError: NWError {
        switch domain {
        case .posix: NWError(errno: code)
        case .dns: .dns(code)
        case .tls: .tls(code)
        }
    }
}
