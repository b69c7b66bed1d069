import ArgumentParser
import CausewaySystem

/// `nw interfaces`: lists the host's interfaces, gateways and DNS servers.
struct InterfacesCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "interfaces",
        abstract: "List network interfaces with their addresses, default gateways and DNS servers.",
        discussion: """
            Examples:
              nw interfaces
              nw interfaces --json
            """)

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    func run() async throws {
        try await reporting("interfaces") {
            let snapshot: NetworkSnapshot
            do {
                snapshot = try NetworkSnapshot.current()
            } catch {
                throw CommandFailure("cannot list network interfaces: \(error)")
            }
            let listing = InterfaceListing(snapshot)
            printLine(json ? listing.json() : listing.text())
        }
    }
}
