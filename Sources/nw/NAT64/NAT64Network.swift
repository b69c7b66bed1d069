import Causeway
import CausewaySystem
import FoundationEssentials

/// A network without IPv4, in a network namespace. All methods block the calling thread.
///
/// The router of this network has a NAT64 translator (RFC 6146) and a DNS64 name server (RFC 6147). The name server
/// converts IPv4 addresses to IPv6 addresses.
///
/// The router runs in a second namespace that is connected to this host. It answers ARP requests for the translator's
/// addresses, so this host needs no route to them.
final class NAT64Network {
    static let prefix = "2001:db8:64::"
    static let nameServer = "2001:db8:64:1::1"
    private static let client = "2001:db8:64:1::2"
    /// Addresses reserved for network tests (RFC 2544 §C.2.2): this host, the router, and translated connections.
    static let host = "198.18.64.1"
    private static let (router, translator, pool) = ("198.18.64.2", "198.18.64.129", "198.18.64.128/25")
    static let hostName = "host.test"

    /// The name of the client's network namespace.
    let name: String
    private let addresses: [NAT64Address]
    /// The DNS servers for names that are not in `addresses`; empty if the network has no route to other networks.
    private let upstream: [String]
    private let folder: String
    private var isMade = false
    private var servers: [ChildProgram] = []
    private var undo: [[String]] = []

    private var routerName: String { "\(name)-router" }
    /// The name of this host's network interface to the router. Interface names have at most 15 bytes.
    private var link: String { "n64-\(getpid())" }
    private var settings: String { "/etc/netns/\(name)" }

    /// - Parameter upstream: The DNS servers for names that are not in `addresses`. If there are any, the network can
    ///   also reach other networks through this host.
    init(_ name: String, _ addresses: [NAT64Address], upstream: [String]) throws {
        self.name = name
        self.addresses = addresses
        self.upstream = upstream
        folder = try DirectoryEntries.makeTemporaryDirectory(named: "nw-nat64")
    }

    /// Creates the NAT64 network. If this fails, call ``remove()``.
    func make() throws {
        guard !DirectoryEntries.exists("/run/netns/\(name)"), !DirectoryEntries.exists(settings) else {
            throw CommandFailure(
                "\(name) exists already: choose another --name, or remove it with: ip netns delete \(name)")
        }
        isMade = true
        for step in Self.steps(client: name, router: routerName, link: link) { try Self.run(step) }
        if !upstream.isEmpty { try share() }
        try write(resolution: "nameserver \(Self.nameServer)\n")
        try startTranslator()
        try startNameServer()
    }

    static func steps(client: String, router: String, link: String) -> [[String]] {
        let inRouter = ["ip", "netns", "exec", router]
        return [
            ["ip", "netns", "add", client], ["ip", "netns", "add", router],
            ["ip", "-n", client, "link", "set", "lo", "up"], ["ip", "-n", router, "link", "set", "lo", "up"],
            ["ip", "-n", client, "link", "add", "eth0", "type", "veth", "peer", "name", "inner", "netns", router],
            ["ip", "link", "add", link, "type", "veth", "peer", "name", "outer", "netns", router],
            // The client has no IPv4 address, not even on its loopback interface.
            ["ip", "-n", client, "address", "flush", "dev", "lo", "scope", "host"],
            ["ip", "-n", client, "address", "add", "::1/128", "dev", "lo"],
            ["ip", "-n", client, "address", "add", "\(Self.client)/64", "dev", "eth0", "nodad"],
            ["ip", "-n", router, "address", "add", "\(nameServer)/64", "dev", "inner", "nodad"],
            ["ip", "-n", router, "address", "add", "\(Self.router)/24", "dev", "outer"],
            ["ip", "address", "add", "\(host)/24", "dev", link],
            ["ip", "-n", client, "link", "set", "eth0", "up"], ["ip", "-n", router, "link", "set", "inner", "up"],
            ["ip", "-n", router, "link", "set", "outer", "up"], ["ip", "link", "set", link, "up"],
            ["ip", "-n", client, "-6", "route", "add", "default", "via", nameServer],
            ["ip", "-n", router, "route", "add", "default", "via", host],
            inRouter + ["sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"],
            inRouter + ["sysctl", "-qw", "net.ipv4.conf.outer.proxy_arp=1"],
        ]
    }

    // MARK: Servers

    private func startTranslator() throws {
        let configuration = "\(folder)/tayga.conf"
        try Self.write(
            """
            tun-device nat64
            ipv4-addr \(Self.translator)
            prefix \(Self.prefix)/96
            dynamic-pool \(Self.pool)
            data-dir \(folder)

            """, to: configuration)
        let tayga = try Self.path("tayga")
        try inRouter([tayga, "-c", configuration, "--mktun"])
        for step in [
            ["link", "set", "nat64", "up"], ["route", "add", Self.pool, "dev", "nat64"],
            ["-6", "route", "add", "\(Self.prefix)/96", "dev", "nat64"],
        ] { try Self.run(["ip", "-n", routerName] + step) }
        try serve([tayga, "-c", configuration, "--nodetach"])
    }

    private func startNameServer() throws {
        let zones = try ([NAT64Address(name: Self.hostName, address: Self.host)] + addresses).map { entry in
            try zone(entry.name, ["@ A \(entry.address)"])
        }
        // Clients look up this name to discover the prefix of the NAT64 translator (RFC 7050 §3).
        let known = try zone("ipv4only.arpa", ["@ A 192.0.0.170", "@ A 192.0.0.171"])
        let others =
            upstream.isEmpty
            ? "    local-zone: \"test.\" transparent\n"
            : "    local-zone: \"test.\" transparent\nforward-zone:\n    name: \".\"\n"
                + upstream.map { "    forward-addr: \($0)\n" }.joined()
        let text = """
            server:
                interface: \(Self.nameServer)
                access-control: ::0/0 allow
                do-daemonize: no
                use-syslog: no
                chroot: ""
                username: ""
                directory: "\(folder)"
                pidfile: ""
                module-config: "dns64 iterator"
                dns64-prefix: \(Self.prefix)/96
            \(others)\(zones.joined())\(known)remote-control:
                control-enable: no

            """
        try Self.write(text, to: "\(folder)/unbound.conf")
        try serve([try Self.path("unbound"), "-d", "-c", "\(folder)/unbound.conf"])
    }

    /// Writes a DNS zone file, and returns the configuration entry for the zone.
    private func zone(_ name: String, _ records: [String]) throws -> String {
        let file = "\(folder)/\(name).zone"
        let head =
            "$ORIGIN \(name).\n$TTL 60\n@ SOA ns.\(name). a.\(name). 1 2 3 4 5\n@ NS ns.\(name).\nns AAAA \(Self.nameServer)\n"
        try Self.write(head + records.map { $0 + "\n" }.joined(), to: file)
        return "auth-zone:\n    name: \"\(name).\"\n    zonefile: \"\(file)\"\n    for-downstream: no\n"
    }

    private func serve(_ words: [String]) throws {
        let log = try OpenFile(storingAt: "\(folder)/log", keeping: nil, followsLinks: false)
        let words = ["netns", "exec", routerName] + words
        do { servers.append(try ChildProgram("ip", words, output: log.descriptor)) } catch {
            throw CommandFailure("cannot start \(words[3])", error)
        }
    }

    // MARK: The way out

    /// Lets the network reach other networks through this host.
    private func share() throws {
        let path = "/proc/sys/net/ipv4/ip_forward"
        let before = (try? OpenFile(reading: path).readChunk(atMost: 8)).map {
            String(decoding: $0, as: UTF8.self)
        }
        if before?.hasPrefix("0") == true {
            try Self.run(["sysctl", "-qw", "net.ipv4.ip_forward=1"])
            undo.append(["sysctl", "-qw", "net.ipv4.ip_forward=0"])
        }
        let table = "nw-nat64-\(getpid())"
        undo.append(["nft", "delete", "table", "ip", table])
        try Self.run([
            "nft",
            "add table ip \(table); add chain ip \(table) out { type nat hook postrouting priority srcnat; }; "
                + "add rule ip \(table) out iifname \"\(link)\" oifname != \"\(link)\" masquerade",
        ])
    }

    /// Writes the resolver settings that `ip netns exec` gives programs in the namespace.
    private func write(resolution text: String) throws {
        for path in ["/etc/netns", settings] where mkdir(path, 0o755) != 0 && errno != EEXIST {
            throw CommandFailure("cannot create \(path)", NWError(errno: errno))
        }
        try Self.write(text, to: "\(settings)/resolv.conf")
        try Self.write("hosts: files dns\n", to: "\(settings)/nsswitch.conf")
    }

    // MARK: Programs

    /// Starts a program in the network.
    func start(_ words: [String]) throws -> ChildProgram {
        try ChildProgram("ip", ["netns", "exec", name] + words, readsInput: true)
    }

    private func inRouter(_ words: [String]) throws { try Self.run(["ip", "netns", "exec", routerName] + words) }

    private static func run(_ words: [String]) throws {
        let path = try DirectoryEntries.makeTemporaryDirectory(named: "nw-nat64-log")
        defer {
            try? DirectoryEntries.removeFile("\(path)/log")
            try? DirectoryEntries.removeDirectory(path)
        }
        let log = try OpenFile(creating: "\(path)/log")
        let child: ChildProgram
        do { child = try ChildProgram(words[0], Array(words.dropFirst()), output: log.descriptor) } catch {
            throw CommandFailure("cannot start \(words[0])", error)
        }
        guard child.wait() != 0 else { return }
        let errors = (try? OpenFile(reading: "\(path)/log").readChunk(atMost: 4_096)) ?? Data()
        let reason = String(decoding: errors, as: UTF8.self).split(separator: "\n").last.map(String.init)
        throw CommandFailure("\(words.joined(separator: " ")) failed: \(reason ?? "no reason given")")
    }

    /// - Throws: ``CommandFailure`` if the program is not installed.
    static func path(_ program: String) throws -> String {
        guard let path = Tool.path(program) else {
            throw CommandFailure("\(program) is not installed: apt install \(program == "ip" ? "iproute2" : program)")
        }
        return path
    }

    private static func write(_ text: String, to path: String) throws {
        do { try OpenFile(storingAt: path, keeping: nil, followsLinks: false).writeAll(Data(text.utf8)) } catch {
            throw CommandFailure("cannot write \(path)", error)
        }
    }

    /// Ends the servers, and removes everything that ``make()`` has created.
    func remove() {
        for server in servers {
            server.end()
            _ = server.wait()
        }
        servers = []
        for step in undo.reversed() { try? Self.run(step) }
        undo = []
        if isMade {
            try? Self.run(["ip", "netns", "delete", name])
            try? Self.run(["ip", "netns", "delete", routerName])
            try? Self.run(["ip", "link", "delete", link])
            for file in ["resolv.conf", "nsswitch.conf"] { try? DirectoryEntries.removeFile("\(settings)/\(file)") }
            try? DirectoryEntries.removeDirectory(settings)
        }
        for file in (try? DirectoryEntries.names(in: folder, beginningWith: "")) ?? [] {
            try? DirectoryEntries.removeFile("\(folder)/\(file)")
        }
        try? DirectoryEntries.removeDirectory(folder)
    }
}
