import Foundation
import Testing

extension Interop {
    /// Tests `nw` with Avahi. They run on two hosts with one link, and on one host where both share the port.
    @Suite(
        "Avahi",
        .enabled(if: TwoHosts.isAvailable && Avahi.isAvailable, "needs root, ip, unshare, dbus and avahi-daemon"))
    struct AvahiTests {
        private static let type = "_nwtest._tcp"

        @Test("C93: Avahi finds and resolves a service of nw by its subtype, and receives its goodbye")
        func registers() async throws {
            try await TwoHosts.run { hosts, scratch in
                let avahi = try await Avahi.start(on: hosts.far, scratch)
                let nw = try scratch.start(
                    try Built.nw(), ["register", "Küche. 1", "\(Self.type),_sub1", "4711", "a=b"], on: hosts.near)
                try await eventually("nw registers") { nw.text == "registered as Küche. 1\n" }
                let browser = try avahi.run("avahi-browse -p -r \(Self.type)", scratch)
                try await eventually("Avahi resolves it: \(browser.text)") {
                    browser.text.contains(";4711;\"a=b\"") && browser.text.contains("=;\(TwoHosts.link);IPv4;")
                }
                let subtype = try avahi.run("avahi-browse -p -t _sub1._sub.\(Self.type)", scratch)
                try await eventually("Avahi finds it by its subtype") { subtype.text.contains("\(Self.type);local") }
                try nw.interrupt()
                try await eventually("Avahi receives the goodbye") { browser.text.contains("-;\(TwoHosts.link);IPv4;") }
            }
        }

        @Test("C93: nw finds, resolves and queries a service of Avahi, and receives its goodbye")
        func browses() async throws {
            try await TwoHosts.run { hosts, scratch in
                let avahi = try await Avahi.start(on: hosts.far, scratch)
                let nw = try scratch.start(try Built.nw(), ["browse", Self.type, "-v"], on: hosts.near)
                let service = try avahi.run("avahi-publish -s 'Odd. \\name' \(Self.type) 4712 path=/x", scratch)
                try await eventually("nw finds it: \(nw.text) \(service.errors)") {
                    nw.text.hasPrefix("+ Odd. \\name  \(Self.type) local. [\(TwoHosts.link)] path=/x\n")
                }
                let query = try scratch.start(
                    try Built.nw(), ["query", "Odd\\. \\\\name.\(Self.type).local", "SRV", "--first"], on: hosts.near)
                #expect(try await query.finished() == 0, "\(query.errors)")
                #expect(query.text.contains(" SRV 0 0 4712 avahihost.local."), "\(query.text)")
                let types = try scratch.start(try Built.nw(), ["types"], on: hosts.near)
                #expect(try await types.finished() == 0)
                #expect(types.text.contains("\(Self.type) local."), "\(types.text)")
                service.kill()
                try await eventually("nw receives the goodbye") { nw.text.contains("\n- Odd. \\name") }
            }
        }

        @Test(
            "C62 C113: a process sends a goodbye for its service when it ends, also just after cancelling the service",
            arguments: ["exit", "cancel", "signal"])
        func leaves(_ manner: String) async throws {
            try await TwoHosts.run { hosts, scratch in
                let avahi = try await Avahi.start(on: hosts.far, scratch)
                let browser = try avahi.run("avahi-browse -p _nwleave._tcp", scratch)
                let leaver = try scratch.start(
                    try Built.program("NetServiceProgram"), ["--leave-\(manner)", "Leaver"], on: hosts.near)
                try await eventually("Avahi finds it: \(leaver.text)") {
                    browser.text.contains("+;\(TwoHosts.link);IPv4;Leaver;")
                }
                try await eventually("Avahi receives the goodbye: \(leaver.text) \(leaver.errors)") {
                    browser.text.contains("-;\(TwoHosts.link);IPv4;Leaver;")
                }
            }
        }

        @Test("A listener that forbids renaming fails if another host has its service name")
        func strictListener() async throws {
            try await TwoHosts.run { hosts, scratch in
                let avahi = try await Avahi.start(on: hosts.far, scratch)
                let service = try avahi.run("avahi-publish -s Taken _nwleave._tcp 1", scratch)
                try await eventually("Avahi publishes") { service.errors.contains("Established") }
                let listener = try scratch.start(
                    try Built.program("NetServiceProgram"), ["--leave-strict", "Taken"], on: hosts.near)
                #expect(try await listener.finished() == 1)
                #expect(listener.text.contains("-65548"), "\(listener.text)")
            }
        }

        @Test("C58 C106: of nw and Avahi, the second to claim a name renames its service")
        func conflict() async throws {
            try await TwoHosts.run { hosts, scratch in
                let avahi = try await Avahi.start(on: hosts.far, scratch)
                let service = try avahi.run("avahi-publish -s Same \(Self.type) 1", scratch)
                try await eventually("Avahi publishes") { service.errors.contains("Established") }
                let second = try scratch.start(try Built.nw(), ["register", "Same", Self.type, "2"], on: hosts.near)
                try await second.prints("registered as Same (2)\n")
                let third = try avahi.run("avahi-publish -s 'Same (2)' \(Self.type) 3", scratch)
                try await eventually("Avahi renames: \(third.errors)") { third.errors.contains("Same (2) #2") }
                #expect(second.text == "registered as Same (2)\n")
            }
        }

        @Test("C71: on one host and one port, nw and Avahi see each other's services, and other hosts see both")
        func sharedHost() async throws {
            try await TwoHosts.run { hosts, scratch in
                let avahi = try await Avahi.start(on: hosts.near, scratch)
                let theirs = try avahi.run("avahi-publish -s Theirs \(Self.type) 1", scratch)
                try await eventually("Avahi publishes") { theirs.errors.contains("Established") }
                let ours = try scratch.start(try Built.nw(), ["register", "Ours", Self.type, "2"], on: hosts.near)
                try await ours.prints("registered as Ours\n")
                let here = try scratch.start(try Built.nw(), ["browse", Self.type], on: hosts.near)
                let there = try scratch.start(try Built.nw(), ["browse", Self.type], on: hosts.far)
                let daemon = try avahi.run("avahi-browse -p \(Self.type)", scratch)
                for browser in [here, there] {
                    try await eventually("both are found: \(browser.text)") {
                        browser.text.contains("+ Ours") && browser.text.contains("+ Theirs")
                    }
                }
                try await eventually("Avahi finds both: \(daemon.text)") {
                    daemon.text.contains(";Ours;") && daemon.text.contains(";Theirs;")
                }
                let doctor = try scratch.start(try Built.nw(), ["doctor", "-t", "1"], on: hosts.near)
                #expect(try await doctor.finished() == 0, "\(doctor.errors)")
                #expect(doctor.text.contains("shared with") && doctor.text.contains("avahi-daemon"), "\(doctor.text)")
            }
        }

        @Test(
            "C67: the services of a host that vanished without a goodbye are removed after unanswered queries of other browsers"
        )
        func crash() async throws {
            try await TwoHosts.run { hosts, scratch in
                let nw = try scratch.start(try Built.nw(), ["browse", Self.type], on: hosts.near)
                let far = try scratch.start(try Built.nw(), ["register", "Gone", Self.type, "1"], on: hosts.far)
                try await nw.prints("+ Gone  \(Self.type) local. [\(TwoHosts.link)]\n")
                far.kill()
                // Another browser sends two queries that no host answers. As a result, `nw` removes the service.
                for _ in 0..<2 {
                    let other = try scratch.start(
                        try Built.nw(), ["query", "\(Self.type).local", "PTR", "-t", "4"], on: hosts.far)
                    _ = try await other.finished()
                }
                try await eventually("nw removes it") {
                    nw.text.hasSuffix("- Gone  \(Self.type) local. [\(TwoHosts.link)]\n")
                }
            }
        }
    }
}

/// An Avahi daemon with its own message bus, in its own mount namespace.
struct Avahi {
    /// The path of a script. It runs a command on the host of the daemon.
    let host: String
    let bus: String

    static let isAvailable: Bool = {
        ["avahi-daemon", "dbus-daemon", "avahi-browse", "avahi-publish", "unshare"].allSatisfy { program in
            let found = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].contains {
                FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
            }
            if !found { print("SKIPPED: all tests with Avahi, because \(program) is not installed") }
            return found
        }
    }()

    static func start(on host: String, link: String = TwoHosts.link, _ scratch: Scratch) async throws -> Avahi {
        let place = try scratch.newDirectory("avahi").path
        let bus = "unix:path=\(place)/bus"
        try configuration(link).write(toFile: "\(place)/avahi.conf", atomically: true, encoding: .utf8)
        try busConfiguration(bus).write(toFile: "\(place)/bus.conf", atomically: true, encoding: .utf8)
        let script = """
            mkdir -p \(place)/run && mount -t tmpfs none /run && mkdir -p /run/dbus /run/avahi-daemon
            dbus-daemon --nofork --config-file=\(place)/bus.conf &
            while [ ! -S \(place)/bus ]; do sleep 0.05; done
            ln -s \(place)/bus /run/dbus/system_bus_socket
            exec avahi-daemon --no-drop-root --no-rlimits -f \(place)/avahi.conf
            """
        let daemon = try scratch.start("/usr/bin/env", ["unshare", "-m", "sh", "-c", script], on: host)
        try await eventually("Avahi runs: \(daemon.errors) \(daemon.text)") {
            daemon.errors.contains("Server startup complete") || daemon.text.contains("Server startup complete")
        }
        return Avahi(host: host, bus: bus)
    }

    /// Runs an Avahi command on the daemon's host.
    func run(_ command: String, _ scratch: Scratch) throws -> Child {
        try scratch.start(
            "/usr/bin/env", ["DBUS_SYSTEM_BUS_ADDRESS=\(bus)", "LC_ALL=C.UTF-8", "sh", "-c", "exec \(command)"],
            on: host)
    }

    private static func configuration(_ link: String) -> String {
        """
        [server]
        host-name=avahihost
        use-ipv4=yes
        use-ipv6=yes
        allow-interfaces=\(link)
        enable-dbus=yes
        disallow-other-stacks=no
        [wide-area]
        enable-wide-area=no
        [publish]
        publish-hinfo=no
        publish-workstation=no
        """
    }

    private static func busConfiguration(_ bus: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>system</type>
          <listen>\(bus)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow user="*"/><allow own="*"/><allow send_type="method_call"/><allow send_type="signal"/>
            <allow send_type="method_return"/><allow send_type="error"/><allow receive_type="method_call"/>
            <allow receive_type="signal"/><allow receive_type="method_return"/><allow receive_type="error"/>
          </policy>
        </busconfig>
        """
    }
}
