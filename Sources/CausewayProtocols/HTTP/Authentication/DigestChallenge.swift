/// The Digest challenge parameters that the client uses (RFC 7616 §3.3).
struct DigestChallenge: Sendable {
    /// The quality of protection (RFC 7616 §3.3).
    enum Protection: String, Sendable {
        /// The challenge has no `qop` parameter. The response then has the form from RFC 2069, without a nonce count.
        case none
        case authentication = "auth"
        case integrity = "auth-int"
    }

    let realm: String
    let nonce: String
    let opaque: String?
    let algorithm: DigestAlgorithm
    /// The algorithm as the server wrote it. The client sends it back unchanged. `nil` if the challenge names no
    /// algorithm.
    let algorithmName: String?
    /// Whether the algorithm has the suffix `-sess` (RFC 7616 §3.4.2).
    let isSession: Bool
    let protections: [Protection]
    /// Whether the user name is sent as a hash (RFC 7616 §3.4.4).
    let hashesUsername: Bool
    /// Whether only the nonce was stale, so that the same credential can be used again (RFC 7616 §3.3).
    let isStale: Bool
    /// The URIs of the protection space. An empty list means the whole origin.
    let domain: [String]

    /// - Returns: `nil` if the challenge has no nonce, or if its algorithm or quality of protection is not supported.
    init?(_ challenge: AuthenticationChallenge, digest: DigestFunction) {
        guard challenge.scheme == "digest", let nonce = challenge["nonce"] else { return nil }
        algorithmName = challenge["algorithm"]
        let name = URIBytes.lowercased(algorithmName ?? "md5")
        isSession = name.hasSuffix("-sess")
        guard let algorithm = DigestAlgorithm(name: isSession ? name.dropLast(5) : name[...]),
            digest(algorithm, []) != nil
        else { return nil }
        self.algorithm = algorithm
        self.nonce = nonce
        realm = challenge.realm
        opaque = challenge["opaque"]
        hashesUsername = challenge["userhash"].map(URIBytes.lowercased) == "true"
        isStale = challenge["stale"].map(URIBytes.lowercased) == "true"
        domain = challenge["domain"].map { $0.unicodeScalars.split(separator: " ").map { String($0) } } ?? []
        if let options = challenge["qop"] {
            let words = options.unicodeScalars.split { ", \t".unicodeScalars.contains($0) }.map {
                URIBytes.lowercased(String($0))
            }
            protections = words.compactMap(Protection.init).filter { $0 != .none }
            guard !protections.isEmpty else { return nil }
        } else {
            protections = [.none]
        }
    }

    /// Selects the quality of protection for a request. Returns `nil` if `auth-int` is required but the content is not
    /// known.
    ///
    /// Chooses `auth-int` only if the server offers nothing else, because it requires reading the content twice.
    func protection(hasKnownContent: Bool) -> Protection? {
        if let weaker = protections.first(where: { $0 != .integrity }) { return weaker }
        return hasKnownContent ? .integrity : nil
    }
}
