package import CausewayWire

/// The client side of an NTLM handshake on one connection (MS-NLMP): a negotiate message, then an authenticate message
/// that answers the server's challenge.
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
    ///   - user: The user. The name is sent only in the answer to the challenge.
    ///   - password: The password.
    ///   - service: The service principal name, such as `HTTP/www.example.com`.
    ///   - functions: The cryptographic functions.
    package init(_ user: NTLMUser, password: String, service: String, _ functions: NTLMFunctions) {
        self.user = user
        self.password = password
        self.service = service
        self.functions = functions
    }

    /// Returns the next message. `nil` if the handshake cannot continue: it is complete, the challenge is missing or
    /// malformed, a name cannot be encoded, or MD4 is not available.
    ///
    /// - Parameter token: The server's message; `nil` for the first step.
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
        // The integrity code covers all three messages of the handshake. While the code is computed, its field in this
        // message is filled with zeros (MS-NLMP §3.1.5.1.2).
        answer.integrityCode = [UInt8](repeating: 0, count: NTLMAuthenticateMessage.integrityCodeByteCount)
        guard let unprotected = answer.encoded,
            let code = functions.hmacMD5(response.sessionKey, first + token + unprotected)
        else { return nil }
        answer.integrityCode = code
        return answer.encoded
    }

    /// Encodes a name for the server; `nil` if the server does not support Unicode and the name is not ASCII.
    private func name(_ text: String, _ flags: NTLMFlags) -> [UInt8]? {
        if flags.contains(.unicode) { return NTLMMessage.utf16(text) }
        return text.utf8.allSatisfy { $0 < 0x80 } ? Array(text.utf8) : nil
    }
}
