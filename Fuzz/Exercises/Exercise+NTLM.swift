internal import CausewayProtocols
internal import CausewayWire

extension Exercise {
    /// Parses bytes as each kind of NTLM message, and answers them as a challenge. Writing a parsed message and reading
    /// it again must give the same message. The answer must be readable too.
    static func ntlm(_ bytes: [UInt8]) {
        if let message = try? NTLMChallengeMessage(parsing: bytes), let again = message.encoded {
            precondition((try? NTLMChallengeMessage(parsing: again)) == message, "challenge")
        }
        for hasIntegrityCode in [true, false] {
            guard
                let message = try? NTLMAuthenticateMessage(parsing: bytes, hasIntegrityCode: hasIntegrityCode),
                let again = message.encoded
            else { continue }
            let read = try? NTLMAuthenticateMessage(parsing: again, hasIntegrityCode: hasIntegrityCode)
            precondition(read == message, "answer")
        }
        if let message = try? NTLMNegotiateMessage(parsing: bytes) {
            precondition((try? NTLMNegotiateMessage(parsing: message.encoded)) == message, "first message")
        }
        answer(bytes)
    }

    private static func answer(_ challenge: [UInt8]) {
        let functions = NTLMFunctions(
            md4: { [UInt8](repeating: UInt8($0.count & 0xFF), count: 16) },
            hmacMD5: { [UInt8](repeating: UInt8(($0.count + $1.count) & 0xFF), count: 16) })
        let choice = NTLMResponse.Choice(challenge: [UInt8](repeating: 7, count: 8), time: 1)
        var client = NTLMClient(NTLMUser("D\\ann"), password: "p", service: "HTTP/a.test", functions)
        _ = client.next(nil, choice)
        guard let third = client.next(challenge, choice) else { return }
        let message = try? NTLMAuthenticateMessage(parsing: third, hasIntegrityCode: false)
        precondition(message?.ntResponse.count ?? 0 > 44, "response")
        precondition(client.next(challenge, choice) == nil, "a second answer")
    }
}
