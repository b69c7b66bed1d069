/// Recipes for certificates that test edge cases of the rules.
extension MatrixRecipes {
    static let more = moreAuthorities + constrained + moreLeaves + moreKeys

    /// server.test, DER-encoded as an alternative name.
    private static let serverName = "82:0B:73:65:72:76:65:72:2E:74:65:73:74"

    private static let moreAuthorities: [Recipe] = [
        Recipe(
            id: "version1Middle", issuer: "root", key: "version1Middle", subject: "/CN=Matrix version 1", extensions: []
        ),
        .authority("oddMiddle", changing: ["1.2.3.4": "critical,DER:05:00"]),
        .authority("oddRoot", by: nil, changing: ["1.2.3.4": "critical,DER:05:00"]),
        .authority("clientRoot", by: nil, changing: ["extendedKeyUsage": "clientAuth"]),
        .authority("forCode", changing: ["extendedKeyUsage": "codeSigning"]),
        .authority("forAnything", changing: ["extendedKeyUsage": "anyExtendedKeyUsage"]),
        .authority("shortRoot", by: nil, changing: ["basicConstraints": "critical,CA:TRUE,pathlen:0"]),
        .authority("belowShortRoot", by: "shortRoot"),
        // This is the same authority with a new key. Such a certificate does not count towards the path length.
        .authority("shortAgain", by: "short", subject: "/CN=Matrix short"),
        .authority("one", changing: ["basicConstraints": "critical,CA:TRUE,pathlen:1"]),
        .authority("five", by: "one", changing: ["basicConstraints": "critical,CA:TRUE,pathlen:5"]),
        .authority("loopARoot", key: "loopA", subject: "/CN=Matrix loopA"),
        .authority("rootBefore", by: nil, key: "root", subject: "/CN=Matrix root", dates: past),
        .authority("rsaMiddle", key: "rsa2048-middle"),
        .authority("p521-middle"), .authority("ed25519-middle"),
        .authority("demanding", changing: ["policyConstraints": "critical,requireExplicitPolicy:0"]),
        .authority(
            "demandingNamed",
            changing: ["certificatePolicies": "1.2.3.4.5", "policyConstraints": "critical,requireExplicitPolicy:0"]),
        .authority("anyPolicy", changing: ["certificatePolicies": "anyPolicy", "inhibitAnyPolicy": "critical,0"]),
        .authority(
            "mapping",
            changing: [
                "certificatePolicies": "1.2.3.4.5", "policyConstraints": "critical,requireExplicitPolicy:0",
                "policyMappings": "1.2.3.4.5:1.2.3.4.6",
            ]),
        .authority(
            "afterwards",
            changing: ["certificatePolicies": "1.2.3.4.5", "policyConstraints": "critical,requireExplicitPolicy:2"]),
    ]

    private static let constrained: [Recipe] = [
        .authority("mailHere", changing: ["nameConstraints": "critical,permitted;email:server.test"]),
        .authority("uriHere", changing: ["nameConstraints": "critical,permitted;URI:server.test"]),
        .authority("uriNotBelow", changing: ["nameConstraints": "critical,excluded;URI:.evil.test"]),
        .authority("directoryHere", changing: ["nameConstraints": "critical,permitted;dirName:here\n[here]\nO=Here"]),
        .authority("directoryNot", changing: ["nameConstraints": "critical,excluded;dirName:here\n[here]\nO=Here"]),
        .authority("dotHere", changing: ["nameConstraints": "critical,permitted;DNS:.test"]),
        .authority(
            "bothLists",
            changing: ["nameConstraints": "critical,permitted;DNS:server.test,excluded;DNS:www.server.test"]),
        .authority("mild", changing: ["nameConstraints": "permitted;DNS:elsewhere.test"]),
        .authority(
            "narrower", by: "namesElsewhere", changing: ["nameConstraints": "critical,permitted;DNS:server.test"]),
        .leaf("byMailHere", by: "mailHere", names: "DNS:server.test,email:x@server.test"),
        .leaf("byMailElsewhere", by: "mailHere", names: "DNS:server.test,email:x@other.test"),
        .leaf("byURIHere", by: "uriHere", names: "DNS:server.test,URI:https://server.test/x"),
        .leaf("byURIElsewhere", by: "uriHere", names: "DNS:server.test,URI:https://other.test/"),
        .leaf("byURIAddress", by: "uriHere", names: "DNS:server.test,URI:https://127.0.0.1/"),
        .leaf("byURIBelow", by: "uriNotBelow", names: "DNS:server.test,URI:https://www.evil.test/"),
        .leaf("byDirectoryHere", by: "directoryHere", subject: "/O=Here/CN=leaf"),
        .leaf("byDirectoryElsewhere", by: "directoryHere", subject: "/O=There/CN=leaf"),
        .leaf("byDirectoryNot", by: "directoryNot", subject: "/O=HERE/CN=leaf"),
        .leaf("byDotHere", by: "dotHere"), .leaf("byBothLists", by: "bothLists"),
        .leaf("byBothListsNot", by: "bothLists", names: "DNS:server.test,DNS:www.server.test"),
        .leaf("byMild", by: "mild"), .leaf("byNarrower", by: "narrower"),
        .leaf("otherFamily", by: "addressesHere", names: "IP:127.0.0.1,IP:::1"),
        .leaf("constrainedLeaf", changing: ["nameConstraints": "critical,permitted;DNS:server.test"]),
    ]

    private static let moreLeaves: [Recipe] = [
        .leaf("mapped", names: "IP:::ffff:127.0.0.1"), .leaf("wildcardALabel", names: "DNS:xn--*.server.test"),
        .leaf("leadingDot", names: "DNS:.server.test"),
        .leaf(
            "spaced",
            changing: ["subjectAltName": "", "2.5.29.17": "DER:30:0E:82:0C:73:65:72:76:65:72:2E:74:65:73:74:20"]),
        .leaf("directory", names: "dirName:here\n[here]\nCN=server.test", subject: "/CN=server.test"),
        .leaf("fiveBytes", changing: ["subjectAltName": "", "2.5.29.17": "DER:30:07:87:05:7F:00:00:01:00"]),
        .leaf("emptyName", changing: ["subjectAltName": "", "2.5.29.17": "DER:30:0F:82:00:\(serverName)"]),
        .leaf("poison", changing: ["1.3.6.1.4.1.11129.2.4.3": "critical,DER:05:00"]),
        .leaf("agreement", changing: ["keyUsage": "critical,keyAgreement"]),
        .leaf("pathLengthLeaf", changing: ["basicConstraints": "critical,CA:FALSE,pathlen:0"]),
        .leaf("noBasicConstraints", changing: ["basicConstraints": ""]),
        .leaf("serial20", options: ["-set_serial", "0x" + String(repeating: "7f", count: 20)]),
        .leaf("forEver", dates: ("20250101000000Z", "99991231235959Z")),
        .leaf("year2051", dates: ("20250101000000Z", "20510101000000Z")),
        .leaf("year1950", dates: ("19500101000000Z", "20400101000000Z")),
        .leaf("byVersion1", by: "version1Middle", changing: ["authorityKeyIdentifier": "none"]),
        .leaf("byOddMiddle", by: "oddMiddle"), .leaf("byOddRoot", by: "oddRoot"),
        .leaf("byClientRoot", by: "clientRoot"), .leaf("byForCode", by: "forCode"),
        .leaf("byForAnything", by: "forAnything"), .leaf("byShortRoot", by: "shortRoot"),
        .leaf("byBelowShortRoot", by: "belowShortRoot"), .leaf("byShortAgain", by: "shortAgain"),
        .leaf("byFive", by: "five"), .leaf("byDemanding", by: "demanding"),
        .leaf("byDemandingNamed", by: "demandingNamed", changing: ["certificatePolicies": "1.2.3.4.5"]),
        .leaf("byDemandingOther", by: "demandingNamed", changing: ["certificatePolicies": "1.2.3.4.6"]),
        .leaf("byAnyPolicy", by: "anyPolicy", changing: ["certificatePolicies": "1.2.3.4.5"]),
        .leaf("byMapping", by: "mapping", changing: ["certificatePolicies": "1.2.3.4.6"]),
        .leaf("byMappingOld", by: "mapping", changing: ["certificatePolicies": "1.2.3.4.5"]),
        .leaf("byAfterwards", by: "afterwards"),
    ]

    private static let pss = ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest"]

    private static let moreKeys: [Recipe] = [
        .leaf("p521", key: "p521-leaf"), .leaf("p224", key: "p224-leaf"), .leaf("k256", key: "k256-leaf"),
        .leaf("ed448", key: "ed448-leaf"), .leaf("pssKey", key: "pss2048-leaf"), .leaf("rsa3072", key: "rsa3072-leaf"),
        .leaf("rsa2040", key: "rsa2040-leaf"), .leaf("three", key: "three-leaf"),
        .leaf("byRSA", by: "rsaMiddle"), .leaf("byPSS", by: "rsaMiddle", options: ["-sha256"] + pss),
        .leaf("byPSSOfSHA1", by: "rsaMiddle", options: ["-sha1"] + pss),
        .leaf("byMD5", by: "rsaMiddle", options: ["-md5"]),
        .leaf("byP521", by: "p521-middle", options: ["-sha512"]), .leaf("byEd25519", by: "ed25519-middle"),
        .leaf("sha512", options: ["-sha512"]),
    ]
}
