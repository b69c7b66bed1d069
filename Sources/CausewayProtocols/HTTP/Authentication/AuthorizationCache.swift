/// Credentials that can be sent again without a new challenge (RFC 7617 §2.2, RFC 7616 §3.6).
///
/// The cache belongs to one session. It keeps secrets in memory only.
package struct AuthorizationCache: Sendable {
    /// The authentication method for one protection space.
    private enum Method: Sendable {
        case basic(value: String)
        case digest(DigestSession)
    }

    private struct Entry: Sendable {
        var space: ProtectionSpace
        var method: Method
        /// The path prefixes for which the credential is sent. Each ends with a slash. An empty array stands for all paths.
        var prefixes: [String]
    }

    /// The maximum number of protection spaces per authority. It bounds the memory that a server with many realms can
    /// use.
    package static let maximumCount = 64
    private var entries: [ProtectionSpace.Authority: [Entry]] = [:]

    package init() {}

    /// Whether no credential is kept.
    package var isEmpty: Bool { entries.isEmpty }

    /// Stores the credential for a challenge and returns the `Authorization` or `Proxy-Authorization` value.
    ///
    /// Call ``refused(_:)`` if the server does not accept the credential.
    ///
    /// - Parameter target: The request target. It determines the paths for which the credential is sent without a
    ///   challenge.
    /// - Returns: `nil` if the credential cannot be sent with this scheme.
    package mutating func answer(
        _ challenge: AuthenticationChallenge, in authority: ProtectionSpace.Authority,
        with credential: PasswordCredential,
        request: DigestRequest, target: URIReference, clientNonce: String,
        digest: @escaping DigestFunction = Digests.builtIn
    ) -> String? {
        let space = ProtectionSpace(authority: authority, challenge: challenge)
        if challenge.scheme == "basic" {
            guard let value = BasicAuthentication.authorization(credential) else { return nil }
            insert(Entry(space: space, method: .basic(value: value), prefixes: [Self.folder(of: target.path)]))
            return value
        }
        guard var session = DigestSession(challenge, credential: credential, digest: digest),
            let value = session.authorization(for: request, clientNonce: clientNonce)
        else { return nil }
        let prefixes = Self.prefixes(of: session.challenge.domain, base: target)
        insert(Entry(space: space, method: .digest(session), prefixes: prefixes))
        return value
    }

    /// Returns the `Authorization` or `Proxy-Authorization` value for a request that has not been challenged.
    package mutating func authorization(
        for request: DigestRequest, path: String, at authority: ProtectionSpace.Authority, clientNonce: String
    ) -> (value: String, space: ProtectionSpace)? {
        guard let known = entries[authority], let index = Self.bestIndex(in: known, path: path) else { return nil }
        switch known[index].method {
        case .basic(let value): return (value, known[index].space)
        case .digest(var session):
            guard let value = session.authorization(for: request, clientNonce: clientNonce) else { return nil }
            entries[authority]?[index].method = .digest(session)
            return (value, known[index].space)
        }
    }

    /// Handles `Authentication-Info` or `Proxy-Authentication-Info` (RFC 7616 §3.5).
    ///
    /// - Returns: `false` if the server's proof does not match the password. The credential is then removed.
    package mutating func received(information value: String, in space: ProtectionSpace) -> Bool {
        guard let index = entries[space.authority]?.firstIndex(where: { $0.space == space }),
            case .digest(var session)? = entries[space.authority]?[index].method
        else { return true }
        let isGenuine = session.received(information: value)
        entries[space.authority]?[index].method = .digest(session)
        if !isGenuine { refused(space) }
        return isGenuine
    }

    /// Removes the credential for a protection space after the server has refused it.
    package mutating func refused(_ space: ProtectionSpace) {
        entries[space.authority]?.removeAll { $0.space == space }
        if entries[space.authority]?.isEmpty == true { entries[space.authority] = nil }
    }

    package mutating func removeAll() { entries = [:] }

    private mutating func insert(_ entry: Entry) {
        var entry = entry
        var known = entries[entry.space.authority] ?? []
        if let old = known.firstIndex(where: { $0.space == entry.space }) {
            let covered = entry.prefixes
            // With the Basic scheme, also keep the path prefixes from earlier challenges, because these paths belong to
            // the same protection space.
            if case .basic = entry.method {
                entry.prefixes += known[old].prefixes.filter { prefix in
                    !covered.contains { prefix.utf8.starts(with: $0.utf8) }
                }
                .prefix(Self.maximumCount)
            }
            known.remove(at: old)
        }
        if known.count >= Self.maximumCount { known.removeFirst() }
        known.append(entry)
        entries[entry.space.authority] = known
    }

    /// Returns the index of the entry with the longest path prefix that matches `path`. If several entries have equally
    /// long prefixes, returns the newest one.
    private static func bestIndex(in entries: [Entry], path: String) -> Int? {
        var best: (index: Int, length: Int)?
        for (index, entry) in entries.enumerated() {
            let matching = entry.prefixes.filter { path.utf8.starts(with: $0.utf8) }
            let length = matching.map(\.utf8.count).max() ?? (entry.prefixes.isEmpty ? 0 : nil)
            if let length, length >= best?.length ?? 0 { best = (index, length) }
        }
        return best?.index
    }

    /// Returns the path up to its last slash (RFC 7617 §2.2).
    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "/" }
        return String(path[...slash])
    }

    /// Returns the paths in the `domain` parameter that lie within the origin of `base` (RFC 7616 §3.3).
    private static func prefixes(of domain: [String], base: URIReference) -> [String] {
        domain.compactMap { text -> String? in
            guard let target = URIReference(text)?.resolved(against: base), HTTPOrigin(target) == HTTPOrigin(base)
            else {
                return nil
            }
            return target.path.isEmpty ? "/" : target.path
        }
    }
}
