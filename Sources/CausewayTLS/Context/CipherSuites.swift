internal import CCausewayLibraries

/// Cipher suites by their registered numbers.
enum CipherSuites {
    /// Suites with forward secrecy and authenticated encryption: ECDHE with AES-GCM or ChaCha20-Poly1305 (RFC 9325 §4.2).
    static let recommended: [UInt16] = [
        0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8,
    ]
    /// Suites for connections with a pre-shared key. The last two have no forward secrecy, but programs that use
    /// Apple's API request them.
    static let withPreSharedKey: [UInt16] = [0xccac, 0xccab, 0x00a8, 0x00a9]

    /// ECDHE with AES-CBC and SHA-1, the best suites before TLS 1.2. They are used only if the program explicitly
    /// allows a version before TLS 1.2.
    static let forOldVersions: [UInt16] = [0xc009, 0xc013, 0xc00a, 0xc014]

    /// Returns whether a suite belongs to TLS 1.3 (RFC 8446 §B.4).
    static func isForTLS13(_ number: UInt16) -> Bool { number >> 8 == 0x13 }

    /// Returns OpenSSL's names for the suites, in the same order, separated by colons. Skips unknown suites.
    static func names(_ numbers: some Sequence<UInt16>) -> String {
        numbers.compactMap { names[$0] }.joined(separator: ":")
    }

    /// All suites in the installed library, including weak suites.
    private static let names: [UInt16: String] = {
        guard let context = cw_SSL_CTX_new(cw_TLS_method()) else { return [:] }
        defer { cw_SSL_CTX_free(context) }
        cw_SSL_CTX_set_security_level(context, 0)
        cw_SSL_CTX_set_cipher_list(context, "ALL:COMPLEMENTOFALL")
        let suites = cw_SSL_CTX_get_ciphers(context)
        var result: [UInt16: String] = [:]
        for index in 0..<max(0, cw_OPENSSL_sk_num(suites)) {
            guard let suite = cw_OPENSSL_sk_value(suites, index).map({ OpaquePointer($0) }) else { continue }
            result[cw_SSL_CIPHER_get_protocol_id(suite)] = cw_SSL_CIPHER_get_name(suite).map { String(cString: $0) }
        }
        return result
    }()
}

/// Key exchange groups (RFC 8446 §4.2.7).
enum KeyExchangeGroups {
    private static let known: [(number: UInt16, name: String, identifier: Int)] = [
        (23, "P-256", 415), (24, "P-384", 715), (25, "P-521", 716), (29, "X25519", 1_034), (30, "X448", 1_035),
        (256, "ffdhe2048", 1_126), (257, "ffdhe3072", 1_127), (258, "ffdhe4096", 1_128),
        // Only OpenSSL 3.5 and later have this group.
        (4_588, "X25519MLKEM768", -1),
    ]

    /// The default group lists; the first list that OpenSSL accepts is used. The lists contain elliptic curves and, if
    /// available, the post-quantum hybrid. They contain no finite field groups: the client chooses the group, and a
    /// finite field group can cost a server a hundred times as much as a curve (ffdhe8192: 92 ms per handshake). A
    /// program can enable these groups explicitly.
    static let recommended = [
        // This list is for OpenSSL 3.5 and later. A client offers a key share for each of the first two groups.
        "*X25519MLKEM768/*X25519:P-256/X448:P-384:P-521",
        "X25519:P-256:X448:P-521:P-384",
        // Some OpenSSL installations have a policy that permits only these groups. This list is for them.
        "P-256:P-384:P-521",
    ]

    static func names(_ numbers: [UInt16]) -> String {
        numbers.compactMap { number in known.first { $0.number == number }?.name }.joined(separator: ":")
    }

    /// Returns the group number for OpenSSL's identifier.
    static func number(ofLibrary identifier: Int) -> UInt16? {
        // OpenSSL has no identifier for some groups. For such a group, it returns the registered number with a flag
        // bit.
        if identifier & 0x100_0000 != 0 { return UInt16(truncatingIfNeeded: identifier) }
        return known.first { $0.identifier == identifier }?.number
    }
}

extension TLSNegotiation {
    /// Returns OpenSSL's name for the suite, such as `TLS_AES_128_GCM_SHA256`, or the number if it has no name.
    package static func name(ofCipherSuite number: UInt16) -> String {
        let name = CipherSuites.names([number])
        return name.isEmpty ? "suite \(number)" : name
    }

    /// Returns the group's registered name, such as `X25519`, or the number if the name is unknown.
    package static func name(ofGroup number: UInt16) -> String {
        let name = KeyExchangeGroups.names([number])
        return name.isEmpty ? "group \(number)" : name
    }
}
