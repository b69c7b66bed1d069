import ArgumentParser
import Causeway
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import CausewayWire

/// `nw bridge`: makes services on one link discoverable on another.
struct BridgeCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "bridge",
        abstract: "Make services of one interface discoverable on another, until interrupted.",
        discussion: """
            Hosts on <interface> discover the services of the given types that hosts on <other> advertise. The \
            command bridges names only: this host must route between the two links for connections to work. \
            Addresses that are valid only on their own link (169.254.0.0/16, fe80::/10) are not bridged, and a \
            service without any other address is skipped.

            Services that a link already has are not changed. A host name that is already taken on the other link \
            gets a number appended. Several bridges between the same links are safe: they list the bridged services \
            under the subtype _bridged, and one bridge takes over from another. At most 1000 services are bridged; \
            after the first 32, ten are added per second.

            Each line begins with + (the service is discoverable), - (it is no longer discoverable) or ! (its name \
            is already taken on that link).

            Examples:
              nw bridge eth0 eth1 --type _http._tcp
              nw bridge eth0 eth1 --type _ipp._tcp,_color --type _ipps._tcp --both
              nw bridge eth0 wlan0 --type _airplay._tcp --json
            """)

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Bridge services of this type; may be repeated.", valueName: "type"))
    var type: [String]

    @Flag(help: "Bridge in both directions.")
    var both = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Argument(help: "Interface on which the services become discoverable.", completion: .interfaces)
    var interface: String

    @Argument(help: "Interface whose hosts advertise the services.", completion: .interfaces)
    var other: String

    func validate() throws {
        guard !type.isEmpty else { throw ValidationError("Specify a service type, such as --type _http._tcp.") }
        guard interface != other else { throw ValidationError("The two interfaces must be different.") }
    }

    func run() async throws {
        try await reporting("bridge") {
            let types = try type.map(Self.serviceType)
            let (near, far) = (try link(interface), try link(other))
            System.keepMemorySmall()
            let (events, feed) = AsyncStream<LinkBridgeDriver.Event>.makeStream()
            let driver = LinkBridgeDriver(types, near: near, far: far, isBothWays: both) { feed.yield($0) }
            driver.start()
            try await untilInterrupted {
                for await event in events { try show(event) }
            } goodbye: {
                driver.stop($0)
            }
        }
    }

    private static func serviceType(_ text: String) throws -> DNSServiceType {
        do {
            return try DNSServiceType(browsing: text)
        } catch {
            throw ValidationError(error.sentence(name: "", type: text))
        }
    }

    private func link(_ name: String) throws -> NWInterface {
        guard let found = NWInterface(name: name) else {
            throw CommandFailure("no interface is named \(name); nw interfaces lists the interfaces")
        }
        return found
    }

    private func show(_ event: LinkBridgeDriver.Event) throws {
        switch event {
        case .bridged(let service, let interface): show("+", "bridged", service, interface)
        case .ended(let service, let interface): show("-", "ended", service, interface)
        case .taken(let service, let interface): show("!", "taken", service, interface)
        case .portTaken(let interface):
            throw CommandFailure(
                "another program uses UDP port 5353 on \(interface.name) exclusively: nw doctor shows which one")
        }
    }

    private func show(_ mark: String, _ event: String, _ service: LinkBridgeDriver.Service, _ on: NWInterface) {
        let object = ["event": event, "name": service.name, "type": service.type, "interface": on.name]
        printLine(json ? PrintableText(json: object) : "\(mark) \(service.name)  \(service.type) [\(on.name)]")
    }
}
