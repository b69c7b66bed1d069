/// The policy of a session for storing cookies.
package enum CookieAcceptPolicy: Sendable {
    case always
    case never
    /// Only cookies of the site of the main document. Without a main document every request counts as one for it.
    case onlyFromMainDocumentDomain
}

extension CookieStore {
    /// Whether the policy permits to store cookies from `host`.
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

    /// Returns the domain that one owner registered: the public suffix of `host` and one label more. An address is its own domain.
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
