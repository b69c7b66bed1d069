import ArgumentParser

/// Options that users know from ping, tcpdump, nmap and netcat. This tool accepts them, although its behaviour is
/// already as requested.
struct NumericOption: ParsableArguments {
    @Flag(
        name: .customShort("n"), help: ArgumentHelp("Accepted without effect: addresses and ports are always numeric."))
    var isNumeric: Int
}

struct LineBufferingOptions: ParsableArguments {
    @Flag(
        name: [.customShort("l"), .customShort("U")],
        help: "Accepted without effect: packets are always printed immediately.")
    var isUnbuffered: Int
}
