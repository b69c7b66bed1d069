/// A session's policy for storing cookies.
package enum CookieAcceptPolicy: Sendable {
    case always
    case never
    /// Accept only cookies of the main document's site. Without a main document, all cookies are accepted.
    case onlyFromMainDocumentDomain
}

extension CookieStore {
    /// Returns whether the policy permits storing cookies from `host`.
    ///
    /// - Parameter mainDocument: The host of the main document, if the request has one.
    package func accepts(_ policy: CookieAcceptPolicy, from host: String, mainDocument: String?) -> Bool {
        switch policy {
        case .always: return true
        case .never: return false
        case .onlyFromMainDocumentDomain:
            guard let mainDocument else { return true }
            return registrableDomain(of: host) == registrableDomain(of: mainDocument)
        }
    }

    /// Returns the registrable domain of `host`: its public suffix and one more label. An IP address is its own registrable domain.
    package func registrableDomain(of host: String) -> String {
        let lower = URIBytes.lowercased(host)
        let name = lower.hasSuffix(".") ? String(lower.dropLast()) : lower
        guard !CookieContext.isAddress(name) else { return name }
        var start = name.endIndex
        while start > name.startIndex {
            let before = name[..<start].utf8.dropLast().lastIndex(of: UInt8(ascii: "."))
            start = before.map { name.index(after: $0) } ?? name.startIndex
            let candidate = String(name[start...])
            if !isPublicSuffixDomain(candidate) { return candidate }
        }
        return name
    }
}
