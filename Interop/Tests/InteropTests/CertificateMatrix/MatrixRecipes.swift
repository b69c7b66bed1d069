/// The recipes for all certificates in the certificate tests.
enum MatrixRecipes {
    static let past = ("20200101000000Z", "20210101000000Z")
    private static let future = ("20400101000000Z", "20410101000000Z")

    static let all = authorities + names + uses + kinds + oddities + long + more

    private static let authorities: [Recipe] = [
        .authority("root", by: nil), .authority("second", by: nil), .authority("unrelated", by: nil),
        .authority("plain", by: nil, key: "rsa2048-plain", options: ["plain"]),
        // An authority with the name of the root, but with another key.
        .authority("impostor", by: nil, subject: "/CN=Matrix root"),
        .authority("middle"), .authority("lower", by: "middle"),
        .authority("crossed", by: "unrelated", key: "middle", subject: "/CN=Matrix middle"),
        .authority("crossedOld", key: "middle", subject: "/CN=Matrix middle", dates: past),
        .authority("middleOld", dates: past), .authority("middleNew", dates: future),
        .authority(
            "noAuthority", changing: ["basicConstraints": "critical,CA:FALSE", "keyUsage": "critical,digitalSignature"]),
        .authority("noConstraints", changing: ["basicConstraints": ""]),
        .authority("noSigning", changing: ["keyUsage": "critical,cRLSign"]),
        .authority("noUsage", changing: ["keyUsage": ""]),
        .authority("uncritical", changing: ["basicConstraints": "CA:TRUE"]),
        .authority("short", changing: ["basicConstraints": "critical,CA:TRUE,pathlen:0"]),
        .authority("belowShort", by: "short"),
        .authority("forClients", changing: ["extendedKeyUsage": "clientAuth"]),
        .authority("forServers", changing: ["extendedKeyUsage": "serverAuth,clientAuth"]),
        .authority("sha1Middle", options: ["-sha1"]), .authority("rsa1024-middle"),
        .authority("namesHere", changing: ["nameConstraints": "critical,permitted;DNS:server.test"]),
        .authority("namesElsewhere", changing: ["nameConstraints": "critical,permitted;DNS:elsewhere.test"]),
        .authority("namesNotHere", changing: ["nameConstraints": "critical,excluded;DNS:server.test"]),
        .authority("namesNotThere", changing: ["nameConstraints": "critical,excluded;DNS:there.test"]),
        .authority("namesNotBelow", changing: ["nameConstraints": "critical,excluded;DNS:www.server.test"]),
        .authority("addressesHere", changing: ["nameConstraints": "critical,permitted;IP:127.0.0.0/255.0.0.0"]),
        .authority("addressesElsewhere", changing: ["nameConstraints": "critical,permitted;IP:10.0.0.0/255.0.0.0"]),
        .authority("loopA", by: "loopB"), .authority("loopB", by: "loopAself"),
        .authority("loopAself", by: nil, key: "loopA", subject: "/CN=Matrix loopA"),
        .authority("oldRoot", by: nil, dates: past),
        .authority("narrowRoot", by: nil, changing: ["nameConstraints": "critical,permitted;DNS:elsewhere.test"]),
    ]

    private static let names: [Recipe] = [
        .leaf("leaf"), .leaf("otherName", names: "DNS:other.test"),
        .leaf("twoNames", names: "DNS:a.test,DNS:server.test"),
        .leaf("capitals", names: "DNS:SERVER.Test"), .leaf("wildcard", names: "DNS:*.server.test"),
        .leaf("wildcardTop", names: "DNS:*.test"), .leaf("wildcardAlone", names: "DNS:*"),
        .leaf("wildcardStart", names: "DNS:w*.server.test"), .leaf("wildcardEnd", names: "DNS:*w.server.test"),
        .leaf("wildcardSecond", names: "DNS:www.*.test"), .leaf("wildcardTwice", names: "DNS:*.*.test"),
        .leaf("wildcardAddress", names: "DNS:*.0.0.1"), .leaf("dot", names: "DNS:server.test."),
        .leaf("underscore", names: "DNS:my_server.test"), .leaf("aLabel", names: "DNS:xn--bcher-kva.test"),
        .leaf(
            "uLabel",
            changing: ["subjectAltName": "", "2.5.29.17": "DER:30:0E:82:0C:62:C3:BC:63:68:65:72:2E:74:65:73:74"]),
        .leaf("single", names: "DNS:intranet"), .leaf("address", names: "IP:127.0.0.1"),
        .leaf("address6", names: "IP:::1"), .leaf("otherAddress", names: "IP:127.0.0.2"),
        .leaf("addressAsName", names: "DNS:127.0.0.1"), .leaf("both", names: "DNS:server.test,IP:127.0.0.1"),
        .leaf("commonName", names: "", subject: "/CN=server.test"),
        .leaf("commonNameToo", names: "DNS:other.test", subject: "/CN=server.test"),
        .leaf("uri", names: "URI:https://server.test/"), .leaf("mail", names: "email:x@server.test"),
        .leaf("uriAndCommonName", names: "URI:https://server.test/", subject: "/CN=server.test"),
        // A DNS name that consists of `server.test`, a zero byte and `.evil.test`.
        .leaf(
            "zero",
            changing: [
                "subjectAltName": "",
                "2.5.29.17": "DER:30:18:82:16:73:65:72:76:65:72:2E:74:65:73:74:00:2E:65:76:69:6C:2E:74:65:73:74",
            ]),
        .leaf("noNames", changing: ["subjectAltName": "", "2.5.29.17": "DER:30:00"]),
        .leaf("emptySubject", names: "critical,DNS:server.test", subject: "/"),
        .leaf("emptySubjectPlain", subject: "/"),
    ]

    private static let uses: [Recipe] = [
        .leaf("old", dates: past), .leaf("new", dates: future),
        .leaf("client", changing: ["extendedKeyUsage": "clientAuth"]),
        .leaf("code", changing: ["extendedKeyUsage": "codeSigning"]),
        .leaf("anything", changing: ["extendedKeyUsage": "anyExtendedKeyUsage"]),
        .leaf("noPurposes", changing: ["extendedKeyUsage": ""]), .leaf("noUsageLeaf", changing: ["keyUsage": ""]),
        .leaf("encipherment", key: "rsa2048-leaf", changing: ["keyUsage": "critical,keyEncipherment"]),
        .leaf("lists", changing: ["keyUsage": "critical,cRLSign"]),
        .leaf(
            "authorityLeaf",
            changing: ["basicConstraints": "critical,CA:TRUE", "keyUsage": "critical,digitalSignature,keyCertSign"]),
        .leaf("unknownCritical", changing: ["1.2.3.4": "critical,DER:05:00"]),
        .leaf("unknown", changing: ["1.2.3.4": "DER:05:00"]),
        .leaf("promise", changing: ["tlsfeature": "status_request"], options: ["-set_serial", "4660"]),
        .leaf("noIdentifier", changing: ["authorityKeyIdentifier": "none"]),
        .leaf("selfSigned", by: nil, changing: ["authorityKeyIdentifier": ""]),
        .leaf("byUnrelated", by: "unrelated"), .leaf("byImpostor", by: "impostor"), .leaf("byMiddle", by: "middle"),
        .leaf("byLower", by: "lower"), .leaf("bySelfSigned", by: "selfSigned"), .leaf("byPlain", by: "plain"),
        .leaf("plainLeaf", by: nil, key: "rsa2048-self", subject: "/CN=server.test", options: ["plain"]),
        .leaf("byMiddleOld", by: "middleOld"), .leaf("byMiddleNew", by: "middleNew"),
        .leaf("byNoAuthority", by: "noAuthority"), .leaf("byNoConstraints", by: "noConstraints"),
        .leaf("byNoSigning", by: "noSigning"), .leaf("byNoUsage", by: "noUsage"),
        .leaf("byUncritical", by: "uncritical"),
        .leaf("byShort", by: "short"), .leaf("byBelowShort", by: "belowShort"), .leaf("byForClients", by: "forClients"),
        .leaf("byForServers", by: "forServers"), .leaf("byLoop", by: "loopA"), .leaf("byOldRoot", by: "oldRoot"),
        .leaf("byNarrowRoot", by: "narrowRoot"),
        .leaf("byNamesHere", by: "namesHere"), .leaf("byNamesElsewhere", by: "namesElsewhere"),
        .leaf("byNamesNotHere", by: "namesNotHere"), .leaf("byNamesNotThere", by: "namesNotThere"),
        .leaf("wildcardNotBelow", by: "namesNotBelow", names: "DNS:*.server.test"),
        .leaf("byAddressesHere", by: "addressesHere", names: "IP:127.0.0.1"),
        .leaf("byAddressesElsewhere", by: "addressesElsewhere", names: "IP:127.0.0.1"),
    ]

    private static let kinds: [Recipe] = [
        .leaf("rsa2048", key: "rsa2048-leaf"), .leaf("rsa4096", key: "rsa4096-leaf"), .leaf("p384", key: "p384-leaf"),
        .leaf("ed25519", key: "ed25519-leaf"), .leaf("rsa1024", key: "rsa1024-leaf"), .leaf("p192", key: "p192-leaf"),
        .leaf("explicit", key: "explicit-leaf"), .leaf("sha1", options: ["-sha1"]),
        .leaf("sha384", options: ["-sha384"]),
        .leaf("bySHA1", by: "sha1Middle"), .leaf("byRSA1024", by: "rsa1024-middle"),
        .leaf(
            "enciphermentToo", key: "rsa2048-leaf", changing: ["keyUsage": "critical,digitalSignature,keyEncipherment"]),
    ]

    private static let oddities: [Recipe] = [
        Recipe(id: "version1", issuer: "root", key: "leaf", subject: "/CN=server.test", extensions: []),
        .leaf("serialNegative", options: ["-set_serial", "-5"]), .leaf("serialZero", options: ["-set_serial", "0"]),
        .leaf("serialLong", options: ["-set_serial", "0x" + String(repeating: "7f", count: 24)]),
        .leaf("fiveYears", dates: ("20250101000000Z", "20350101000000Z")),
        .leaf("manyNames", names: (0..<1_500).map { "DNS:n\($0).test," }.joined() + "DNS:server.test"),
        .leaf(
            "tooManyNames", names: (0..<5_000).map { "DNS:a-rather-long-name-\($0).test," }.joined() + "DNS:server.test"
        ),
    ]

    /// Nine authorities below the root, each issued by the one before. The eighth and the ninth authority each sign one
    /// leaf certificate.
    private static let long: [Recipe] =
        (1...9).map { .authority("level\($0)", by: $0 == 1 ? "root" : "level\($0 - 1)") }
        + [.leaf("byLevel8", by: "level8"), .leaf("byLevel9", by: "level9")]
}
