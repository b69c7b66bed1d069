import Causeway

/// Edge cases of the validation rules.
extension MatrixRow {
    private static let anchorsBound = "they check a root less strictly than other certificates"
    private static let firstWay = "they try no second path"

    static let moreNames: [MatrixRow] = [
        bad("an IPv4 address as IPv6", ["mapped"], errSSLHostNameMismatch, host: "127.0.0.1"),
        bad(
            "wildcard within an A-label", ["wildcardALabel"], errSSLHostNameMismatch,
            host: "xn--bcher-kva.server.test"),
        bad("dot before the name", ["leadingDot"], errSSLHostNameMismatch, host: "www.server.test"),
        bad("space after the name", ["spaced"], errSSLHostNameMismatch),
        bad("directory name and a common name", ["directory"], errSSLHostNameMismatch, others: commonNames),
        bad("address of five bytes", ["fiveBytes"], nil, host: "127.0.0.1"),
        good("an empty name before the right one", ["emptyName"]),
        good(
            "wildcard and a final dot in the request", ["wildcard"], host: "www.server.test.",
            others: "they keep the dot"),
    ]

    static let moreChains: [MatrixRow] = [
        bad("intermediate of version 1", ["byVersion1", "version1Middle"]),
        bad("unknown critical extension above", ["byOddMiddle", "oddMiddle"]),
        bad("unknown critical extension in the root", ["byOddRoot"], anchors: ["oddRoot"]),
        bad("root for clients", ["byClientRoot"], anchors: ["clientRoot"], others: anchorsBound),
        bad("intermediate for code signing", ["byForCode", "forCode"]),
        good("intermediate for any purpose", ["byForAnything", "forAnything"]),
        good("path length of the root obeyed", ["byShortRoot"], anchors: ["shortRoot"]),
        bad("path length of the root exceeded", ["byBelowShortRoot", "belowShortRoot"], anchors: ["shortRoot"]),
        good("path length, a self-issued authority", ["byShortAgain", "shortAgain", "short"]),
        good("path length greater below", ["byFive", "five", "one"]),
        bad("path length of a server", ["pathLengthLeaf"], errSSLBadCert, others: lenient),
        good("no basic constraints", ["noBasicConstraints"]),
        good("a loop with a way out", ["byLoop", "loopA", "loopB", "loopARoot"], others: firstWay),
        good("certificates in reverse order", ["byLower", "root", "middle", "lower"]),
        good("two trusted roots with one name", ["leaf"], anchors: ["impostor", "root"]),
        good(
            "the trusted root with its earlier certificate", ["leaf"], anchors: ["rootBefore", "root"], others: firstWay
        ),
        bad("the earlier certificate of the root", ["leaf"], errSSLCertExpired, anchors: ["rootBefore"]),
        good(
            "the server's own certificate trusted, unknown issuer", ["byUnrelated"], anchors: ["byUnrelated"],
            others: "they require a trust anchor to be a root"),
        bad("the server's own certificate trusted, expired", ["old"], errSSLCertExpired, anchors: ["old"]),
        bad("precertificate", ["poison"]),
        bad("key for key agreement only", ["agreement"], others: "RFC 8446 §4.4.2.2"),
        good("serial number of 20 bytes", ["serial20"]), good("valid until the end of the year 9999", ["forEver"]),
        good("valid beyond 2049", ["year2051"]), good("valid from 1950", ["year1950"]),
    ]

    private static let policies = "they ignore policies by default"

    static let moreConstraints: [MatrixRow] = [
        good("mail permitted", ["byMailHere", "mailHere"]),
        bad("mail address not permitted", ["byMailElsewhere", "mailHere"]),
        good("URI permitted", ["byURIHere", "uriHere"]), bad("URI not permitted", ["byURIElsewhere", "uriHere"]),
        bad("URI with an address under constraints", ["byURIAddress", "uriHere"]),
        bad("URI excluded", ["byURIBelow", "uriNotBelow"]),
        good("subject permitted", ["byDirectoryHere", "directoryHere"]),
        bad("subject not permitted", ["byDirectoryElsewhere", "directoryHere"]),
        bad("subject excluded in other case", ["byDirectoryNot", "directoryNot"]),
        bad("names below a leading dot permitted", ["byDotHere", "dotHere"], errSSLBadCert, others: lenient),
        good("permitted and not excluded", ["byBothLists", "bothLists"]),
        bad("permitted and excluded", ["byBothListsNot", "bothLists"]),
        bad("constraints that are not critical", ["byMild", "mild"]),
        bad("permitted by the lower, not by the upper authority", ["byNarrower", "narrower", "namesElsewhere"]),
        bad("an address of another family", ["otherFamily", "addressesHere"], host: "127.0.0.1"),
        bad("constraints of a server", ["constrainedLeaf"], errSSLBadCert, others: lenient),
        // RFC 5280 §4.2.1.4, §4.2.1.5, §4.2.1.11, §4.2.1.14, §6.1.2, §6.1.5.
        bad("a required policy is absent", ["byDemanding", "demanding"], others: policies),
        good("a required policy is present", ["byDemandingNamed", "demandingNamed"]),
        bad("a required policy is absent, another present", ["byDemandingOther", "demandingNamed"], others: policies),
        good("any-policy forbidden, no policy required", ["byAnyPolicy", "anyPolicy"]),
        good("a required policy is mapped", ["byMapping", "mapping"]),
        bad("a required policy is mapped to another", ["byMappingOld", "mapping"], others: policies),
        good("a policy required further down", ["byAfterwards", "afterwards"]),
    ]

    static let moreKinds: [MatrixRow] = [
        good("P-521", ["p521"]), good("Ed448", ["ed448"]), good("RSA-PSS key", ["pssKey"]),
        good("RSA 3072", ["rsa3072"]),
        good("RSA with exponent 3", ["three"]), good("intermediate RSA", ["byRSA", "rsaMiddle"]),
        good("RSA-PSS signature", ["byPSS", "rsaMiddle"]), good("intermediate P-521", ["byP521", "p521-middle"]),
        good("intermediate Ed25519", ["byEd25519", "ed25519-middle"]), good("SHA-512", ["sha512"]),
        bad(
            "RSA 2040", ["rsa2040"], errSSLATSMinimumKeySizeViolation, others: "they count security bits, and round up"),
        bad("P-224", ["p224"], nil),
        bad("secp256k1", ["k256"], nil),
        bad("RSA-PSS signature with SHA-1", ["byPSSOfSHA1", "rsaMiddle"], errSSLATSCertificateHashAlgorithmViolation),
        bad("MD5", ["byMD5", "rsaMiddle"], errSSLATSCertificateHashAlgorithmViolation),
    ]
}
