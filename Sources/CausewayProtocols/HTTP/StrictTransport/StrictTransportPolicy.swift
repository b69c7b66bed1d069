package import CausewayWire

/// The policy that a host declares with `Strict-Transport-Security` (RFC 6797 §6.1).
package struct StrictTransportPolicy: Equatable, Sendable {
    /// Larger numbers of seconds count as this one: 100 years.
    private static let maximumAge = 3_155_760_000

    /// How long the policy is valid, in seconds; 0 to end it.
    package let maxAge: Int
    package let includesSubdomains: Bool

    /// Reads the first field line of a response. Returns `nil` if it violates the grammar, names a directive twice, or lacks `max-age`. Unknown
    /// directives are ignored (RFC 6797 §6.1, §8.1).
    package init?(_ fields: FieldSection) {
        guard let index = fields.index(of: "Strict-Transport-Security") else { return nil }
        var reader = FieldValueReader(HTTPCharacters.trimmed(fields[index].value))
        var directives: [String: [UInt8]?] = [:]
        while !reader.isAtEnd {
            reader.skipSpace()
            if let token = reader.token() {
                let name = URIBytes.lowercased(String(decoding: token, as: UTF8.self))
                reader.skipSpace()
                var value: [UInt8]?
                if reader.take("=") {
                    reader.skipSpace()
                    value = reader.tokenOrQuotedString()
                    guard value != nil else { return nil }
                    reader.skipSpace()
                }
                guard directives.updateValue(value, forKey: name) == nil else { return nil }
            }
            guard reader.isAtEnd || reader.take(";") else { return nil }
        }
        guard case .some(.some(let digits)) = directives["max-age"], !digits.isEmpty,
            digits.allSatisfy(URIBytes.isDigit)
        else { return nil }
        maxAge = digits.reduce(0) { min($0 * 10 + Int($1 - 0x30), Self.maximumAge) }
        includesSubdomains = directives["includesubdomains"] != nil
    }
}

/// The hosts that want secure connections only (RFC 6797 §8). Times are seconds since 1970.
package struct StrictTransportHosts: Sendable {
    private struct Host {
        var expires: Int
        var includesSubdomains: Bool
    }

    /// The maximum number of hosts. Beyond it, those that expire first are forgotten.
    package static let maximumCount = 4_096

    private var hosts: [String: Host] = [:]

    package init() {}

    package var isEmpty: Bool { hosts.isEmpty }
    package var count: Int { hosts.count }

    /// Notes the policy of a response that came over a secure connection. Addresses have no policy (RFC 6797 §8.1.1).
    package mutating func note(_ policy: StrictTransportPolicy, of origin: HTTPOrigin, at now: Int) {
        guard origin.isSecure, Self.isName(origin.host) else { return }
        guard policy.maxAge > 0 else { return hosts[origin.host] = nil }
        hosts[origin.host] = Host(expires: now + policy.maxAge, includesSubdomains: policy.includesSubdomains)
        if hosts.count > Self.maximumCount { forget(at: now) }
    }

    /// Forgets the hosts that have expired, and an eighth of the others if there are still too many.
    private mutating func forget(at now: Int) {
        hosts = hosts.filter { $0.value.expires > now }
        guard hosts.count > Self.maximumCount else { return }
        for (name, _) in hosts.sorted(by: { $0.value.expires < $1.value.expires }).prefix(Self.maximumCount / 8) {
            hosts[name] = nil
        }
    }

    /// Returns whether connections to a host must be secure: by its own policy, or by one of a domain above that includes subdomains
    /// (RFC 6797 §8.2).
    package func contains(_ host: String, at now: Int) -> Bool {
        guard !hosts.isEmpty, Self.isName(host) else { return false }
        var name = HTTPOrigin(isSecure: true, host: host).host[...]
        if let known = hosts[String(name)], known.expires > now { return true }
        while let dot = name.firstIndex(of: ".") {
            name = name[dot...].dropFirst()
            if let known = hosts[String(name)], known.includesSubdomains, known.expires > now { return true }
        }
        return false
    }

    /// Returns a target with a secure scheme if its host wants one; `nil` otherwise. Port 80 becomes 443 (RFC 6797 §8.3).
    package func secured(_ target: URIReference, at now: Int) -> URIReference? {
        guard let authority = target.authority, target.scheme == "http" || target.scheme == "ws",
            contains(authority.host, at: now)
        else { return nil }
        var secure = target
        secure.scheme = target.scheme == "ws" ? "wss" : "https"
        if authority.port == 80 { secure.authority?.port = nil }
        return secure
    }

    private static func isName(_ host: String) -> Bool {
        guard !host.isEmpty, !host.hasPrefix("["), !host.contains(":") else { return false }
        // A last label of digits is part of an IPv4 address.
        let last = host.split(separator: ".").last ?? ""
        return !last.isEmpty && !last.utf8.allSatisfy(URIBytes.isDigit)
    }
}
