internal import CausewayTypes
internal import CausewayWire

/// Asks an HTTP proxy for a tunnel with CONNECT (RFC 9110 §9.3.6), and authenticates if the proxy demands it (RFC 7617, RFC 7616).
package struct ConnectHandshake: TunnelHandshake {
    /// The maximum length of a response header, in bytes.
    private static let headLimit = 32 << 10
    /// The maximum content length of a 407 response, in bytes. The content must be read before the request is sent again.
    private static let contentLimit = 48 << 10

    private let authority: String
    private let credential: TunnelCredential?
    private let nonce: String
    private var attempts = 0
    /// The number of content bytes to skip, and the request to send after them.
    private var skipping: (count: Int, then: [UInt8])?

    /// - Parameter nonce: The client nonce: random letters and digits (RFC 7616 §3.4).
    package init(to destination: TunnelDestination, credential: TunnelCredential?, nonce: String) {
        authority = destination.authority
        self.credential = credential
        self.nonce = nonce
    }

    package mutating func begin() -> [UInt8] { request(nil) }

    private mutating func request(_ authorization: String?) -> [UInt8] {
        attempts += 1
        var text = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n"
        if let authorization { text += "Proxy-Authorization: \(authorization)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    package mutating func received(_ bytes: inout ByteChain) -> TunnelStep {
        if let rest = skipping {
            let dropped = bytes.drop(atMost: rest.count)
            guard dropped == rest.count else {
                skipping = (rest.count - dropped, rest.then)
                return .wait
            }
            skipping = nil
            return .send(rest.then)
        }
        let known = Array(bytes.front(Self.headLimit))
        guard let end = Self.headEnd(known) else {
            return bytes.count >= Self.headLimit ? .failed(.tunnelBroken) : .wait
        }
        bytes.drop(atMost: end)
        guard let response = ProxyResponse(known[..<end]) else { return .failed(.tunnelBroken) }
        let step = answer(response)
        // The bytes that follow may already be in the buffer, and no other call would process them.
        let goesOn = skipping != nil || (100..<200).contains(response.status)
        return goesOn ? received(&bytes) : step
    }

    private mutating func answer(_ response: ProxyResponse) -> TunnelStep {
        switch response.status {
        // After an interim response another response follows (RFC 9110 §15.2).
        case 100..<200: return .wait
        case 200..<300: return .open
        case 407: return authenticate(response)
        case 401, 403, 451: return .failed(.tunnelDenied)
        case 504: return .failed(.tunnelTimedOut)
        case 500..<600: return .failed(.tunnelHostUnreachable)
        default: return .failed(.tunnelRefused)
        }
    }

    private mutating func authenticate(_ response: ProxyResponse) -> TunnelStep {
        // A second 407 response means that the credential is wrong.
        guard attempts == 1, let credential, !response.closes, let length = response.contentLength,
            length <= Self.contentLimit,
            let authorization = authorization(for: response.fields("proxy-authenticate"), credential)
        else { return .failed(.tunnelDenied) }
        let again = request(authorization)
        guard length > 0 else { return .send(again) }
        skipping = (length, again)
        return .wait
    }

    /// Returns the answer to the strongest challenge that the client supports (RFC 9110 §11.7.1).
    private func authorization(for challenges: [String], _ credential: TunnelCredential) -> String? {
        let answerable = AuthenticationChallenge.answerable(AuthenticationChallenge.parse(challenges))
        guard let best = answerable.first else { return nil }
        guard best.scheme == "digest" else { return BasicAuthentication.authorization(credential) }
        var session = DigestSession(best, credential: credential)
        return session?.authorization(for: DigestRequest(method: "CONNECT", target: authority), clientNonce: nonce)
    }

    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        for index in 3..<bytes.count where bytes[index] == 10 {
            if bytes[index - 1] == 13, bytes[index - 2] == 10, bytes[index - 3] == 13 { return index + 1 }
        }
        return nil
    }
}

/// The header of a proxy's response.
struct ProxyResponse {
    var status: Int
    private var lines: [(name: String, value: String)] = []

    init?(_ bytes: ArraySlice<UInt8>) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var rows = text.split(separator: "\r\n", omittingEmptySubsequences: true)[...]
        guard let first = rows.popFirst() else { return nil }
        let parts = first.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/1."), parts[1].utf8.count == 3, let status = Int(parts[1])
        else {
            return nil
        }
        self.status = status
        for row in rows {
            guard let colon = row.firstIndex(of: ":") else { return nil }
            let value = row[row.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            lines.append((row[..<colon].lowercased(), String(value)))
        }
    }

    func fields(_ name: String) -> [String] { lines.filter { $0.name == name }.map(\.value) }

    /// Whether the proxy closes the connection after this response.
    var closes: Bool {
        (fields("connection") + fields("proxy-connection")).contains { $0.lowercased().contains("close") }
    }

    /// The length of the content in bytes; `nil` if the response does not state it, as with a transfer coding.
    var contentLength: Int? {
        guard fields("transfer-encoding").isEmpty else { return nil }
        guard let text = fields("content-length").first else { return 0 }
        guard let count = Int(text), count >= 0 else { return nil }
        return count
    }
}
