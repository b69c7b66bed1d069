import ArgumentParser
import Causeway

/// `nw lookup`: where a service is now.
struct LookupCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "lookup",
        abstract: "Connect to a service by its name, and say where it is.",
        discussion: """
            Examples:
              nw lookup "My page" _http._tcp
              nw lookup Printer _ipp._tcp -w 3
            """)

    @Option(
        name: [.customShort("w", allowingJoined: true)],
        help: ArgumentHelp("Give up after this time.", valueName: "seconds"))
    var timeout = 10.0

    @Argument(help: "The service's name.")
    var name: String

    @Argument(help: "Its type, such as _http._tcp.")
    var type: String

    func validate() throws {
        guard timeout > 0, timeout <= 1_000_000 else { throw ValidationError("-w needs a positive number.") }
    }

    func run() async throws {
        try await reporting("lookup") {
            let service = NWEndpoint.service(name: name, type: type, domain: "local.", interface: nil)
            let isDatagram = type.contains("._udp")
            let connection = NWConnection(to: service, using: isDatagram ? .udp : makeTCPParameters())
            defer { connection.cancel() }
            try await connection.connect(within: .seconds(timeout))
            printLine("\(connection.currentPath?.remoteEndpoint?.label ?? connection.endpoint.label)")
        }
    }
}
