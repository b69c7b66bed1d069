import Foundation
import Testing

/// Runs a private D-Bus message bus and NetworkManager on the client host of ``TwoPaths``. NetworkManager manages only
/// `wifi0`.
struct ManagedHost {
    private let hosts: TwoPaths
    private let scratch: Scratch
    let bus: Child
    let manager: Child
    private let address: String

    /// Whether all programs are installed. Prints those that are not.
    static let isAvailable: Bool = {
        ["NetworkManager", "nmcli", "dbus-daemon", "unshare"].allSatisfy { program in
            let isFound = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].contains {
                FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
            }
            if !isFound {
                if Interop.mustRun {
                    Issue.record("\(program) is not installed, so tests with NetworkManager did not run")
                }
                print("SKIPPED: all tests with NetworkManager, because \(program) is not installed")
            }
            return isFound
        }
    }()

    static func start(_ hosts: TwoPaths, _ scratch: Scratch) async throws -> ManagedHost {
        let place = try scratch.newDirectory("managed").path
        try busConfiguration(place).write(toFile: "\(place)/bus.conf", atomically: true, encoding: .utf8)
        try managerConfiguration(place).write(toFile: "\(place)/nm.conf", atomically: true, encoding: .utf8)
        _ = try scratch.newDirectory("managed/connections")
        let bus = try scratch.start(
            "/usr/bin/env", ["dbus-daemon", "--nofork", "--nopidfile", "--config-file=\(place)/bus.conf"],
            on: hosts.client)
        try await eventually("a bus runs") { FileManager.default.fileExists(atPath: "\(place)/bus") }
        // If /sys is read-only, NetworkManager assumes a container and does not wait for udev. NetworkManager also gets
        // private directories at /run and /var/lib.
        let script = """
            mount -t tmpfs none /run && mount -t tmpfs none /var/lib && mkdir -p /var/lib/NetworkManager || exit 1
            mount -o remount,ro /sys || exit 1
            exec env DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(place)/bus NetworkManager --no-daemon --config \(place)/nm.conf \\
                --config-dir \(place)/none --system-config-dir \(place)/none --intern-config \(place)/intern.conf
            """
        let manager = try scratch.start("/usr/bin/env", ["unshare", "-m", "sh", "-c", script], on: hosts.client)
        let host = ManagedHost(
            hosts: hosts, scratch: scratch, bus: bus, manager: manager, address: "unix:path=\(place)/bus")
        try await host.tell(["-t", "-f", "RUNNING", "general"], until: "running")
        return host
    }

    /// Runs nmcli(1) and returns its output.
    @discardableResult
    func tell(_ words: [String]) async throws -> String {
        let nmcli = try start("nmcli", words)
        _ = try await nmcli.finished()
        return String(decoding: nmcli.output, as: UTF8.self) + nmcli.errors
    }

    /// Repeats an nmcli(1) command until it prints the expected text.
    private func tell(_ words: [String], until expected: String) async throws {
        let deadline = ContinuousClock.now + Child.patience
        while true {
            let answer = try await tell(words)
            if answer.hasPrefix(expected) || answer.contains(" \(expected)") { return }
            guard ContinuousClock.now < deadline else {
                throw NeverHappened(
                    description: "nmcli \(words) prints '\(expected)' instead of '\(answer)': \(manager.errors)")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Makes NetworkManager set up `wifi0`, with an address and a router.
    func connect(metered: String) async throws {
        try await tell(
            [
                "connection", "add", "type", "ethernet", "ifname", "wifi0", "con-name", "net", "connection.metered",
                metered,
            ]
                + ["ipv4.method", "manual", "ipv4.addresses", "10.77.1.2/24", "ipv4.gateway", "10.77.1.1"]
                + ["ipv4.route-metric", "100", "ipv6.method", "disabled"],
            until: "successfully added")
        try await tell(["device", "set", "wifi0", "managed", "yes"])
        // NetworkManager needs a moment to detect the device, so wait up to ten seconds.
        try await tell(["--wait", "10", "connection", "up", "net"], until: "successfully activated")
    }

    func set(metered: String) async throws {
        try await tell(["connection", "modify", "net", "connection.metered", metered])
        let answer = try await tell(["device", "reapply", "wifi0"])
        #expect(answer.contains("successfully"))
    }

    /// Starts `nw path --watch`, which prints changes of the network path. Its environment contains the address of the
    /// message bus.
    func watch(interfaces: String = "lo=other") throws -> Child {
        try start(try Built.nw(), ["path", "--watch", "--json"], interfaces: interfaces)
    }

    private func start(_ program: String, _ words: [String], interfaces: String = "lo=other") throws -> Child {
        let environment = ["DBUS_SYSTEM_BUS_ADDRESS=\(address)", "CAUSEWAY_INTERFACES=\(interfaces)", "LC_ALL=C.UTF-8"]
        return try scratch.start("/usr/bin/env", environment + [program] + words, on: hosts.client)
    }

    private static func managerConfiguration(_ place: String) -> String {
        """
        [main]
        plugins=keyfile
        dhcp=internal
        dns=none
        rc-manager=unmanaged
        no-auto-default=*
        auth-polkit=false
        [keyfile]
        path=\(place)/connections
        unmanaged-devices=*,except:interface-name:wifi0
        [connectivity]
        enabled=false
        """
    }

    private static func busConfiguration(_ place: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>system</type>
          <listen>unix:path=\(place)/bus</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/>
          </policy>
        </busconfig>
        """
    }
}
