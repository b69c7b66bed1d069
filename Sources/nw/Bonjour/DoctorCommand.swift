import ArgumentParser
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import FoundationEssentials

/// `nw doctor`: checks whether this host can find and register services, and reports problems.
struct DoctorCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check whether Bonjour works on this host, and suggest fixes.",
        discussion: """
            Checks the network interfaces, the programs that use UDP port 5353, the firewalls, and the answers to a \
            multicast DNS query. Changes nothing. Exits with code 1 if a problem prevents Bonjour from working.

            Examples:
              nw doctor
              sudo nw doctor --json       as root, also names other users' programs
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("Listen for SECONDS.", valueName: "seconds"))
    var time = 2.0

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    func validate() throws {
        guard time > 0, time <= 1_000_000 else {
            throw ValidationError("--time must be more than 0 and at most 1000000 seconds.")
        }
    }

    func run() async throws {
        try await reporting("doctor") {
            var diagnosis = BonjourDiagnosis()
            try diagnosis.checkInterfaces()
            // Inspect the port for multicast DNS before this process opens it.
            diagnosis.checkPort()
            diagnosis.checkFirewalls()
            if !diagnosis.interfaces.isEmpty { await diagnosis.listen(for: .seconds(time)) }
            printLine(json ? diagnosis.json() : diagnosis.text)
            if diagnosis.findings.contains(where: { $0.isObstacle }) { throw ExitCode.failure }
        }
    }
}

/// The results of the Bonjour check: information about the host, and the problems found with advice for each.
struct BonjourDiagnosis: Encodable {
    struct Finding: Encodable {
        /// Whether the problem prevents this host from finding or registering services.
        var isObstacle: Bool
        var what: String
        var remedy: String?
    }

    var interfaces: [String] = []
    var portHolders: [PortHolders.Holder] = []
    var daemons: [String] = []
    var serviceTypes: [String] = []
    var findings: [Finding] = []

    /// Programs that answer multicast DNS queries for the host.
    private static let knownDaemons = ["avahi-daemon", "systemd-resolve", "mdnsd"]

    mutating func checkInterfaces() throws {
        let snapshot: NetworkSnapshot
        do {
            snapshot = try NetworkSnapshot.current()
        } catch {
            throw CommandFailure("cannot list network interfaces: \(error)")
        }
        let usable = snapshot.multicastInterfaces
        interfaces = usable.map(\.interface.name)
        if usable.isEmpty {
            note(
                true, "no interface is up, has an address and supports multicast",
                "list the interfaces with: nw interfaces")
        } else if usable.allSatisfy(\.isLoopback) {
            note(false, "this host has no network: only its own services are found", nil)
        }
        for facts in snapshot.interfaces where facts.isUp && !facts.isLoopback && !facts.supportsMulticast {
            note(
                false, "multicast is disabled on \(facts.interface.name)",
                "enable it with: ip link set \(facts.interface.name) multicast on")
        }
    }

    mutating func checkPort() {
        portHolders = PortHolders.udp(5_353)
        let running = PortHolders.runningCommands()
        daemons = Self.knownDaemons.filter { running.contains($0) }
        guard !portHolders.isEmpty else { return }
        let names = portHolders.map { $0.command ?? "a program of user \($0.user)" }
        if PortHolders.isTaken(5_353) {
            note(
                true, "UDP port 5353 is used exclusively by \(Set(names).sorted().joined(separator: ", "))",
                "stop it, or configure it to share the port (SO_REUSEADDR): until then services can be found but not registered"
            )
            return
        }
        note(
            false, "UDP port 5353 is shared with \(Set(names).sorted().joined(separator: ", "))",
            "no action needed: each sees the services of the other; unicast responses are not requested")
        if portHolders.contains(where: { $0.command == "systemd-resolve" }), daemons.contains("avahi-daemon") {
            note(
                false, "systemd-resolved and Avahi both answer multicast DNS queries for this host",
                "set MulticastDNS=no in /etc/systemd/resolved.conf, so that only Avahi answers")
        }
    }

    mutating func checkFirewalls() {
        let running = PortHolders.runningCommands()
        if PortHolders.read("/etc/ufw/ufw.conf").contains("ENABLED=yes") {
            note(false, "the firewall ufw is enabled", "if no service is found, run: ufw allow 5353/udp")
        }
        if running.contains("firewalld") {
            note(
                false, "the firewall firewalld is running",
                "if no service is found, run: firewall-cmd --add-service=mdns")
        }
        if PortHolders.read("/proc/net/ip_tables_names").contains("filter") {
            note(
                false, "iptables filters packets",
                "if no service is found, run: iptables -I INPUT -p udp --dport 5353 -j ACCEPT; and the same with ip6tables"
            )
        }
    }

    mutating func listen(for time: Duration) async {
        guard let watch = try? RecordWatch(name: "_services._dns-sd._udp.local", type: "PTR") else { return }
        var types: Set<String> = []
        for await case .added(let record) in watch.events(for: time) { types.insert(record.content) }
        serviceTypes = types.sorted()
        if serviceTypes.isEmpty {
            note(
                false, "no host answered the query for service types",
                "if other hosts have services, check for a firewall, or for a Wi-Fi network with client isolation")
        }
    }

    private mutating func note(_ isObstacle: Bool, _ what: String, _ remedy: String?) {
        findings.append(Finding(isObstacle: isObstacle, what: what, remedy: remedy))
    }

    func json() -> PrintableText {
        PrintableText(json: self, isIndented: true)
    }

    var text: PrintableText {
        var lines = ["interfaces: " + (interfaces.isEmpty ? "none" : interfaces.joined(separator: " "))]
        let holders = portHolders.map { holder in
            guard let process = holder.process else { return "user \(holder.user)" }
            return "\(holder.command ?? "?") (\(process))"
        }
        lines.append("port 5353: " + (holders.isEmpty ? "free" : holders.joined(separator: ", ")))
        lines.append("daemons: " + (daemons.isEmpty ? "none" : daemons.joined(separator: " ")))
        lines.append("service types found: \(serviceTypes.count)")
        for finding in findings {
            lines.append((finding.isObstacle ? "! " : "- ") + finding.what)
            if let remedy = finding.remedy { lines.append("    \(remedy)") }
        }
        if !findings.contains(where: \.isObstacle) { lines.append("Bonjour works on this host: no problem was found.") }
        return PrintableText(lines: lines)
    }
}
