import Testing

/// A scenario for mobility tests: a network change, and the events that programs must receive because of it.
struct MobilityScenario: Sendable, CustomTestStringConvertible {
    /// The events of a path monitor and of a connection.
    struct Events: Sendable {
        var monitor: [String] = []
        var connection: [String] = []
    }

    struct Step: Sendable {
        /// The commands that ip(8) runs on the client.
        var client: [String] = []
        var server: [String] = []
        var expected = Events()

        /// Whether the change happens in one step, so that programs cannot see a state in between.
        var isOneChange: Bool { client.count + server.count <= 1 }
    }

    var name: String
    var before: [String] = []
    var host = "10.77.9.9"
    var port = 7_000
    /// Command-line options for the connection, and for the path monitor.
    var demands: [String] = []
    var monitor: [String] = []
    var first: Events
    var steps: [Step]
    var testDescription: String { name }

    init(
        _ name: String, before: [String] = [], to host: String = "10.77.9.9", port: Int = 7_000,
        demands: [String] = [],
        monitor: [String] = [], first: Events = .ready, _ steps: Step...
    ) {
        self.name = name
        (self.before, self.host, self.port, self.demands, self.monitor) = (before, host, port, demands, monitor)
        (self.first, self.steps) = (first, steps)
    }
}

extension MobilityScenario.Events {
    static func both(_ monitor: [String], _ connection: [String]) -> Self {
        Self(monitor: monitor, connection: connection)
    }

    /// Returns the expected events for a connection that uses one interface while both networks work.
    static func opened(_ path: String = "path wifi0,cell0 46", over interface: String = "wifi0") -> Self {
        both([path], ["state preparing", "state ready", "path \(interface)", "viable true"])
    }

    static let ready = opened()
    static let nothing = Self()

    /// Returns the events that are expected when a network without a default route appears. The connection cannot use
    /// such a network.
    static func idle(_ interface: String) -> Self { both(["path none \(interface)"], []) }

    /// The expected events when the connection loses its network while another network is available.
    static let moveAway = both(["path cell0 46$"], ["path none", "viable false", "better true"])
    /// The expected events when the connection's network is available again.
    static let comeBack = both(["path wifi0,cell0 46"], ["path wifi0", "viable true", "better false"])
}

extension MobilityScenario.Step {
    /// Returns a test step that runs a command on the client host, and then expects the given events.
    static func on(client words: String..., then expected: MobilityScenario.Events) -> Self {
        Self(client: words, expected: expected)
    }

    static func on(server words: String..., then expected: MobilityScenario.Events) -> Self {
        Self(server: words, expected: expected)
    }
}

/// Commands that several scenarios use.
private enum Words {
    static let wifiDown = "link set wifi0 down"
    static let cellDown = "link set cell0 down"
    static let wifiRoute = "route add default via 10.77.1.1 dev wifi0 metric 100"
    static let wifiRoute6 = "-6 route add default via fd77:1::1 dev wifi0 metric 100"
    static let allDefaults = [
        "route del default dev wifi0", "route del default dev cell0", "-6 route del default dev wifi0",
        "-6 route del default dev cell0",
    ]
    static let noIPv4 = ["addr flush dev wifi0 scope global", "addr flush dev cell0 scope global"]
}

extension MobilityScenario {
    static let all = links + addresses + routes + waiting + demands + tunnels + floods

    private static let links: [Self] = [
        .init("the better link is switched off", .on(client: Words.wifiDown, then: .moveAway)),
        .init(
            "it is switched on again, without routes: it is not usable", .on(client: Words.wifiDown, then: .moveAway),
            .on(client: "link set wifi0 up", then: .nothing),
            .on(
                client: Words.wifiRoute,
                then: .both(["path wifi0,cell0 46"], ["path wifi0", "viable true", "better false"]))),
        .init(
            "the better link loses its carrier and gets it back",
            .on(server: "link set to-wifi0 down", then: .moveAway),
            .on(server: "link set to-wifi0 up", then: .comeBack)),
        .init("the other link is switched off", .on(client: Words.cellDown, then: .both(["path wifi0 46"], []))),
        .init(
            "both are switched off, the better one first", .on(client: Words.wifiDown, then: .moveAway),
            .on(client: Words.cellDown, then: .both(["path none"], ["better false"]))),
        .init(
            "both are switched off, the other one first",
            .on(client: Words.cellDown, then: .both(["path wifi0 46"], [])),
            .on(client: Words.wifiDown, then: .both(["path none"], ["path none", "viable false"]))),
        .init(
            "the only network is lost and returns", before: [Words.cellDown],
            first: .opened("path wifi0 46"),
            .on(server: "link set to-wifi0 down", then: .both(["path none"], ["path none", "viable false"])),
            .on(server: "link set to-wifi0 up", then: .both(["path wifi0 46"], ["path wifi0", "viable true"]))),
        .init("an interface is removed", .on(client: "link del wifi0", then: .moveAway)),
        .init(
            "a better one is added and removed",
            .on(
                client: "link add eth0 type veth peer name eth1", "link set eth1 up", "link set eth0 up",
                "addr add 10.77.3.2/24 dev eth0", "route add default via 10.77.3.1 dev eth0 metric 10",
                then: .both(["path eth0,wifi0,cell0 46"], ["better true"])),
            .on(client: "link del eth0", then: .both(["path wifi0,cell0 46"], ["better false"]))),
        .init(
            "one without a route is added",
            .on(
                client: "link add eth0 type veth peer name eth1", "link set eth1 up", "link set eth0 up",
                "addr add 10.77.3.2/24 dev eth0", then: .nothing)),
        .init(
            "an interface is renamed",
            .on(
                client: Words.cellDown, "link set cell0 name cell9", "link set cell9 up",
                "route add default via 10.77.2.1 dev cell9 metric 200", then: .both(["path wifi0,cell9 46"], []))),
        .init("the MTU of an interface changes", .on(client: "link set wifi0 mtu 1400", then: .nothing)),
    ]

    private static let addresses: [Self] = [
        .init(
            "its address is removed",
            .on(
                client: "addr del 10.77.1.2/24 dev wifi0",
                then: .both(["path wifi0,cell0 46"], ["path none", "viable false", "better true"]))),
        .init(
            "its address is removed and comes back",
            .on(
                client: "addr del 10.77.1.2/24 dev wifi0",
                then: .both(["path wifi0,cell0 46"], ["path none", "viable false", "better true"])),
            .on(
                client: "addr add 10.77.1.2/24 dev wifi0", Words.wifiRoute,
                then: .both(["path wifi0,cell0 46"], ["path wifi0", "viable true", "better false"]))),
        .init(
            "its address changes: new connections would work, this one fails",
            .on(
                client: "addr del 10.77.1.2/24 dev wifi0",
                then: .both(["path wifi0,cell0 46"], ["path none", "viable false", "better true"])),
            .on(
                client: "addr add 10.77.1.3/24 dev wifi0", Words.wifiRoute, then: .both(["path wifi0,cell0 46"], [])),
            // The connection fails only after a delay, because the old address could return within this time.
            .init(expected: .both([], ["state failed: Software caused connection abort", "state cancelled"]))),
        .init("another address is added", .on(client: "addr add 10.77.1.77/24 dev wifi0", then: .nothing)),
        .init(
            "the other network's address is removed",
            .on(client: "addr del 10.77.2.2/24 dev cell0", then: .both(["path wifi0,cell0 46"], []))),
        .init(
            "with IPv6, its address is removed", to: "fd77:9::9",
            .on(
                client: "-6 addr del fd77:1::2/64 dev wifi0",
                then: .both([], ["path none", "viable false", "better true"]))),
        .init(
            "IPv6 only", before: Words.noIPv4.map { "-4 \($0)" }, to: "fd77:9::9", first: .opened("path wifi0,cell0 6"),
            .on(client: Words.wifiDown, then: .both(["path cell0 6$"], ["path none", "viable false", "better true"]))),
        .init(
            "IPv4 only", before: [Words.allDefaults[2], Words.allDefaults[3]], first: .opened("path wifi0,cell0 4"),
            .on(client: Words.wifiDown, then: .both(["path cell0 4$"], ["path none", "viable false", "better true"]))),
    ]

    private static let routes: [Self] = [
        .init(
            "its default routes are lost",
            .on(client: "route del default dev wifi0", "-6 route del default dev wifi0", then: .moveAway)),
        .init(
            "its IPv4 default route is lost and replaced by an equal one",
            .on(
                client: "route del default dev wifi0",
                then: .both(["path wifi0,cell0 46"], ["path none", "viable false", "better true"])),
            .on(client: Words.wifiRoute, then: .comeBack)),
        .init(
            "its IPv6 default route is lost, with a connection over IPv4",
            .on(client: "-6 route del default dev wifi0", then: .both(["path wifi0,cell0 46"], ["path wifi0"]))),
        .init(
            "with IPv6, its default route is lost", to: "fd77:9::9",
            .on(
                client: "-6 route del default dev wifi0",
                then: .both(["path wifi0,cell0 46"], ["path none", "viable false", "better true"]))),
        .init(
            "the other network becomes the better one, then the worse one again",
            .on(
                client: "route add default via 10.77.2.1 dev cell0 metric 50",
                then: .both(["path cell0,wifi0 46$"], ["better true"])),
            .on(client: "route del default dev cell0 metric 50", then: .both(["path wifi0,cell0 46"], ["better false"]))
        ),
        .init(
            "a route to this host over the other network",
            .on(client: "route add 10.77.9.9 via 10.77.2.1 dev cell0", then: .both([], ["better true"]))),
        .init("a route to another host", .on(client: "route add 10.88.0.0/16 via 10.77.2.1 dev cell0", then: .nothing)),
        .init(
            "every default route is lost, with a peer on the link", to: "10.77.1.1",
            .on(
                client: Words.allDefaults[0], Words.allDefaults[1], Words.allDefaults[2], Words.allDefaults[3],
                then: .both(["path none wifi0,cell0"], ["path wifi0"]))),
        .init(
            "this host becomes unreachable",
            .on(client: "route add blackhole 10.77.9.9", then: .both([], ["path none", "viable false"]))),
        .init(
            "a rule prohibits this host, then is removed",
            .on(client: "rule add to 10.77.9.9 priority 10 prohibit", then: .both([], ["path none", "viable false"])),
            .on(client: "rule del priority 10", then: .both([], ["path wifi0", "viable true"]))),
        .init(
            "a rule directs its packets to an empty table",
            .on(client: "rule add from 10.77.1.2 priority 10 lookup 77", then: .nothing)),
        .init(
            "an unreachable route blocks all of IPv4",
            .on(
                client: "route add unreachable default metric 1",
                then: .both(["path wifi0,cell0 6"], ["path none", "viable false"]))),
        .init(
            "the server stops listening, which does not change the path",
            .on(server: "addr del 10.77.9.9/32 dev lo", then: .nothing)),
    ]

    private static let waiting: [Self] = [
        .init(
            "without a network a connection waits until there is one", before: [Words.wifiDown, Words.cellDown],
            first: .both(["path none"], ["state preparing", "state waiting: Network is down", "path none"]),
            .on(client: "link set wifi0 up", then: .idle("wifi0")),
            .on(
                client: Words.wifiRoute,
                then: .both(["path wifi0 4"], ["state preparing", "state ready", "path wifi0", "viable true"]))),
        .init(
            "changes that do not help the connection are ignored", before: [Words.wifiDown, Words.cellDown],
            first: .both(["path none"], ["state preparing", "state waiting: Network is down", "path none"]),
            .on(client: "link add eth0 type veth peer name eth1", then: .nothing),
            .on(client: "addr add 192.0.2.1/24 dev eth0", then: .nothing),
            .on(
                client: "link set eth1 addrgenmode none", "link set eth1 up", "link set eth0 up", then: .idle("eth0")),
            .on(client: "route add 192.0.3.0/24 dev eth0", then: .nothing)),
        .init(
            "a refused connection is tried again over another network", to: "10.77.9.9", port: 7_001,
            first: .both(
                ["path wifi0,cell0 46"],
                ["state preparing", "state waiting: Connection refused", "path wifi0,cell0"]),
            .on(
                client: Words.wifiDown,
                then: .both(
                    ["path cell0 46$"], ["state preparing", "state waiting: Connection refused", "path cell0"]))),
        .init(
            "a datagram connection waits too", before: [Words.wifiDown, Words.cellDown], demands: ["-u"],
            first: .both(["path none"], ["state preparing", "state waiting: Network is down", "path none"]),
            .on(client: "link set wifi0 up", then: .idle("wifi0")),
            .on(
                client: Words.wifiRoute,
                then: .both(["path wifi0 4"], ["state preparing", "state ready", "path wifi0", "viable true"]))),
        .init(
            "a datagram connection moves to the other network, and stays until that is lost", demands: ["-u"],
            .on(client: Words.wifiDown, then: .both(["path cell0 46$"], ["path cell0"])),
            .on(
                client: "link set wifi0 up", Words.wifiRoute,
                then: .both(["path wifi0,cell0 46"], ["better true"])),
            .on(
                server: "link set to-cell0 down", then: .both(["path wifi0 4"], ["path wifi0", "better false"]))),
        .init(
            "a datagram connection moves to another address of its network", before: [Words.cellDown], demands: ["-u"],
            first: .opened("path wifi0 46"),
            .on(
                client: "addr del 10.77.1.2/24 dev wifi0",
                then: .both(["path wifi0 6"], ["path none", "viable false"])),
            .on(
                client: "addr add 10.77.1.3/24 dev wifi0", Words.wifiRoute,
                then: .both(["path wifi0 46"], ["path wifi0", "viable true"]))),
        .init(
            "a datagram connection that may not use the other network loses its path",
            demands: ["-u", "--no-expensive"],
            .on(client: Words.wifiDown, then: .both(["path cell0 46$"], ["path none", "viable false"]))),
    ]

    private static let demands: [Self] = [
        .init(
            "Wi-Fi is prohibited: its loss has no effect", demands: ["--prohibit", "wifi"],
            first: .opened(over: "cell0"),
            .on(client: Words.wifiDown, then: .both(["path cell0 46$"], []))),
        .init(
            "Wi-Fi is prohibited: it does not help", demands: ["--prohibit", "wifi"], first: .opened(over: "cell0"),
            .on(client: Words.cellDown, then: .both(["path wifi0 46"], ["path none", "viable false"]))),
        .init(
            "no expensive paths: the cellular network is not used", demands: ["--no-expensive"],
            .on(client: Words.wifiDown, then: .both(["path cell0 46$"], ["path none", "viable false"]))),
        .init(
            "no expensive paths: waiting beside the cellular network", before: [Words.wifiDown],
            demands: ["--no-expensive"],
            first: .both(["path cell0 46$"], ["state preparing", "state waiting: Network is down", "path none"]),
            .on(client: "link set wifi0 up", then: .nothing),
            .on(
                client: Words.wifiRoute,
                then: .both(["path wifi0,cell0 46"], ["state preparing", "state ready", "path wifi0", "viable true"]))),
        .init(
            "a monitor for one interface type reports only that type", monitor: ["--type", "cellular"],
            first: .opened("path cell0 46$"),
            .on(client: Words.wifiDown, then: .both([], ["path none", "viable false", "better true"])),
            .on(client: Words.cellDown, then: .both(["path none"], ["better false"]))),
        .init(
            "a monitor for an absent type reports no change", monitor: ["--prohibit", "cellular"],
            first: .opened("path wifi0 46"), .on(client: Words.cellDown, then: .nothing),
            .on(client: Words.wifiDown, then: .both(["path none"], ["path none", "viable false"]))),
    ]

    private static let tunnels: [Self] = [
        .init(
            "a tunnel takes the default route and releases it",
            .on(
                client: "link add vpn0 type veth peer name vpn1", "link set vpn1 up", "addr add 10.8.0.2/32 dev vpn0",
                "link set vpn0 up",
                "route add default dev vpn0 metric 10", then: .both(["path vpn0,wifi0,cell0 46"], ["better true"])),
            .on(client: "link del vpn0", then: .both(["path wifi0,cell0 46"], ["better false"]))),
        .init(
            "a tunnel takes two halves of the address space",
            .on(
                client: "link add vpn0 type veth peer name vpn1", "link set vpn1 up", "addr add 10.8.0.2/32 dev vpn0",
                "link set vpn0 up",
                "route add 0.0.0.0/1 dev vpn0", "route add 128.0.0.0/1 dev vpn0",
                then: .both(["path vpn0,wifi0,cell0 46"], ["better true"]))),
    ]

    private static let floods: [Self] = [
        .init(
            "a thousand routes",
            .on(client: flood("route add 10.%.0/24 via 10.77.2.1 dev cell0", 1_000), then: .nothing)),
        .init(
            "changes without a pause", .on(client: lines(spare + flicker), then: .nothing),
            .on(client: Words.wifiDown, then: .moveAway)),
        .init(
            "more changes than the kernel buffers, with the relevant one among them",
            .on(client: lines(spare), overrun, then: .moveAway)),
    ]

    private static let spare = ["link add eth0 type veth peer name eth1", "link set eth1 up", "link set eth0 up"]
    private static let flicker: [String] = (0..<500).map { number in
        let verb = number % 2 == 0 ? "add" : "del"
        return "addr \(verb) 10.9.0.1/24 dev eth0"
    }
    private static let overrun = lines(
        [flood("addr add 10.%.1/32 dev eth0", 3_000), Words.wifiDown, flood("addr del 10.%.1/32 dev eth0", 3_000)])

    private static func lines(_ commands: [String]) -> String { commands.joined(separator: "\n") }

    /// Returns one line for each of `count` addresses. Each line is the command with two bytes of an address in place
    /// of each `%`. The scenario counts all lines as one change.
    private static func flood(_ command: String, _ count: Int) -> String {
        (0..<count).map { number in
            command.split(separator: "%").joined(separator: "\(100 + number / 250).\(number % 250)")
        }.joined(separator: "\n")
    }
}
