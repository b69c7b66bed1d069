package import CausewayWire

/// The client's side of NTLM on one connection: two messages, the second of which answers the challenge of the server.
package struct NTLMClient: Sendable {
    private enum Phase {
        case initial
        /// The first message was sent.
        case negotiating([UInt8])
        case finished
    }

    /// The options that the client offers. Messages after the handshake are neither signed nor encrypted.
    package static let offered: NTLMFlags = [
        .unicode, .requestsTarget, .ntlm, .alwaysSigns, .extendedSecurity, .hasAttributes, .uses128Bits, .uses56Bits,
    ]
    /// The maximum length of a challenge, in bytes.
    package static let messageLimit = 48 << 10

    private let user: NTLMUser
    private let password: String
    private let service: String
    private let functions: NTLMFunctions
    private var phase = Phase.initial

    /// - Parameters:
    ///   - user: The user. A server finds out who that is; it is not sent before the challenge.
    ///   - password: The password.
    ///   - service: The name of the service, such as `HTTP/www.example.com`.
    ///   - functions: The functions of the library.
    package init(_ user: NTLMUser, password: String, service: String, _ functions: NTLMFunctions) {
        self.user = user
        self.password = password
        self.service = service
        self.functions = functions
    }

    /// Returns the next message; `nil` if the handshake cannot go on: after the last message, without a challenge, after a malformed one, and
    /// without MD4.
    ///
    /// - Parameter token: The message of the server; `nil` for the first step.
    package mutating func next(_ token: [UInt8]?, _ choice: NTLMResponse.Choice) -> [UInt8]? {
        switch (phase, token) {
        case (.initial, nil):
            let message = NTLMNegotiateMessage(flags: Self.offered).encoded
            phase = .negotiating(message)
            return message
        case (.negotiating(let first), let token?):
            phase = .finished
            return answer(token, first, choice)
        case (.initial, _), (.negotiating, _), (.finished, _):
            phase = .finished
            return nil
        }
    }

    private func answer(_ token: [UInt8], _ first: [UInt8], _ choice: NTLMResponse.Choice) -> [UInt8]? {
        guard token.count <= Self.messageLimit, let message = try? NTLMChallengeMessage(parsing: token),
            let domain = name(user.domain, message.flags), let name = name(user.name, message.flags),
            let key = NTLMResponse.key(for: user, password: password, functions),
            let response = NTLMResponse(to: message, service: service, key: key, choice, functions)
        else { return nil }
        var flags = message.flags.intersection(Self.offered)
        if !flags.contains(.unicode) { flags.insert(.oem) }
        var answer = NTLMAuthenticateMessage(
            flags: flags, lmResponse: response.lm, ntResponse: response.nt, domain: domain, user: name)
        guard response.hasIntegrityCode else { return answer.encoded }
        // The code covers all messages, this one with zeros in its place (MS-NLMP §3.1.5.1.2).
        answer.integrityCode = [UInt8](repeating: 0, count: NTLMAuthenticateMessage.integrityCodeByteCount)
        guard let unprotected = answer.encoded,
            let code = functions.hmacMD5(response.sessionKey, first + token + unprotected)
        else { return nil }
        answer.integrityCode = code
        return answer.encoded
    }

    /// Returns a name in the character set of the server; `nil` if the server takes no Unicode and the name has other letters than ASCII.
    private func name(_ text: String, _ flags: NTLMFlags) -> [UInt8]? {
        if flags.contains(.unicode) { return NTLMMessage.utf16(text) }
        return text.utf8.allSatisfy { $0 < 0x80 } ? Array(text.utf8) : nil
    }
}
