internal import CausewayWire

/// The parts of a request that Digest authentication protects.
package struct DigestRequest: Sendable {
    package var method: String
    /// The request target as it is sent (RFC 7616 §3.4.6).
    package var target: String
    /// The content; `nil` if it is not yet known, for example for a stream. Only `auth-int` uses the content.
    package var content: [UInt8]?

    package init(method: String, target: String, content: [UInt8]? = []) {
        self.method = method
        self.target = target
        self.content = content
    }
}

/// Answers requests within one Digest protection space (RFC 7616 §3.4), and counts how often each nonce was used.
package struct DigestSession: Sendable {
    let challenge: DigestChallenge
    private let credential: PasswordCredential
    private let digest: DigestFunction
    private var nonce: String
    private var nonceCount: UInt32 = 0
    /// The secret for algorithms whose name ends in `-sess` (RFC 7616 §3.4.2). The client nonce is the one from which
    /// the secret was computed.
    private var sessionSecret: (secret: String, clientNonce: String)?
    /// What the server's response must contain: the nonce count of the latest request, and the `rspauth` value. With
    /// this value, the server proves that it knows the password (RFC 7616 §3.5).
    private var expectedResponse: (nonceCount: String, response: String)?

    /// - Returns: `nil` unless `challenge` is a Digest challenge that the client can answer.
    package init?(
        _ challenge: AuthenticationChallenge, credential: PasswordCredential,
        digest: @escaping DigestFunction = Digests.builtIn
    ) {
        guard let parsed = DigestChallenge(challenge, digest: digest) else { return nil }
        self.challenge = parsed
        self.credential = credential
        self.digest = digest
        nonce = parsed.nonce
    }

    /// Returns the `Authorization` or `Proxy-Authorization` value for the next request.
    ///
    /// - Parameter clientNonce: Random letters and digits, different for each request (RFC 7616 §3.4).
    /// - Returns: `nil` if the server requires `auth-int` and the request's content is not known.
    package mutating func authorization(for request: DigestRequest, clientNonce: String) -> String? {
        guard let protection = challenge.protection(hasKnownContent: request.content != nil) else { return nil }
        nonceCount &+= 1
        let count = Hexadecimal.text(nonceCount)
        let cnonce = sessionSecret?.clientNonce ?? clientNonce
        let secret = secret(clientNonce: cnonce)
        var subject = "\(request.method):\(request.target)"
        if protection == .integrity { subject += ":" + hash(request.content ?? []) }
        let middle = protection == .none ? nonce : "\(nonce):\(count):\(cnonce):\(protection.rawValue)"
        let response = hash("\(secret):\(middle):\(hash(subject))")
        expectedResponse =
            protection == .authentication ? (count, hash("\(secret):\(middle):\(hash(":\(request.target)"))")) : nil
        var parts = username()
        parts += ["realm=\(quoted(challenge.realm))", "nonce=\(quoted(nonce))", "uri=\(quoted(request.target))"]
        parts.append("response=\"\(response)\"")
        if let name = challenge.algorithmName { parts.append("algorithm=\(name)") }
        if let opaque = challenge.opaque { parts.append("opaque=\(quoted(opaque))") }
        if protection != .none { parts += ["qop=\(protection.rawValue)", "nc=\(count)"] }
        if protection != .none || challenge.isSession { parts.append("cnonce=\(quoted(cnonce))") }
        if challenge.hashesUsername { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    /// Handles a response's `Authentication-Info` or `Proxy-Authentication-Info` field (RFC 7616 §3.5, RFC 9110 §11.6.3, §11.7.3).
    ///
    /// - Returns: `false` if the server's proof does not match the client's password. The response must then not be trusted.
    package mutating func received(information value: String) -> Bool {
        // The field contains a list of parameters, as a challenge does. Parse it like a challenge.
        guard let information = AuthenticationChallenge.parse(["digest " + value]).first else { return true }
        if let next = information["nextnonce"], next != nonce {
            nonce = next
            nonceCount = 0
        }
        guard let proof = information["rspauth"], let expected = expectedResponse else { return true }
        // Check the server's proof only if it belongs to the most recent request. Requests may be concurrent, and the
        // expected proofs for earlier requests are not stored.
        guard information["nc"].map({ URIBytes.lowercased($0) == expected.nonceCount }) ?? false else { return true }
        return URIBytes.lowercased(proof) == expected.response
    }

    /// Returns A1, the secret part of the response hash (RFC 7616 §3.4.2).
    private mutating func secret(clientNonce: String) -> String {
        if let known = sessionSecret { return known.secret }
        let base = hash("\(credential.username):\(challenge.realm):\(credential.password)")
        guard challenge.isSession else { return base }
        let secret = hash("\(base):\(nonce):\(clientNonce)")
        sessionSecret = (secret, clientNonce)
        return secret
    }

    /// Returns the `username` or `username*` parameter (RFC 7616 §3.4, §3.4.4).
    private func username() -> [String] {
        if challenge.hashesUsername { return ["username=\"\(hash("\(credential.username):\(challenge.realm)"))\""] }
        if credential.username.utf8.allSatisfy({ $0 < 0x80 }) { return ["username=\(quoted(credential.username))"] }
        // The value has the extended notation of RFC 8187 §3.2.
        let encoded = PercentCoding.encoded(credential.username.utf8, where: PercentCoding.isUnreserved)
        return ["username*=UTF-8''\(encoded)"]
    }

    private func hash(_ text: String) -> String { hash(Array(text.utf8)) }

    private func hash(_ bytes: [UInt8]) -> String { Hexadecimal.text(digest(challenge.algorithm, bytes) ?? []) }

    /// Returns a quoted string (RFC 9110 §5.6.4). Control characters are omitted, so that a value cannot inject a field.
    private func quoted(_ text: String) -> String {
        var bytes: [UInt8] = [0x22]
        for byte in text.utf8 where !URIBytes.isControl(byte) {
            if byte == 0x22 || byte == 0x5C { bytes.append(0x5C) }
            bytes.append(byte)
        }
        return String(decoding: bytes + [0x22], as: UTF8.self)
    }
}
