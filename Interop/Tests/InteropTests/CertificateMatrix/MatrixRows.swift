import Causeway

extension MatrixRow {
    /// All rows of the certificate tests. They test the rules in RFC 5280, RFC 6125 and RFC 9525, and some of this
    /// library's own rules.
    static let all =
        goodNames + goodChains + badNames + badUses + badChains + badKinds + badServers
        + moreNames + moreChains + moreConstraints + moreKinds

    static let commonNames = "they accept the common name, as before RFC 6125"
    private static let anchorStrict = "they require of a trusted certificate the extensions of an authority"
    static let lenient = "they do not check all rules of RFC 5280"

    private static let goodNames: [MatrixRow] = [
        good("plain", ["leaf"]), good("second of two names", ["twoNames"]),
        good("capitals in the certificate", ["capitals"]),
        good("capitals in the request", ["leaf"], host: "SERVER.test"),
        good("final dot in the request", ["leaf"], host: "server.test.", others: "they keep the dot"),
        good("wildcard", ["wildcard"], host: "www.server.test"),
        good("wildcard and an A-label", ["wildcard"], host: "xn--bcher-kva.server.test"),
        good("underscore", ["underscore"], host: "my_server.test"),
        good("U-label asked for", ["aLabel"], host: "b\u{fc}cher.test"),
        good("A-label asked for", ["aLabel"], host: "xn--bcher-kva.test"),
        good("one label", ["single"], host: "intranet"),
        good("address", ["address"], host: "127.0.0.1"), good("name and address, by name", ["both"]),
        good("name and address, by address", ["both"], host: "127.0.0.1"),
        good("another common name", ["leaf"]), good("no subject, critical names", ["emptySubject"]),
        good("1,500 names", ["manyNames"]),
    ]

    private static let goodChains: [MatrixRow] = [
        good("RSA 2048", ["rsa2048"]), good("RSA 4096", ["rsa4096"]), good("P-384", ["p384"]),
        good("Ed25519", ["ed25519"]),
        good("SHA-384", ["sha384"]), good("RSA for both uses", ["enciphermentToo"]),
        good("no key usage", ["noUsageLeaf"]), good("no purposes", ["noPurposes"]),
        good("unknown extension, not critical", ["unknown"]), good("valid for ten years", ["fiveYears"]),
        good("one intermediate", ["byMiddle", "middle"]), good("two intermediates", ["byLower", "lower", "middle"]),
        good("swapped intermediates", ["byLower", "middle", "lower"]),
        good("unrelated certificates between", ["byLower", "unrelated", "middle", "second", "lower"]),
        good("the root sent along", ["byMiddle", "middle", "root"]),
        good("everything twice", ["byMiddle", "byMiddle", "middle", "middle"]),
        good("cross-signed, one root trusted", ["byMiddle", "crossed", "middle"], others: "they try no second path"),
        good(
            "cross-signed, the other root trusted", ["byMiddle", "middle", "crossed"], anchors: ["unrelated"],
            others: "they try no second path"),
        good("cross-signed, one has expired", ["byMiddle", "crossedOld", "middle"], others: "they try no second path"),
        good("root made by req -x509", ["byPlain"], anchors: ["plain"], others: anchorStrict),
        good("self-signed by req -x509, trusted", ["plainLeaf"], anchors: ["plainLeaf"], others: anchorStrict),
        good("self-signed, trusted", ["selfSigned"], anchors: ["selfSigned"], others: anchorStrict),
        good(
            "an intermediate trusted alone", ["byLower", "lower"], anchors: ["middle"],
            others: "they require a trust anchor to be a root"),
        good("path length obeyed", ["byShort", "short"]), good("names permitted", ["byNamesHere", "namesHere"]),
        good("other names excluded", ["byNamesNotThere", "namesNotThere"]),
        good("addresses permitted", ["byAddressesHere", "addressesHere"], host: "127.0.0.1"),
        good("authority for servers", ["byForServers", "forServers"]),
        good("eight intermediates", ["byLevel8"] + (1...8).reversed().map { "level\($0)" }),
        good("must-staple, stapled", ["promise"], server: .stapling),
    ]

    private static let badNames: [MatrixRow] = [
        bad("another name", ["otherName"], errSSLHostNameMismatch),
        bad("correct common name, other name", ["commonNameToo"], errSSLHostNameMismatch),
        bad("common name only", ["commonName"], errSSLHostNameMismatch, others: commonNames),
        bad("wildcard for two labels", ["wildcard"], errSSLHostNameMismatch, host: "a.b.server.test"),
        bad("wildcard for none", ["wildcard"], errSSLHostNameMismatch),
        bad(
            "wildcard over a top-level label", ["wildcardTop"], errSSLHostNameMismatch,
            others: "a label may cover all hosts of a registry"),
        bad("wildcard alone", ["wildcardAlone"], errSSLHostNameMismatch, host: "intranet"),
        bad(
            "wildcard followed by letters", ["wildcardEnd"], errSSLHostNameMismatch, host: "www.server.test",
            others: "they allow a wildcard in a part of a label"),
        bad(
            "wildcard preceded by letters", ["wildcardStart"], errSSLHostNameMismatch, host: "www.server.test",
            others: "they allow a wildcard in a part of a label"),
        bad("wildcard in the second label", ["wildcardSecond"], errSSLHostNameMismatch, host: "www.server.test"),
        bad("two wildcards", ["wildcardTwice"], errSSLHostNameMismatch, host: "www.server.test"),
        bad("wildcard for an address", ["wildcardAddress"], errSSLHostNameMismatch, host: "127.0.0.1"),
        bad("address for a name", ["address"], errSSLHostNameMismatch),
        bad("name for an address", ["leaf"], errSSLHostNameMismatch, host: "127.0.0.1"),
        bad("address written as a name", ["addressAsName"], errSSLHostNameMismatch, host: "127.0.0.1"),
        bad("another address", ["otherAddress"], errSSLHostNameMismatch, host: "127.0.0.1"),
        bad("IPv6 for IPv4", ["address6"], errSSLHostNameMismatch, host: "127.0.0.1"),
        bad("final dot in the certificate", ["dot"], errSSLHostNameMismatch, others: "they remove the dot"),
        bad("U-label in the certificate", ["uLabel"], errSSLHostNameMismatch, host: "xn--bcher-kva.test"),
        bad("URI alone", ["uri"], errSSLHostNameMismatch), bad("mail address only", ["mail"], errSSLHostNameMismatch),
        bad("URI and a common name", ["uriAndCommonName"], errSSLHostNameMismatch, others: commonNames),
        bad("zero byte after the name", ["zero"], errSSLHostNameMismatch),
        bad("empty list of names", ["noNames"], errSSLBadCert),
        bad("no subject, names not critical", ["emptySubjectPlain"], errSSLBadCert, others: lenient),
    ]

    private static let badUses: [MatrixRow] = [
        bad("expired", ["old"], errSSLCertExpired), bad("not valid yet", ["new"], errSSLCertNotYetValid),
        bad("for clients", ["client"]), bad("for code", ["code"]),
        bad("for anything", ["anything"], others: "they accept a certificate for any purpose"),
        bad(
            "key for encipherment only", ["encipherment"],
            others: "RFC 8446 §4.4.2.2 requires the digital signature usage"),
        bad("key for revocation lists", ["lists"]),
        bad("an authority as a server", ["authorityLeaf"], others: "they do not check this"),
        bad("unknown critical extension", ["unknownCritical"]),
        bad(
            "must-staple, nothing stapled", ["promise"], errSSLBadCertificateStatusResponse,
            others: "they do not implement RFC 7633"),
        bad("no identifier of the issuer", ["noIdentifier"], errSSLBadCert, others: lenient),
        bad("negative serial number", ["serialNegative"], errSSLBadCert, others: lenient),
        bad("serial number zero", ["serialZero"], errSSLBadCert, others: lenient),
        bad("serial number of 24 bytes", ["serialLong"], errSSLBadCert, others: lenient),
        bad("version 1", ["version1"], errSSLHostNameMismatch, others: commonNames),
        bad("140 KB of names", ["tooManyNames"], nil),
    ]

    private static let badChains: [MatrixRow] = [
        bad("self-signed", ["selfSigned"]), bad("self-signed by req -x509", ["plainLeaf"]),
        bad("unknown root", ["byUnrelated"]), bad("unknown root, sent along", ["byUnrelated", "unrelated"]),
        bad("a root with the same name", ["byImpostor"]),
        bad("a root with the same name, sent", ["byImpostor", "impostor"]),
        bad("signature damaged", ["damaged"]),
        bad("intermediate missing", ["byMiddle"]), bad("lower intermediate missing", ["byLower", "middle"]),
        bad("upper intermediate missing", ["byLower", "lower"]),
        bad("intermediate expired", ["byMiddleOld", "middleOld"], errSSLCertExpired),
        bad("intermediate not valid yet", ["byMiddleNew", "middleNew"], errSSLCertNotYetValid),
        bad("intermediate no authority", ["byNoAuthority", "noAuthority"]),
        bad("intermediate without constraints", ["byNoConstraints", "noConstraints"]),
        bad("intermediate may not sign", ["byNoSigning", "noSigning"]),
        bad(
            "intermediate without the certificate signing usage", ["byNoUsage", "noUsage"], errSSLBadCert,
            others: lenient),
        bad("constraints not critical", ["byUncritical", "uncritical"], errSSLBadCert, others: lenient),
        bad("intermediate for clients", ["byForClients", "forClients"]),
        bad("path length exceeded", ["byBelowShort", "belowShort", "short"]),
        bad(
            "nine intermediates", ["byLevel9"] + (1...9).reversed().map { "level\($0)" }, others: "they allow a hundred"
        ),
        bad("names not permitted", ["byNamesElsewhere", "namesElsewhere"]),
        bad("names excluded", ["byNamesNotHere", "namesNotHere"]),
        bad(
            "wildcard that covers an excluded name", ["wildcardNotBelow", "namesNotBelow"], host: "www.server.test",
            others: "they compare suffixes of names"),
        bad("addresses not permitted", ["byAddressesElsewhere", "addressesElsewhere"], host: "127.0.0.1"),
        bad("names not permitted by the root", ["byNarrowRoot"], anchors: ["narrowRoot"]),
        bad("root expired", ["byOldRoot"], errSSLCertExpired, anchors: ["oldRoot"]),
        bad("below a trusted server", ["bySelfSigned"], anchors: ["selfSigned"]),
        bad(
            "self-signed, trusted, another name", ["selfSigned"], errSSLHostNameMismatch, host: "other.test",
            anchors: ["selfSigned"]),
        bad("authorities in a loop", ["byLoop", "loopA", "loopB"]),
        bad(
            "65 certificates", ["byMiddle", "middle"] + (0..<63).map { _ in "unrelated" },
            others: "more certificates than a chain needs"),
    ]

    private static let badKinds: [MatrixRow] = [
        bad("RSA 1024", ["rsa1024"], errSSLATSMinimumKeySizeViolation),
        bad("intermediate RSA 1024", ["byRSA1024", "rsa1024-middle"], errSSLATSMinimumKeySizeViolation),
        bad("P-192", ["p192"], nil), bad("curve with explicit parameters", ["explicit"], nil),
        bad("SHA-1", ["sha1"], errSSLATSCertificateHashAlgorithmViolation),
        bad("intermediate SHA-1", ["bySHA1", "sha1Middle"], errSSLATSCertificateHashAlgorithmViolation),
    ]

    private static let badServers: [MatrixRow] = [
        bad("TLS 1.0", ["rsa2048"], nil, server: .limited(version: "TLSv1", suites: "ALL:@SECLEVEL=0")),
        bad("TLS 1.1", ["rsa2048"], nil, server: .limited(version: "TLSv1_1", suites: "ALL:@SECLEVEL=0")),
        bad(
            "CBC alone", ["rsa2048"], nil,
            server: .limited(version: "TLSv1_2", suites: "ECDHE-RSA-AES128-SHA:@SECLEVEL=0"),
            others: "they allow suites without authenticated encryption"),
        bad(
            "RSA key exchange only", ["enciphermentToo"], nil,
            server: .limited(version: "TLSv1_2", suites: "AES128-GCM-SHA256"),
            others: "they allow suites without forward secrecy"),
    ]
}
