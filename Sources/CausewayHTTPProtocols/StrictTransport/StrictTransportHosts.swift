package import CausewayProtocols

/// Hosts with an HTTP Strict Transport Security policy (RFC 6797 §8). Times are seconds since 1970.
package struct StrictTransportHosts: Sendable {
    private struct Host {
        var expires: Int
        var includesSubdomains: Bool
    }

    /// The maximum host count. When it is exceeded, hosts that expire first are removed.
    package static let maximumCount = 4_096

    private var hosts: [String: Host] = [:]
    /// The hosts whose policies have changed since the latest write to the file.
    private var changes: Set<String> = []
    /// The hosts that the HSTS file contained after the latest read or write.
    private var written: [String: StrictTransportRecord] = [:]
    private let hasFile: Bool

    /// - Parameter hasFile: Whether the list of hosts is also stored in a file.
    package init(hasFile: Bool = false) { self.hasFile = hasFile }

    package var isEmpty: Bool { hosts.isEmpty }
    package var count: Int { hosts.count }

    /// Applies the policy from a response over a secure connection. IP addresses have no policy (RFC 6797 §8.1.1).
    ///
    /// - Returns: Whether the changed policy must be written to the file. Most responses only change the expiry time
    ///   slightly. Such a change is not written.
    @discardableResult
    package mutating func note(_ policy: StrictTransportPolicy, of origin: HTTPOrigin, at now: Int) -> Bool {
        guard origin.isSecure, StrictTransportRecord.isName(origin.host) else { return false }
        let name = origin.host
        guard policy.maxAge > 0 else {
            let isKnown = hosts.removeValue(forKey: name) != nil || written[name] != nil
            return isKnown && noteChange(name)
        }
        let host = Host(expires: now + policy.maxAge, includesSubdomains: policy.includesSubdomains)
        hosts[name] = host
        if hosts.count > Self.maximumCount { forget(at: now) }
        if let old = written[name], old.includesSubdomains == host.includesSubdomains,
            abs(old.expires - host.expires) <= policy.maxAge / 16
        {
            return false
        }
        return noteChange(name)
    }

    private mutating func noteChange(_ name: String) -> Bool {
        guard hasFile else { return false }
        changes.insert(name)
        return true
    }

    /// Removes the expired hosts. If there are still too many, also removes the hosts that expire first: the excess,
    /// and an eighth of the maximum number.
    private mutating func forget(at now: Int) {
        hosts = hosts.filter { $0.value.expires > now }
        if hosts.count > Self.maximumCount {
            let excess = hosts.count - Self.maximumCount + Self.maximumCount / 8
            for (name, _) in hosts.sorted(by: { $0.value.expires < $1.value.expires }).prefix(excess) {
                hosts[name] = nil
            }
        }
        changes = changes.filter { hosts[$0] != nil || written[$0] != nil }
    }

    /// Removes all hosts. Returns whether the file must be changed.
    package mutating func removeAll() -> Bool {
        guard hasFile else {
            hosts = [:]
            return false
        }
        changes = Set(written.keys)
        hosts = [:]
        return !changes.isEmpty
    }

    /// Returns whether connections to a host must be secure: by its own policy, or by a parent domain's policy that
    /// includes subdomains (RFC 6797 §8.2).
    package func contains(_ host: String, at now: Int) -> Bool {
        guard !hosts.isEmpty, StrictTransportRecord.isName(host) else { return false }
        var name = HTTPOrigin(isSecure: true, host: host).host.utf8[...]
        if let known = hosts[String(Substring(name))], known.expires > now { return true }
        while let dot = name.firstIndex(of: UInt8(ascii: ".")) {
            name = name[dot...].dropFirst()
            if let known = hosts[String(Substring(name))], known.includesSubdomains, known.expires > now { return true }
        }
        return false
    }

    /// Returns the target with a secure scheme if its host requires a secure connection; otherwise `nil`. Port 80
    /// becomes 443 (RFC 6797 §8.3).
    package func secured(_ target: URIReference, at now: Int) -> URIReference? {
        guard let authority = target.authority, target.scheme == "http" || target.scheme == "ws",
            contains(authority.host, at: now)
        else { return nil }
        var secure = target
        secure.scheme = target.scheme == "ws" ? "wss" : "https"
        if authority.port == 80 { secure.authority?.port = nil }
        return secure
    }
}

// MARK: The file

extension StrictTransportHosts {
    /// Changed hosts with their new state; `nil` if the host was removed.
    package typealias Changes = [String: StrictTransportRecord?]

    /// Returns the changes that must be stored, and forgets them.
    package mutating func takeChanges() -> Changes {
        defer { changes = [] }
        return Changes(
            uniqueKeysWithValues: changes.map { name in
                let record = hosts[name].map {
                    StrictTransportRecord(name, expires: $0.expires, includesSubdomains: $0.includesSubdomains)
                }
                return (name, record)
            })
    }

    /// Marks changes as unwritten again, because writing them has failed.
    package mutating func restore(_ taken: Changes) { changes.formUnion(taken.keys) }

    /// Adopts the file's hosts after a read or write. Changes not yet written take precedence.
    package mutating func adopt(_ records: [StrictTransportRecord], at now: Int) {
        let old = written
        written = Dictionary(records.map { ($0.host, $0) }) { $1 }
        for (name, record) in written where !changes.contains(name) {
            // If the file's entry has not changed, keep the policy that is in memory. Its expiry time can differ
            // slightly from the file, because slight changes are not written.
            if let known = hosts[name], old[name] == record, known.includesSubdomains == record.includesSubdomains {
                continue
            }
            hosts[name] = Host(expires: record.expires, includesSubdomains: record.includesSubdomains)
        }
        // Another process has removed these hosts from the file. Remove them here too. Keep a host if its entry in the
        // file has expired, because the expiry time in memory is more accurate.
        for (name, record) in old where written[name] == nil && record.expires > now && !changes.contains(name) {
            hosts[name] = nil
        }
        if hosts.count > Self.maximumCount { forget(at: now) }
    }

    /// Applies changes to the hosts from a file. Returns the resulting hosts, without expired ones. If there are more
    /// than ``maximumCount`` hosts, drops the hosts that expire first.
    package static func merge(
        _ records: [StrictTransportRecord], with changes: Changes, at now: Int
    ) -> [StrictTransportRecord] {
        var merged = records.filter { changes[$0.host] == nil }
        merged += changes.values.compactMap { $0 }
        merged.removeAll { $0.expires <= now }
        merged.sort { ($0.expires, $0.host) < ($1.expires, $1.host) }
        return merged.suffix(maximumCount)
    }
}
