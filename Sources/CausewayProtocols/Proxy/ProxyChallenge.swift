/// A proxy's authentication challenge (RFC 9110 §11.7.1).
struct ProxyChallenge {
    var scheme: String
    var parameters: [String: String]

    /// Returns the strongest challenge that this client supports.
    static func best(of fields: [String]) -> ProxyChallenge? {
        let known = fields.flatMap(parse).filter { $0.strength > 0 }
        return known.max { $0.strength < $1.strength }
    }

    private var strength: Int {
        switch scheme {
        case "basic": return 1
        case "digest":
            guard parameters["nonce"] != nil, mayQualify else { return 0 }
            switch parameters["algorithm"]?.lowercased() ?? "md5" {
            case "md5", "md5-sess": return 2
            case "sha-256", "sha-256-sess": return 3
            default: return 0
            }
        default: return 0
        }
    }

    /// Whether the `qop` parameter is missing or contains `auth` (RFC 7616 §3.3).
    private var mayQualify: Bool { parameters["qop"].map { $0.lowercased().contains("auth") } ?? true }

    /// Returns the value of `Proxy-Authorization`.
    func authorization(_ credential: TunnelCredential, uri: String, clientNonce: String) -> String? {
        if scheme == "basic" {
            // A colon would end the user name too early (RFC 7617 §2).
            guard !credential.username.contains(":") else { return nil }
            return "Basic " + Base64.encode(Array("\(credential.username):\(credential.password)".utf8))
        }
        return digest(credential, uri: uri, clientNonce: clientNonce)
    }

    /// Returns the response to a Digest challenge (RFC 7616 §3.4).
    private func digest(_ credential: TunnelCredential, uri: String, clientNonce: String) -> String? {
        guard let nonce = parameters["nonce"] else { return nil }
        let realm = parameters["realm"] ?? ""
        let algorithm = parameters["algorithm"] ?? "MD5"
        let isLong = algorithm.lowercased().hasPrefix("sha-256")
        let hash = { (text: String) in Digests.hexadecimal(isLong ? Digests.sha256(text) : Digests.md5(text)) }
        var secret = hash("\(credential.username):\(realm):\(credential.password)")
        if algorithm.lowercased().hasSuffix("-sess") { secret = hash("\(secret):\(nonce):\(clientNonce)") }
        let request = hash("CONNECT:\(uri)")
        let isQualified = parameters["qop"] != nil
        let middle = isQualified ? "\(nonce):00000001:\(clientNonce):auth" : nonce
        let response = hash("\(secret):\(middle):\(request)")
        var parts = [
            "username=\(Self.quoted(credential.username))", "realm=\(Self.quoted(realm))",
            "nonce=\(Self.quoted(nonce))", "uri=\(Self.quoted(uri))", "response=\"\(response)\"",
        ]
        if parameters["algorithm"] != nil { parts.append("algorithm=\(algorithm)") }
        if let opaque = parameters["opaque"] { parts.append("opaque=\(Self.quoted(opaque))") }
        if isQualified { parts += ["qop=auth", "nc=00000001", "cnonce=\"\(clientNonce)\""] }
        return "Digest " + parts.joined(separator: ", ")
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.reduce(into: "") { result, character in
            if character == "\"" || character == "\\" { result.append("\\") }
            if !character.isNewline { result.append(character) }
        }
        return "\"\(escaped)\""
    }

    // MARK: Parsing

    /// Parses the challenges in one field value. A challenge is a scheme and its parameters; the next scheme is a word without `=`.
    static func parse(_ text: String) -> [ProxyChallenge] {
        var challenges: [ProxyChallenge] = []
        for part in pieces(text) {
            var rest = part[...].drop(while: \.isWhitespace)
            let word = rest.prefix { $0 != " " && $0 != "=" }
            let isScheme = !rest.dropFirst(word.count).drop(while: { $0 == " " }).hasPrefix("=") && !word.isEmpty
            if isScheme {
                challenges.append(ProxyChallenge(scheme: word.lowercased(), parameters: [:]))
                rest = rest.dropFirst(word.count).drop(while: \.isWhitespace)
            }
            guard let equals = rest.firstIndex(of: "="), let last = challenges.indices.last else { continue }
            let name = rest[..<equals].filter { !$0.isWhitespace }.lowercased()
            challenges[last].parameters[name] = unquoted(rest[rest.index(after: equals)...])
        }
        return challenges
    }

    /// Splits the text at commas outside of quotes.
    private static func pieces(_ text: String) -> [String] {
        var (pieces, current) = ([String](), "")
        var (isQuoted, isEscaped) = (false, false)
        for character in text {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == ",", !isQuoted {
                pieces.append(current)
                current = ""
                continue
            }
            current.append(character)
        }
        return pieces + [current]
    }

    private static func unquoted(_ text: Substring) -> String {
        let trimmed = text.drop(while: \.isWhitespace)
        guard trimmed.first == "\"" else { return String(trimmed.prefix { !$0.isWhitespace }) }
        var result = ""
        var isEscaped = false
        for character in trimmed.dropFirst() {
            if isEscaped {
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
                continue
            } else if character == "\"" {
                break
            }
            result.append(character)
        }
        return result
    }
}

/// The Base64 encoding (RFC 4648 §4).
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                let isFilled = place <= group.count
                result.append(isFilled ? alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)] : UInt8(ascii: "="))
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
