import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Digest authentication (RFC 7616)")
struct DigestTests {
    private let mufasa = PasswordCredential(username: "Mufasa", password: "Circle of Life")
    private let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    private func session(
        _ algorithm: String, qop: String? = "auth, auth-int", extra: String = "", credential: PasswordCredential? = nil
    ) throws -> DigestSession {
        var text =
            "Digest realm=\"http-auth@example.org\", nonce=\"\(nonce)\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
        if !algorithm.isEmpty { text += ", algorithm=\(algorithm)" }
        if let qop { text += ", qop=\"\(qop)\"" }
        let challenge = try #require(AuthenticationChallenge.parse([text + extra]).first)
        return try #require(DigestSession(challenge, credential: credential ?? mufasa))
    }

    private func parameters(_ value: String?) throws -> AuthenticationChallenge {
        let value = try #require(value)
        return try #require(AuthenticationChallenge.parse([value]).first)
    }

    private let get = DigestRequest(method: "GET", target: "/dir/index.html")

    struct Row: Sendable {
        var algorithm: String
        var first: String
        var second: String
    }

    // Rows 1 and 2 begin with the examples of RFC 7616 §3.9.1. The other values were computed with Python's hashlib.
    @Test(
        "Responses, and the counter of a second request",
        arguments: [
            Row(
                algorithm: "MD5", first: "8ca523f5e9506fed4657c9700eebdbec", second: "4b5d595ecf2db9df612ea5b45cd97101"),
            Row(
                algorithm: "SHA-256", first: "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
                second: "8c8db27f49ff1c202f9fb49fa9d2e9eabf078dcc93db40dfd6527010091d1c8e"),
            Row(
                algorithm: "MD5-sess", first: "e783283f46242139c486a698fec7211d",
                second: "6914b51e16f9459d9abc967ad41c4599"),
            Row(
                algorithm: "SHA-256-sess", first: "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7",
                second: "6bb0010aa4bdf46422a798c509ea32e256f27bd37de5cc3bdf8ed51e1d77d650"),
        ])
    func responses(row: Row) throws {
        var session = try session(row.algorithm)
        let first = try parameters(session.authorization(for: get, clientNonce: clientNonce))
        #expect(first.scheme == "digest")
        #expect(first["response"] == row.first)
        #expect(first["nc"] == "00000001" && first["qop"] == "auth" && first["cnonce"] == clientNonce)
        #expect(first["username"] == "Mufasa" && first["realm"] == "http-auth@example.org" && first["nonce"] == nonce)
        #expect(first["uri"] == "/dir/index.html" && first["algorithm"] == row.algorithm)
        #expect(first["opaque"] == "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS")
        let second = try parameters(session.authorization(for: get, clientNonce: clientNonce))
        #expect(second["response"] == row.second && second["nc"] == "00000002")
    }

    @Test("A session secret keeps its first client nonce (RFC 7616 §3.4.2)")
    func sessionNonce() throws {
        var session = try session("MD5-sess")
        _ = session.authorization(for: get, clientNonce: clientNonce)
        let second = try parameters(session.authorization(for: get, clientNonce: "other"))
        #expect(second["cnonce"] == clientNonce && second["response"] == "6914b51e16f9459d9abc967ad41c4599")
    }

    @Test("Without qop: the form of RFC 2069")
    func old() throws {
        let text = "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\""
        let challenge = try #require(AuthenticationChallenge.parse([text]).first)
        let credential = PasswordCredential(username: "Mufasa", password: "Circle Of Life")
        var session = try #require(DigestSession(challenge, credential: credential))
        let answer = try parameters(session.authorization(for: get, clientNonce: "x"))
        #expect(answer["response"] == "670fd8c2df070c60b045671b8b24ff02")
        for name in ["qop", "nc", "cnonce", "algorithm", "opaque"] { #expect(answer[name] == nil) }
    }

    @Test("Integrity is used only if the server demands it, and needs the content")
    func integrity() throws {
        var session = try session("SHA-256", qop: "auth-int")
        let post = DigestRequest(method: "POST", target: "/dir/index.html", content: Array("body".utf8))
        let answer = try parameters(session.authorization(for: post, clientNonce: clientNonce))
        #expect(answer["qop"] == "auth-int")
        #expect(answer["response"] == "329dcaaa9ce45c3ea5f919f438118f338057e9104aa58ecd51368264e88ced0c")
        let stream = DigestRequest(method: "POST", target: "/", content: nil)
        #expect(session.authorization(for: stream, clientNonce: "x") == nil)
    }

    @Test("SHA-512-256 with a hashed name (RFC 7616 §3.9.2, with erratum 4897)")
    func userhash() throws {
        let text =
            "Digest realm=\"api@example.org\", qop=\"auth\", algorithm=SHA-512-256, "
            + "nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\", opaque=\"HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS\", "
            + "charset=UTF-8, userhash=true"
        let challenge = try #require(AuthenticationChallenge.parse([text]).first)
        let credential = PasswordCredential(username: "Jäsøn Doe", password: "Secret, or not?")
        var session = try #require(DigestSession(challenge, credential: credential))
        let answer = try parameters(
            session.authorization(
                for: DigestRequest(method: "GET", target: "/doe.json"),
                clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v"))
        #expect(answer["username"] == "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b")
        #expect(answer["response"] == "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5")
        #expect(answer["userhash"] == "true")
    }

    @Test("A name that is not ASCII uses the extended notation (RFC 7616 §3.4)")
    func extendedName() throws {
        var session = try session("MD5", credential: PasswordCredential(username: "Jäsøn Doe", password: "x"))
        let sent = session.authorization(for: get, clientNonce: "c")
        let value = try #require(sent)
        #expect(value.contains("username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, "))
        #expect(!value.contains("username="))
    }

    @Test("No value can add a parameter or a field")
    func quoting() throws {
        var session = try session(
            "MD5", credential: PasswordCredential(username: "a\", b=\"c\r\nX: y\\", password: "x"))
        let sent = session.authorization(for: get, clientNonce: "c")
        let value = try #require(sent)
        #expect(!value.contains("\r") && !value.contains("\n"))
        #expect(try parameters(value)["username"] == "a\", b=\"cX: y\\")
    }

    // RFC 9110 §11.6.3.
    @Test("Authentication-Info: the next nonce starts a new count (RFC 7616 §3.5)")
    func nextNonce() throws {
        var session = try session("MD5")
        _ = session.authorization(for: get, clientNonce: clientNonce)
        #expect(session.received(information: "nextnonce=\"fresh\", qop=auth") == true)
        let answer = try parameters(session.authorization(for: get, clientNonce: clientNonce))
        #expect(answer["nonce"] == "fresh" && answer["nc"] == "00000001")
        #expect(session.received(information: "nextnonce=\"fresh\"") == true)
        #expect(try parameters(session.authorization(for: get, clientNonce: clientNonce))["nc"] == "00000002")
    }

    @Test("Authentication-Info: the server's proof is checked")
    func proof() throws {
        var session = try session("MD5")
        _ = session.authorization(for: get, clientNonce: clientNonce)
        let right = "qop=auth, rspauth=\"9b712497bc9f91499fbcca1dfc5f09a5\", cnonce=\"\(clientNonce)\", nc=00000001"
        #expect(session.received(information: right) == true)
        #expect(session.received(information: right.replacing("9b71", with: "0000")) == false)
        #expect(session.received(information: "rspauth=\"00\", nc=00000007") == true)
        #expect(session.received(information: "") == true)
    }

    @Test("The hash functions match the examples in the standards")
    func functions() {
        func hex(_ algorithm: DigestAlgorithm, _ text: String) -> String {
            Hexadecimal.text(Digests.builtIn(algorithm, Array(text.utf8)) ?? [])
        }
        // The expected digests below come from RFC 1321 §A.5.
        #expect(hex(.md5, "") == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(hex(.md5, "message digest") == "f96b697d7cb7938d525a2f31aaf161d0")
        #expect(hex(.md5, String(repeating: "1234567890", count: 8)) == "57edf4a22be3c955ac49da2e2107b67a")
        #expect(hex(.sha256, "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            hex(.sha256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
        #expect(hex(.sha512Truncated, "") == "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a")
        #expect(hex(.sha512Truncated, "abc") == "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23")
        #expect(
            hex(
                .sha512Truncated,
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"
            )
                == "3928e184fb8690f840da3988121d31be65cb9d3ef83ee6146feac861e19b563a")
    }
}
