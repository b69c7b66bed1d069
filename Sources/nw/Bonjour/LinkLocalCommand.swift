import ArgumentParser
import Causeway
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// `nw linklocal`: assigns an IPv4 link-local address to an interface (RFC 3927).
struct LinkLocalCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "linklocal",
        abstract: "Configure an IPv4 link-local address on an interface, until interrupted.",
        discussion: """
            The address is in 169.254.0.0/16 (RFC 3927). The command probes for conflicts, defends the address, \
            replaces it if a conflict persists, and removes it at the end. While the interface has a routable \
            address, no link-local address is added; an existing one is kept for the connections that use it.

            Requires capabilities. To run without root, run once: setcap cap_net_raw,cap_net_admin=ep /path/to/nw

            Examples:
              nw linklocal eth0
              nw linklocal eth0 --remember eth0.addr   the same address next time
            """)

    @Argument(help: "Interface to configure.", completion: .interfaces)
    var interface: String

    @Option(
        help: ArgumentHelp("Start with the address in FILE, and store the current address there.", valueName: "file"))
    var remember: String?

    @Flag(help: "Print one JSON object per event.")
    var json = false

    @Option(
        name: .customLong("try"), help: ArgumentHelp("Start with this address in 169.254.0.0/16.", valueName: "address")
    )
    var first: String?

    func validate() throws {
        guard first.map({ IPv4Address($0)?.isLinkLocal == true }) ?? true else {
            throw ValidationError("The value of --try must be an address in 169.254.0.0/16.")
        }
    }

    func run() async throws {
        try await reporting("linklocal") {
            let facts = try facts()
            let link = LinkAddress(facts.link.hardwareAddress)
            guard let link, link.bits != 0, !facts.isLoopback else {
                throw CommandFailure("\(interface) is not an Ethernet interface: ARP is not available")
            }
            let (events, feed) = AsyncStream<LinkLocalDriver.Event>.makeStream()
            let driver: LinkLocalDriver
            let first = remembered(facts)
            do throws(SystemError) {
                driver = try LinkLocalDriver(facts.interface, link, remembered: first) { feed.yield($0) }
            } catch {
                throw explain(error)
            }
            driver.start()
            try await untilInterrupted {
                for await event in events { try show(event) }
            } goodbye: {
                driver.stop($0)
            }
        }
    }

    private func facts() throws -> NetworkSnapshot.Interface {
        let snapshot: NetworkSnapshot
        do {
            snapshot = try NetworkSnapshot.current()
        } catch {
            throw CommandFailure("cannot list network interfaces: \(error)")
        }
        guard let facts = snapshot.interfaces.first(where: { $0.interface.name == interface }) else {
            throw CommandFailure("no interface is named \(interface); nw interfaces lists the interfaces")
        }
        return facts
    }

    /// Returns the first address to try.
    ///
    /// This is the address from the command line, the address that an earlier run stored in the file, or a link-local
    /// address that the interface already has.
    private func remembered(_ facts: NetworkSnapshot.Interface) -> IPv4Address? {
        if let first { return IPv4Address(first) }
        if let remember, let bytes = try? Data(contentsOf: URL(fileURLWithPath: remember)),
            let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first,
            let address = IPv4Address(String(line))
        {
            return address
        }
        for own in facts.addresses {
            if case .ipv4(let address) = own.address, address.isLinkLocal { return address }
        }
        return nil
    }

    /// An event as a JSON object, such as an address conflict.
    private struct Report: Encodable {
        var event: String
        var interface: String
        var address: String?
        /// The conflicting host's MAC address.
        var other: String?
    }

    private func show(_ event: LinkLocalDriver.Event) throws {
        guard json else { return try showText(event) }
        func tell(_ event: String, _ address: IPv4Address? = nil, _ other: String? = nil) {
            printLine(
                PrintableText(
                    json: Report(event: event, interface: interface, address: address.map { "\($0)" }, other: other)))
        }
        switch event {
        case .waiting(.link): tell("waiting")
        case .waiting(.nothing): tell("idle")
        case .probing(let address): tell("probing", address)
        case .conflicted(let address, let other): tell("conflict", address, "\(other)")
        case .assigned(let address):
            try keep(address)
            tell("assigned", address)
        case .lost(let address, let other): tell("lost", address, "\(other)")
        case .released(let address): tell("released", address)
        case .preferred(let address, let isPreferred): tell(isPreferred ? "preferred" : "deprecated", address)
        case .failed(let error): throw explain(error)
        }
    }

    private func showText(_ event: LinkLocalDriver.Event) throws {
        switch event {
        case .waiting(.link): printLine("waiting for the link")
        case .waiting(.nothing): printLine("idle: \(interface) has a routable address")
        case .probing(let address): printLine("probing for \(address)")
        case .conflicted(let address, let other): printLine("\(address) is already used by \(other)")
        case .assigned(let address):
            try keep(address)
            printLine("\(interface) has \(address)")
        case .lost(let address, let other): printLine("\(address) lost: \(other) uses it too")
        case .released(let address): printLine("\(address) released")
        case .preferred(let address, let isPreferred):
            printLine(
                isPreferred
                    ? "\(address) is preferred again"
                    : "\(address) is deprecated: new connections use a routable address")
        case .failed(let error): throw explain(error)
        }
    }

    private func keep(_ address: IPv4Address) throws {
        guard let remember else { return }
        do {
            try Data("\(address)\n".utf8).write(to: URL(fileURLWithPath: remember), options: .atomic)
        } catch {
            throw CommandFailure("cannot write \(remember): \(describe(error))")
        }
    }

    private func explain(_ error: SystemError) -> CommandFailure {
        guard error.errno == Errno.notPermitted else {
            return CommandFailure("\(error.call)", NWError(errno: error.errno))
        }
        return CommandFailure(
            """
            setting an address requires capabilities: run as root, or run once: \
            setcap cap_net_raw,cap_net_admin=ep \(CommandLine.arguments.first ?? "nw")
            """)
    }
}
