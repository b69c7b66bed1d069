import ArgumentParser
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import FoundationEssentials

/// `nw doctor`: checks whether this host can find and register services, and reports problems.
struct DoctorCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "doctor",
        abstract: "Say whether Bonjour works on this host, and what to do where it does not.",
        discussion: """
            Looks at the interfaces, at who else has port 5353, at firewalls and at what can be heard. Changes nothing. \
            Fails if something stands in the way.

            Examples:
              nw doctor
              sudo nw doctor --json       as root, the names of other users' programs are shown as well
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("Listen for this time.", valueName: "seconds"))
    var time = 2.0

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    func validate() throws {
        guard time > 0, time <= 1_000_000 else { throw ValidationError("--time needs a positive number.") }
    }

    func run() async throws {
        try await reporting("doctor") {
            var diagnosis = BonjourDiagnosis()
            try diagnosis.lookAtInterfaces()
            // Inspect the port before this process opens it.
            diagnosis.lookAtPort()
            diagnosis.lookAtFirewalls()
            if !diagnosis.interfaces.isEmpty { await diagnosis.listen(for: .seconds(time)) }
            printLine(json ? diagnosis.json() : diagnosis.text)
            if diagnosis.findings.contains(where: { $0.isObstacle }) { throw ExitCode.failure }
        }
    }
}

/// The results of the checks: facts about the host, and findings with advice.
struct BonjourDiagnosis: Encodable {
    struct Finding: Encodable {
        /// Whether this finding prevents finding or registering services.
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

    mutating func lookAtInterfaces() throws {
        let snapshot: NetworkSnapshot
        do {
            snapshot = try NetworkSnapshot.current()
        } catch {
            throw CommandFailure("the kernel does not tell of its interfaces: \(error)")
        }
        let usable = snapshot.multicastInterfaces
        interfaces = usable.map(\.interface.name)
        if usable.isEmpty {
            note(true, "no interface is up, has an address and can multicast", "nw interfaces shows which there are")
        } else if usable.allSatisfy(\.isLoopback) {
            note(false, "there is no network: services are found on this host only", nil)
        }
        for facts in snapshot.interfaces where facts.isUp && !facts.isLoopback && !facts.supportsMulticast {
            note(
                false, "\(facts.interface.name) does not multicast", "ip link set \(facts.interface.name) multicast on")
        }
    }

    mutating func lookAtPort() {
        portHolders = PortHolders.udp(5_353)
        let running = PortHolders.runningCommands()
        daemons = Self.knownDaemons.filter { running.contains($0) }
        guard !portHolders.isEmpty else { return }
        let names = portHolders.map { $0.command ?? "a program of user \($0.user)" }
        if PortHolders.isTaken(5_353) {
            note(
                true, "\(Set(names).sorted().joined(separator: ", ")) has UDP port 5353 for itself",
                "end it, or have it share the port (SO_REUSEADDR): until then services are found, and none can be offered"
            )
            return
        }
        note(
            false, "UDP port 5353 is shared with \(Set(names).sorted().joined(separator: ", "))",
            "nothing: services of both are seen by both; answers by unicast are not asked for")
        if portHolders.contains(where: { $0.command == "systemd-resolve" }), daemons.contains("avahi-daemon") {
            note(
                false, "systemd-resolved and Avahi both answer for this host",
                "MulticastDNS=no in /etc/systemd/resolved.conf leaves it to one of them")
        }
    }

    mutating func lookAtFirewalls() {
        let running = PortHolders.runningCommands()
        if PortHolders.read("/etc/ufw/ufw.conf").contains("ENABLED=yes") {
            note(false, "the firewall ufw is on", "if nothing is found: ufw allow 5353/udp")
        }
        if running.contains("firewalld") {
            note(false, "the firewall firewalld runs", "if nothing is found: firewall-cmd --add-service=mdns")
        }
        if PortHolders.read("/proc/net/ip_tables_names").contains("filter") {
            note(
                false, "iptables filters packets",
                "if nothing is found: iptables -I INPUT -p udp --dport 5353 -j ACCEPT, and ip6tables likewise")
        }
    }

    mutating func listen(for time: Duration) async {
        guard let watch = try? RecordWatch(name: "_services._dns-sd._udp.local", type: "PTR") else { return }
        var types: Set<String> = []
        for await case .added(let record) in watch.events(for: time) { types.insert(record.content) }
        serviceTypes = types.sorted()
        if serviceTypes.isEmpty {
            note(
                false, "nobody answered the question for all types of services",
                "if others have services, look for a firewall, or for a Wi-Fi that keeps its clients apart")
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
        lines.append("heard: \(serviceTypes.count) types of services")
        for finding in findings {
            lines.append((finding.isObstacle ? "! " : "- ") + finding.what)
            if let remedy = finding.remedy { lines.append("    \(remedy)") }
        }
        if !findings.contains(where: \.isObstacle) { lines.append("Bonjour works here, as far as can be seen.") }
        return PrintableText(lines: lines)
    }
}
