import ArgumentParser

/// Options of ping, tcpdump, nmap and netcat that request the default behaviour of this tool.
struct NumericOption: ParsableArguments {
    @Flag(name: .customShort("n"), help: ArgumentHelp("Accepted: addresses and ports are never turned into names."))
    var isNumeric: Int
}

struct LineBufferingOptions: ParsableArguments {
    @Flag(
        name: [.customShort("l"), .customShort("U")],
        help: "Accepted: packets are shown as soon as they are captured.")
    var isUnbuffered: Int
}
