import Causeway

/// What lies at the edges of the rules.
extension MatrixRow {
    private static let anchorsBound = "they ask less of a root than of those below it"
    private static let firstWay = "no second way is tried"

    static let moreNames: [MatrixRow] = [
        bad("an IPv4 address as IPv6", ["mapped"], errSSLHostNameMismatch, host: "127.0.0.1"),
        bad(
            "wildcard within an A-label", ["wildcardALabel"], errSSLHostNameMismatch,
            host: "xn--bcher-kva.server.test"),
        bad("dot before the name", ["leadingDot"], errSSLHostNameMismatch, host: "www.server.test"),
        bad("space behind the name", ["spaced"], errSSLHostNameMismatch),
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
        bad("intermediate for code", ["byForCode", "forCode"]),
        good("intermediate for anything", ["byForAnything", "forAnything"]),
        good("path length of the root kept", ["byShortRoot"], anchors: ["shortRoot"]),
        bad("path length of the root exceeded", ["byBelowShortRoot", "belowShortRoot"], anchors: ["shortRoot"]),
        good("path length, an authority renewed by itself", ["byShortAgain", "shortAgain", "short"]),
        good("path length greater below", ["byFive", "five", "one"]),
        bad("path length of a server", ["pathLengthLeaf"], errSSLBadCert, others: lenient),
        good("no basic constraints", ["noBasicConstraints"]),
        good("a circle with a way out", ["byLoop", "loopA", "loopB", "loopARoot"], others: firstWay),
        good("all in reverse", ["byLower", "root", "middle", "lower"]),
        good("two roots of one name trusted", ["leaf"], anchors: ["impostor", "root"]),
        good("the root as it was before, trusted too", ["leaf"], anchors: ["rootBefore", "root"], others: firstWay),
        bad("the root as it was before", ["leaf"], errSSLCertExpired, anchors: ["rootBefore"]),
        good(
            "the server's own trusted, its issuer unknown", ["byStranger"], anchors: ["byStranger"],
            others: "an anchor must be a root to them"),
        bad("the server's own trusted, expired", ["old"], errSSLCertExpired, anchors: ["old"]),
        bad("precertificate", ["poison"]), bad("key for agreement alone", ["agreement"], others: "RFC 8446 §4.4.2.2"),
        good("serial number of 20 bytes", ["serial20"]), good("valid to the end of the year 9999", ["forEver"]),
        good("valid beyond 2049", ["year2051"]), good("valid from 1950", ["year1950"]),
    ]

    private static let policies = "they do not look at policies unless they are told to"

    static let moreConstraints: [MatrixRow] = [
        good("mail permitted", ["byMailHere", "mailHere"]), bad("mail not permitted", ["byMailElsewhere", "mailHere"]),
        good("URI permitted", ["byURIHere", "uriHere"]), bad("URI not permitted", ["byURIElsewhere", "uriHere"]),
        bad("URI of an address under constraints", ["byURIAddress", "uriHere"]),
        bad("URI excluded", ["byURIBelow", "uriNotBelow"]),
        good("subject permitted", ["byDirectoryHere", "directoryHere"]),
        bad("subject not permitted", ["byDirectoryElsewhere", "directoryHere"]),
        bad("subject excluded in capitals", ["byDirectoryNot", "directoryNot"]),
        bad("names below a dot permitted", ["byDotHere", "dotHere"], errSSLBadCert, others: lenient),
        good("permitted and not excluded", ["byBothLists", "bothLists"]),
        bad("permitted and excluded", ["byBothListsNot", "bothLists"]),
        bad("constraints that are not critical", ["byMild", "mild"]),
        bad("permitted below, not above", ["byNarrower", "narrower", "namesElsewhere"]),
        bad("an address of the other family", ["otherFamily", "addressesHere"], host: "127.0.0.1"),
        bad("constraints of a server", ["constrainedLeaf"], errSSLBadCert, others: lenient),
        bad("a policy demanded, none there", ["byDemanding", "demanding"], others: policies),
        good("a policy demanded and there", ["byDemandingNamed", "demandingNamed"]),
        bad("a policy demanded, another there", ["byDemandingOther", "demandingNamed"], others: policies),
        good("any policy forbidden, none demanded", ["byAnyPolicy", "anyPolicy"]),
        good("a policy demanded and mapped", ["byMapping", "mapping"]),
        bad("a policy demanded, and mapped to another", ["byMappingOld", "mapping"], others: policies),
        good("a policy demanded further down", ["byAfterwards", "afterwards"]),
    ]

    static let moreKinds: [MatrixRow] = [
        good("P-521", ["p521"]), good("Ed448", ["ed448"]), good("RSA-PSS key", ["pssKey"]),
        good("RSA 3072", ["rsa3072"]),
        good("RSA with the exponent 3", ["three"]), good("intermediate RSA", ["byRSA", "rsaMiddle"]),
        good("RSA-PSS signature", ["byPSS", "rsaMiddle"]), good("intermediate P-521", ["byP521", "p521-middle"]),
        good("intermediate Ed25519", ["byEd25519", "ed25519-middle"]), good("SHA-512", ["sha512"]),
        bad("RSA 2040", ["rsa2040"], errSSLATSMinimumKeySizeViolation, others: "they count by strength, and round up"),
        bad("P-224", ["p224"], nil),
        bad("secp256k1", ["k256"], nil),
        bad("RSA-PSS signature with SHA-1", ["byPSSOfSHA1", "rsaMiddle"], errSSLATSCertificateHashAlgorithmViolation),
        bad("MD5", ["byMD5", "rsaMiddle"], errSSLATSCertificateHashAlgorithmViolation),
    ]
}
