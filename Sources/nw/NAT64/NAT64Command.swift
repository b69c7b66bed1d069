import ArgumentParser
import Causeway
import CausewaySystem
import CausewayTypes
import Dispatch
import FoundationEssentials
import Synchronization

/// A host name, and the IPv4 address that the DNS64 server returns for it. Each `--address` option gives one such pair.
struct NAT64Address: ExpressibleByArgument, Equatable, Sendable {
    var name: String
    var address: String

    init(name: String, address: String) {
        self.name = name
        self.address = address
    }

    /// Parses `NAME=ADDRESS`.
    init?(argument: String) {
        let parts = argument.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, case .name(let name)? = TestCertificates.alternativeName(parts[0]),
            !name.hasPrefix("*"), AddressText.ipv4(parts[1]) != nil
        else { return nil }
        self.init(name: name, address: parts[1])
    }
}

/// `nw nat64`: tests a program in a network without IPv4.
struct NAT64Command: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "nat64",
        abstract: "Run a program in an IPv6-only network with NAT64 and DNS64.",
        usage: "nw nat64 [<options>] [PROGRAM [ARGUMENT...]]",
        discussion: """
            Makes two network namespaces: one that has only IPv6, for PROGRAM, and its router, which translates to IPv4 \
            (tayga) and gives IPv6 addresses to names that have IPv4 addresses (unbound). A program that uses names, \
            or the addresses that a resolver returns, works there; one with IPv4 sockets or addresses fails. Without \
            PROGRAM, the network stays until interrupted. The exit code is that of PROGRAM.

            \(NAT64Network.hostName) is this host at the IPv4 address \(NAT64Network.host), where its servers \
            that listen on all addresses can be reached. --share gives the network the connections and the DNS servers \
            of this host (nft). Requires root, tayga and unbound.

            Examples:
              nw nat64 nw http http://host.test:8080/      a server of this host
              nw nat64 --address api.test=198.18.64.1 ./app
              nw nat64 --share ./app                       with the Internet
              nw nat64 --name v6 & ip netns exec v6 bash   several programs

            Exit codes:
              0         success
              1         the network cannot be made
              64        usage error
              130, 143  ended by SIGINT or SIGTERM
              others    those of PROGRAM
            """)

    @Option(help: ArgumentHelp("Set the name of the network namespace. (default: nw-nat64-PID)", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Let NAME have this IPv4 address; may be repeated.", valueName: "name=address"))
    var address: [NAT64Address] = []

    @Flag(help: "Share the connections of this host, and ask its DNS servers for other names.")
    var share = false

    @Flag(help: "Print one JSON object with the names and addresses of the network.")
    var json = false

    @Argument(parsing: .captureForPassthrough, help: "Program to run in the network, and its arguments.")
    var program: [String] = []

    func validate() throws {
        // The parser passes all words after its known options to the program, even `--help`. Handle the options of `nw`
        // among these words here.
        switch program.first {
        case "-h", "--help": throw CleanExit.helpRequest(self)
        case "--version": throw CleanExit.message("nw \(NW.version)")
        case let word? where word.hasPrefix("-"):
            throw ValidationError("Unknown option '\(PrintableText(foreign: word).text)'.")
        default: break
        }
        if let name,
            !(1...32).contains(name.utf8.count)
                || !name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
        {
            throw ValidationError("--name has 1 to 32 letters, digits and hyphens.")
        }
    }

    private struct Report: Encodable {
        var namespace: String
        var prefix = NAT64Network.prefix + "/96"
        var nameServer = NAT64Network.nameServer
        var host = NAT64Network.host
    }

    func run() async throws {
        try await reporting("nat64") {
            guard geteuid() == 0 else { throw CommandFailure("making a network requires root") }
            for tool in ["ip", "tayga", "unbound"] + (share ? ["nft"] : []) { _ = try NAT64Network.path(tool) }
            let thread = FileThread("nw.nat64")
            let command = self
            let running = RunningProgram()
            try await untilInterrupted {
                let code = try await withTaskCancellationHandler {
                    try await thread.finishing { try command.work(running) }
                } onCancel: {
                    running.stop()
                }
                try Task.checkCancellation()
                if code != 0 { throw ExitCode(code) }
            }
        }
    }

    /// Makes the network, and then runs the program or waits for the interrupt. Removes the network at the end. Blocks
    /// the calling thread.
    private func work(_ running: RunningProgram) throws -> Int32 {
        let network = try NAT64Network(
            name ?? "nw-nat64-\(getpid())", address, upstream: share ? try Self.nameServers() : [])
        defer { network.remove() }
        try network.make()
        if json {
            printLine(PrintableText(json: Report(namespace: network.name)))
        } else if program.isEmpty {
            printLine(
                """
                network \(network.name): IPv6 only, NAT64 \(NAT64Network.prefix)/96, DNS64 \(NAT64Network.nameServer); \
                run programs with: ip netns exec \(network.name) PROGRAM
                """)
        }
        guard !program.isEmpty else {
            running.waitForStop()
            return 0
        }
        let child: ChildProgram
        do { child = try network.start(program) } catch { throw CommandFailure("cannot start ip", error) }
        running.begin(child)
        return child.wait()
    }

    /// The host's IPv4 DNS servers that the router can reach.
    private static func nameServers() throws -> [String] {
        let files = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"]
        for file in files {
            let text = (try? OpenFile(reading: file).readChunk(atMost: 64 << 10)).flatMap { $0 }
            let servers = String(decoding: text ?? .init(), as: UTF8.self).split(separator: "\n")
                .filter { $0.hasPrefix("nameserver ") }.compactMap { $0.split(separator: " ").last.map(String.init) }
                .filter { AddressText.ipv4($0) != nil && !$0.hasPrefix("127.") }
            if !servers.isEmpty { return servers }
        }
        throw CommandFailure("this host has no IPv4 DNS server that another network can reach")
    }
}

/// The program that runs in the simulated network. If no program was given, the command runs until it is interrupted.
private final class RunningProgram: Sendable {
    private struct State {
        var child: ChildProgram?
        var isStopped = false
    }

    private let state = Mutex(State())
    private let stopped = DispatchSemaphore(value: 0)

    func begin(_ child: ChildProgram) {
        let isStopped = state.withLock { state in
            state.child = child
            return state.isStopped
        }
        if isStopped { child.end() }
    }

    /// Ends the child program. If there is none, ends the wait for the interrupt.
    func stop() {
        let child = state.withLock { state in
            state.isStopped = true
            return state.child
        }
        child?.end()
        stopped.signal()
    }

    func waitForStop() { stopped.wait() }
}
