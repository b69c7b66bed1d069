package import CausewayWire

/// An NTLMv2 response to a challenge (MS-NLMP §3.3.2). NTLMv1 is not implemented: DES no longer protects a password.
package struct NTLMResponse: Equatable, Sendable {
    /// The values that the client chooses for one response.
    package struct Choice: Sendable {
        /// The client's own challenge: 8 random bytes.
        package var challenge: [UInt8]
        /// The client's time, in units of 100 ns since the year 1601. The response contains it only if the server has
        /// not sent its own time.
        package var time: UInt64

        package init(challenge: [UInt8], time: UInt64) {
            self.challenge = challenge
            self.time = time
        }
    }

    package var lm: [UInt8]
    package var nt: [UInt8]
    package var sessionKey: [UInt8]
    /// Whether the authenticate message must carry an integrity code.
    package var hasIntegrityCode: Bool

    /// Derives the key from the password (NTOWFv2, MS-NLMP §3.3.2); `nil` if a cryptographic function is not available.
    package static func key(for user: NTLMUser, password: String, _ functions: NTLMFunctions) -> [UInt8]? {
        guard let hash = functions.md4(NTLMMessage.utf16(password)) else { return nil }
        return functions.hmacMD5(hash, NTLMMessage.utf16(user.uppercaseName + user.domain))
    }

    /// Computes the response; `nil` if a cryptographic function is not available or an attribute is too long.
    ///
    /// - Parameters:
    ///   - service: The service principal name, such as `HTTP/www.example.com`. It is sent only if the challenge has
    ///     attributes.
    ///   - key: The key from ``key(for:password:_:)``.
    package init?(
        to message: NTLMChallengeMessage, service: String, key: [UInt8], _ choice: Choice, _ functions: NTLMFunctions
    ) {
        let stated = message.attributes.first { $0.kind == NTLMAttribute.Kind.timestamp && $0.value.count == 8 }
        let time = stated?.value ?? Self.bytes(choice.time)
        hasIntegrityCode = stated != nil
        let answered = Self.attributes(message.attributes, service: service, hasIntegrityCode: hasIntegrityCode)
        guard let list = NTLMAttribute.encode(answered) else { return nil }
        let proven =
            [1, 1, 0, 0, 0, 0, 0, 0] + time + choice.challenge + [0, 0, 0, 0] + list + [0, 0, 0, 0]
        guard let proof = functions.hmacMD5(key, message.challenge + proven),
            let sessionKey = functions.hmacMD5(key, proof),
            let old = functions.hmacMD5(key, message.challenge + choice.challenge)
        else { return nil }
        nt = proof + proven
        // If the server has sent a timestamp, the LMv2 response consists of zeros (MS-NLMP §3.1.5.1.2).
        lm = hasIntegrityCode ? [UInt8](repeating: 0, count: 24) : old + choice.challenge
        self.sessionKey = sessionKey
    }

    /// Returns the attributes for the NTLM response: those from the server, and those that the client adds.
    private static func attributes(
        _ stated: [NTLMAttribute], service: String, hasIntegrityCode: Bool
    ) -> [NTLMAttribute] {
        guard !stated.isEmpty else { return [] }
        var attributes = stated.filter { $0.kind != NTLMAttribute.Kind.targetName }
        if hasIntegrityCode {
            let flag = bytes(NTLMAttribute.hasIntegrityCode)
            if let index = attributes.firstIndex(where: { $0.kind == NTLMAttribute.Kind.flags && $0.value.count == 4 })
            {
                attributes[index].value[0] |= flag[0]
            } else {
                attributes.append(NTLMAttribute(NTLMAttribute.Kind.flags, flag))
            }
        }
        if !service.isEmpty {
            attributes.append(NTLMAttribute(NTLMAttribute.Kind.targetName, NTLMMessage.utf16(service)))
        }
        return attributes
    }

    private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
        stride(from: 0, to: value.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
