import CausewayProtocols
import CausewayTLS
import CausewayWire
import Foundation

/// The server's side of the NTLM handshake on one connection. Verifies the client's response and its integrity code.
struct NTLMServerSide {
    /// The users' passwords. A key has the form `DOMAIN\user`, or is only the user name.
    private let passwords: [String: String]
    private let challenge: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    /// The user that the handshake authenticated for this connection; `nil` before the handshake.
    private(set) var user: String?
    private var first: [UInt8]?
    private var second: [UInt8]?

    init(passwords: [String: String] = ["ann": "secret"]) { self.passwords = passwords }

    /// Handles one request. `value` is the request's field `Authorization` or `Proxy-Authorization`.
    ///
    /// - Returns: The challenge for the client; `nil` if the connection is authenticated.
    mutating func handle(_ value: String?) -> String? {
        guard let value else { return user == nil ? "NTLM" : nil }
        guard value.hasPrefix("NTLM "), let token = Data(base64Encoded: String(value.dropFirst(5))) else {
            return "NTLM"
        }
        let bytes = [UInt8](token)
        if (try? NTLMNegotiateMessage(parsing: bytes)) != nil {
            user = nil
            first = bytes
            second = makeChallenge()
            return "NTLM " + Data(second ?? []).base64EncodedString()
        }
        defer { (first, second) = (nil, nil) }
        user = verify(bytes)
        return user == nil ? "NTLM" : nil
    }

    private func makeChallenge() -> [UInt8]? {
        NTLMChallengeMessage(
            flags: [.unicode, .ntlm, .extendedSecurity, .hasAttributes, .requestsTarget], challenge: challenge,
            target: NTLMMessage.utf16("SERVER"),
            attributes: [
                NTLMAttribute(2, NTLMMessage.utf16("SERVER")),
                NTLMAttribute(NTLMAttribute.Kind.timestamp, [0, 0, 0, 0, 0, 0, 0xDA, 1]),
            ]
        ).encoded
    }

    private func verify(_ bytes: [UInt8]) -> String? {
        let functions = LibraryNTLM.functions
        guard let first, let second,
            let message = try? NTLMAuthenticateMessage(parsing: bytes, hasIntegrityCode: true),
            message.ntResponse.count > 44
        else { return nil }
        let (name, domain) = (text(message.user), text(message.domain))
        let user = domain.isEmpty ? name : domain + "\\" + name
        guard let password = passwords[user], let hash = functions.md4(NTLMMessage.utf16(password)),
            let key = functions.hmacMD5(hash, NTLMMessage.utf16(name.uppercased() + domain)),
            let proof = functions.hmacMD5(key, challenge + message.ntResponse.dropFirst(16)),
            proof == Array(message.ntResponse.prefix(16)), let session = functions.hmacMD5(key, proof)
        else { return nil }
        var unprotected = bytes
        for index in 72..<88 { unprotected[index] = 0 }
        return functions.hmacMD5(session, first + second + unprotected) == message.integrityCode ? user : nil
    }

    private func text(_ bytes: [UInt8]) -> String {
        String(data: Data(bytes), encoding: .utf16LittleEndian) ?? ""
    }
}
