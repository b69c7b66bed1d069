import ArgumentParser
import Causeway
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import CausewayWire

/// `nw bridge`: makes services of one link discoverable on another.
struct BridgeCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "bridge",
        abstract: "Let hosts on one interface find services of another, until interrupted.",
        discussion: """
            Hosts on the first interface find the services that the second one's hosts have, of the types that are named, and of no \
            others. It only makes them known: this host must route between the links for anybody to reach them. Addresses that mean \
            nothing beyond their link (169.254.0.0/16, fe80::/10) do not cross, and a service that has no others is left out.

            What either link has already is left alone. A host whose name somebody on the first link has gets a number behind it. \
            Several of these between the same links do no harm: they list what they make known under the subtype _bridged, and one \
            takes over from another. At most 1000 services cross, ten a second after the first 32.

            Each line begins with + for a service that can be found now, - for one that cannot any more, ! for one whose name somebody \
            there has.

            Examples:
              nw bridge eth0 eth1 --type _http._tcp
              nw bridge eth0 eth1 --type _ipp._tcp,_color --type _ipps._tcp --both
              nw bridge eth0 wlan0 --type _airplay._tcp --json
            """)

    @Option(
        name: .shortAndLong, help: ArgumentHelp("A type of services that crosses; again for more.", valueName: "type"))
    var type: [String]

    @Flag(help: "Let the second interface's hosts find the first one's services as well.")
    var both = false

    @Flag(help: "One JSON object a line.")
    var json = false

    @Argument(help: "The interface whose hosts look for services.")
    var interface: String

    @Argument(help: "The interface whose hosts have them.")
    var other: String

    func validate() throws {
        guard !type.isEmpty else { throw ValidationError("Name what crosses, such as --type _http._tcp.") }
        guard interface != other else { throw ValidationError("It takes two interfaces.") }
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
        guard let found = NWInterface(name: name) else { throw CommandFailure("no interface \(name)") }
        return found
    }

    private func show(_ event: LinkBridgeDriver.Event) throws {
        switch event {
        case .bridged(let service, let interface): show("+", "bridged", service, interface)
        case .ended(let service, let interface): show("-", "ended", service, interface)
        case .taken(let service, let interface): show("!", "taken", service, interface)
        case .portTaken(let interface):
            throw CommandFailure("another program has port 5353 of \(interface.name) for itself: nw doctor tells which")
        }
    }

    private func show(_ mark: String, _ event: String, _ service: LinkBridgeDriver.Service, _ on: NWInterface) {
        let object = ["event": event, "name": service.name, "type": service.type, "interface": on.name]
        printLine(json ? PrintableText(json: object) : "\(mark) \(service.name)  \(service.type) [\(on.name)]")
    }
}
