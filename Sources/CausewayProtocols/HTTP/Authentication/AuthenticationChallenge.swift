import CausewayWire

/// A challenge from a server or proxy (RFC 9110 §11.3): a scheme with either parameters or a single token.
package struct AuthenticationChallenge: Equatable, Sendable {
    package struct Parameter: Equatable, Sendable {
        /// The name in lower case.
        package var name: String
        package var value: String
    }

    /// The scheme in lower case (RFC 9110 §11.1).
    package var scheme: String
    /// The token68 of schemes such as Negotiate, which do not use parameters (RFC 9110 §11.2).
    package var token: String?
    package var parameters: [Parameter] = []

    package init(scheme: String, token: String? = nil, parameters: [Parameter] = []) {
        self.scheme = scheme
        self.token = token
        self.parameters = parameters
    }

    /// Returns the value of the first parameter with this lower-case name.
    package subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// The realm; empty if the challenge has none.
    package var realm: String { self["realm"] ?? "" }

    /// The maximum number of challenges to parse. Servers usually send no more than four.
    package static let maximumCount = 32

    /// Parses all `WWW-Authenticate` or `Proxy-Authenticate` field values (RFC 9110 §11.6.1).
    ///
    /// One field may hold several challenges, whose parameters are separated by commas as well. Malformed parts are skipped.
    package static func parse(_ values: [String]) -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        for value in values {
            var parser = ChallengeParser(Array(value.utf8), limit: maximumCount - challenges.count)
            challenges += parser.run()
        }
        return challenges
    }

    /// Returns the challenges that this client can answer, the strongest first (RFC 9110 §11.6.1).
    ///
    /// - Parameters:
    ///   - challenges: The challenges in a response.
    ///   - digest: Computes digests.
    ///   - schemes: The connection-based schemes (Negotiate, NTLM) that the client can answer.
    package static func answerable(
        _ challenges: [AuthenticationChallenge], digest: DigestFunction = Digests.builtIn,
        schemes: ConnectionSchemes = []
    ) -> [AuthenticationChallenge] {
        let ranked = challenges.enumerated().compactMap { index, challenge in
            challenge.strength(digest, schemes).map { (strength: $0, index: index, challenge: challenge) }
        }
        return ranked.sorted { ($1.strength, $0.index) < ($0.strength, $1.index) }.map(\.challenge)
    }

    /// Ranks the challenge; `nil` if the client cannot answer it. Digest ranks above NTLM: Digest challenges name a
    /// realm, and newer servers use SHA-256 for Digest.
    private func strength(_ digest: DigestFunction, _ schemes: ConnectionSchemes) -> Int? {
        switch scheme {
        case "negotiate": schemes.contains(.negotiate) ? .max : nil
        case "basic": 0
        case "ntlm": schemes.contains(.ntlm) ? 1 : nil
        case "digest": DigestChallenge(self, digest: digest).map { $0.algorithm.rawValue + 2 }
        default: nil
        }
    }
}

/// Parses the challenges in one field value.
struct ChallengeParser {
    private let bytes: [UInt8]
    private var position = 0
    private let limit: Int
    private var challenges: [AuthenticationChallenge] = []
    /// The maximum number of parameters in one challenge.
    private static let parameterLimit = 64

    init(_ bytes: [UInt8], limit: Int) {
        self.bytes = bytes
        self.limit = limit
    }

    mutating func run() -> [AuthenticationChallenge] {
        while position < bytes.count {
            skip { $0 == 0x20 || $0 == 0x09 || $0 == 0x2C }
            guard let word = takeToken() else {
                skipElement()
                continue
            }
            if isParameter {
                takeParameter(word)
            } else {
                guard challenges.count < limit else { break }
                challenges.append(AuthenticationChallenge(scheme: URIBytes.lowercased(word)))
                challenges[challenges.count - 1].token = takeSingleToken()
            }
        }
        return challenges
    }

    /// Whether an equals sign follows, possibly after spaces (RFC 9110 §5.6.3).
    private var isParameter: Bool {
        bytes[position...].first { $0 != 0x20 && $0 != 0x09 } == UInt8(ascii: "=")
    }

    private mutating func skip(while matches: (UInt8) -> Bool) {
        while position < bytes.count, matches(bytes[position]) { position += 1 }
    }

    private mutating func skipSpaces() { skip { $0 == 0x20 || $0 == 0x09 } }

    /// Skips to the next comma that is not quoted.
    private mutating func skipElement() {
        while position < bytes.count, bytes[position] != 0x2C {
            if bytes[position] == 0x22 { _ = takeQuoted() } else { position += 1 }
        }
    }

    private mutating func takeToken() -> String? {
        let start = position
        skip(while: HTTPCharacters.isToken)
        return start == position ? nil : String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Takes a token68 if the challenge has no other content (RFC 9110 §11.2).
    private mutating func takeSingleToken() -> String? {
        let start = position
        skipSpaces()
        let first = position
        skip { PercentCoding.isUnreserved($0) || $0 == 0x2B || $0 == 0x2F }
        let hasContent = position > first
        skip { $0 == UInt8(ascii: "=") }
        let end = position
        skipSpaces()
        if hasContent, position == bytes.count || bytes[position] == 0x2C {
            return String(decoding: bytes[first..<end], as: UTF8.self)
        }
        position = start
        return nil
    }

    private mutating func takeParameter(_ name: String) {
        skipSpaces()
        position += 1
        skipSpaces()
        var value: String?
        if position < bytes.count, bytes[position] == 0x22 {
            value = takeQuoted()
        } else {
            // Some servers do not quote values that contain non-token characters.
            let start = position
            skip { $0 != 0x2C && $0 != 0x20 && $0 != 0x09 }
            value = String(decoding: bytes[start..<position], as: UTF8.self)
        }
        guard let value, let last = challenges.indices.last else { return }
        guard challenges[last].token == nil, challenges[last].parameters.count < Self.parameterLimit else { return }
        challenges[last].parameters.append(.init(name: URIBytes.lowercased(name), value: value))
    }

    /// Takes a quoted string (RFC 9110 §5.6.4). If the closing quotation mark is missing, the string extends to the end of the field.
    private mutating func takeQuoted() -> String {
        position += 1
        var content: [UInt8] = []
        while position < bytes.count, bytes[position] != 0x22 {
            if bytes[position] == 0x5C, position + 1 < bytes.count { position += 1 }
            content.append(bytes[position])
            position += 1
        }
        position = min(position + 1, bytes.count)
        return String(decoding: content, as: UTF8.self)
    }
}
