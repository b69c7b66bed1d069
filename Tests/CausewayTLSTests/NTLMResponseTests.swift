import CausewayProtocols
import CausewayTLS
import CausewayWire
import Testing

@Suite("NTLM version 2 with the functions of OpenSSL (MS-NLMP §3.3.2)")
struct NTLMResponseTests {
    private let functions = LibraryNTLM.functions
    private let user = NTLMUser("Domain\\User")

    private func hexadecimal(_ bytes: [UInt8]?) -> String {
        (bytes ?? []).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private let server = NTLMChallengeMessage(
        flags: NTLMFlags(rawValue: 0xE28A_8233), challenge: [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF],
        target: NTLMMessage.utf16("Server"),
        attributes: [
            NTLMAttribute(2, NTLMMessage.utf16("Domain")), NTLMAttribute(1, NTLMMessage.utf16("Server")),
        ])
    private let choice = NTLMResponse.Choice(challenge: [UInt8](repeating: 0xAA, count: 8), time: 0)

    @Test("The provider is installed here, and MD4 and HMAC-MD5 have known results (RFC 1320, RFC 2202)")
    func digests() {
        #expect(LibraryNTLM.problem == nil)
        #expect(hexadecimal(functions.md4(Array("abc".utf8))) == "a448017aaf21d8525fc10ae87aa6729d")
        #expect(hexadecimal(functions.md4([])) == "31d6cfe0d16ae931b73c59d7e0c089c0")
        let code = functions.hmacMD5(Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        #expect(hexadecimal(code) == "750c783e6ab0b503eaa86e310a5db738")
    }

    @Test("The values of MS-NLMP §4.2.4")
    func vectors() throws {
        #expect(hexadecimal(functions.md4(NTLMMessage.utf16("Password"))) == "a4f49c406510bdcab6824ee7c30fd852")
        let key = try #require(NTLMResponse.key(for: user, password: "Password", functions))
        #expect(hexadecimal(key) == "0c868a403bfd7a93a3001ef22ef02e3f")
        let response = try #require(NTLMResponse(to: server, service: "", key: key, choice, functions))
        #expect(hexadecimal(Array(response.nt.prefix(16))) == "68cd0ab851e51c96aabc927bebef6a1c")
        #expect(hexadecimal(response.sessionKey) == "8de40ccadbc14a82f15cb0ad0de95ca3")
        #expect(hexadecimal(response.lm) == "86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa")
        #expect(!response.hasIntegrityCode)
    }

    @Test("With the time of the server, the response names the service and has an integrity code over all messages")
    func integrityCode() throws {
        var stated = server
        let time: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        stated.attributes += [NTLMAttribute(NTLMAttribute.Kind.timestamp, time), NTLMAttribute(9, [0x58, 0])]
        let challenge = try #require(stated.encoded)
        var client = NTLMClient(user, password: "Password", service: "HTTP/a.test", functions)
        let messages = [nil, challenge, challenge].map { client.next($0, choice) }
        let (first, third) = (try #require(messages[0]), try #require(messages[1]))
        #expect(messages[2] == nil)
        let answer = try NTLMAuthenticateMessage(parsing: third, hasIntegrityCode: true)
        #expect(answer.user == NTLMMessage.utf16("User") && answer.domain == NTLMMessage.utf16("Domain"))
        #expect(answer.lmResponse == [UInt8](repeating: 0, count: 24))
        #expect(Array(answer.ntResponse[24..<32]) == time)
        let attributes = try NTLMAttribute.parse(Array(answer.ntResponse[44...]))
        #expect(attributes.filter { $0.kind == 9 } == [NTLMAttribute(9, NTLMMessage.utf16("HTTP/a.test"))])
        #expect(attributes.filter { $0.kind == 6 } == [NTLMAttribute(6, [2, 0, 0, 0])])
        let key = try #require(NTLMResponse.key(for: user, password: "Password", functions))
        let session = try #require(functions.hmacMD5(key, Array(answer.ntResponse.prefix(16))))
        var unprotected = third
        for index in 72..<88 { unprotected[index] = 0 }
        #expect(answer.integrityCode == functions.hmacMD5(session, first + challenge + unprotected))
    }

    @Test("Names: a domain in front, an address as it is, upper case letter by letter")
    func names() throws {
        #expect(NTLMUser("D\\ann") == NTLMUser(name: "ann", domain: "D"))
        #expect(NTLMUser("ann@d.test") == NTLMUser(name: "ann@d.test"))
        #expect(NTLMUser("\\ann") == NTLMUser(name: "ann"))
        #expect(NTLMUser("D\\\u{301}ann") == NTLMUser(name: "\u{301}ann", domain: "D"))
        let small = NTLMResponse.key(for: NTLMUser(name: "straße", domain: "d"), password: "p", functions)
        #expect(small == NTLMResponse.key(for: NTLMUser(name: "STRAßE", domain: "d"), password: "p", functions))
        #expect(small != NTLMResponse.key(for: NTLMUser(name: "STRASSE", domain: "d"), password: "p", functions))
    }

    @Test("A client ends after a malformed challenge, without MD4, and if the server cannot read the name")
    func ends() throws {
        let none = NTLMFunctions(md4: { _ in nil }, hmacMD5: { _, _ in nil })
        var ascii = server
        ascii.flags.remove(.unicode)
        let rows: [(NTLMFunctions, String, [UInt8]?)] = [
            (functions, "ann", [1, 2, 3]), (functions, "ann", nil), (none, "ann", server.encoded),
            (functions, "äpfel", ascii.encoded), (functions, "ann", [UInt8](repeating: 0, count: 49 << 10)),
        ]
        for (functions, user, token) in rows {
            var client = NTLMClient(NTLMUser(user), password: "p", service: "", functions)
            let messages = [nil, token, server.encoded].map { client.next($0, choice) }
            #expect(messages[0] != nil && messages[1] == nil && messages[2] == nil)
        }
        var client = NTLMClient(NTLMUser("D\\ann"), password: "p", service: "", functions)
        let messages = [nil, ascii.encoded].map { client.next($0, choice) }
        let third = try #require(messages[1])
        let answer = try NTLMAuthenticateMessage(parsing: third, hasIntegrityCode: false)
        #expect(answer.user == Array("ann".utf8) && answer.flags.contains(.oem) && !answer.flags.contains(.unicode))
    }
}
