import ArgumentParser
import CausewayPackets
import CausewaySystem
import CausewayTypes
import Synchronization

/// `nw capture`: shows or stores packets of an interface.
struct CaptureCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "capture",
        abstract: "Show packets as they pass, or store them.",
        discussion: """
            Words behind the options are a filter in the language of pcap; the kernel drops what it refuses. At the end, and on \
            interrupt, a line on standard error tells how many packets were captured and how many were lost for want of room.

            Capturing needs a capability; without root, once: setcap cap_net_raw,cap_net_admin=ep /path/to/nw

            -D lists the interfaces; -r FILE shows a capture file, as nw read does.

            Examples:
              nw capture -i eth0                       what passes on eth0
              nw capture -i any 'icmp or arp'          on every interface
              nw capture -i eth0 -c 100 -w some.pcap   a hundred packets, into a file
              nw capture -i lo --json udp port 53      for programs
              nw capture -w ring.pcap -C 100 -W 10     the last gigabyte, in ten files
            """)

    @OptionGroup var output: PacketOutputOptions

    @Option(name: .shortAndLong, help: ArgumentHelp("The interface; any is all of them.", valueName: "name"))
    var interface = "any"

    @Option(name: .customShort("s"), help: ArgumentHelp("Keep at most so much of each packet.", valueName: "bytes"))
    var snapLength: Int?

    @Flag(name: .customShort("p"), help: "Only what is meant for this host: not promiscuous.")
    var onlyOwn = false

    @Flag(help: "Hand packets over within a millisecond instead of ten.")
    var immediate = false

    @Option(name: .customShort("B"), help: ArgumentHelp("Size of the kernel's ring.", valueName: "KiB"))
    var ringSize = 32_768

    @Option(
        name: .customShort("C"),
        help: ArgumentHelp("With -w: begin another file after so many million bytes.", valueName: "megabytes"))
    var fileSize: Int?

    @Option(
        name: .customShort("G"),
        help: ArgumentHelp(
            "With -w: begin another file after so many seconds; %H and the like in its name are the time.",
            valueName: "seconds"))
    var fileAge: Int?

    @Option(
        name: .customShort("W"),
        help: ArgumentHelp("Keep the last so many files (-C), or end after them (-G).", valueName: "count"))
    var fileCount: Int?

    @Flag(name: [.customShort("D"), .long], help: "List the interfaces to capture on, and end.")
    var listInterfaces = false

    @Option(name: .customShort("r"), help: ArgumentHelp("Show the packets of this file instead.", valueName: "file"))
    var input: String?

    var rotation: CaptureRotation {
        CaptureRotation(byteCount: fileSize.map { $0 * 1_000_000 }, seconds: fileAge, fileCount: fileCount)
    }

    @Argument(help: "Show only what this filter matches.")
    var filter: [String] = []

    func validate() throws {
        if let snapLength, snapLength < 1 { throw ValidationError("-s needs a number of bytes.") }
        for number in [fileSize, fileAge, fileCount] {
            if let number, !(1...1_000_000).contains(number) {
                throw ValidationError("-C, -G and -W need 1...1000000.")
            }
        }
        if fileSize != nil || fileAge != nil {
            guard let file = output.store, file != "-" else { throw ValidationError("-C and -G need a file: -w.") }
        } else if fileCount != nil {
            throw ValidationError("-W needs -C or -G.")
        }
        guard (512...4_194_304).contains(ringSize) else { throw ValidationError("-B needs 512...4194304 KiB.") }
    }

    func run() async throws {
        if listInterfaces { return try await reporting("capture") { try showInterfaces() } }
        if let input { return try await ReadCommand(file: input, filter: filter, output: output).run() }
        try await reporting("capture") {
            let stop = StopMark()
            let command = self
            try await untilInterrupted { try await stop.run("nw.capture") { try command.capture(until: stop) } }
        }
    }

    private func showInterfaces() throws {
        let snapshot: NetworkSnapshot
        do { snapshot = try NetworkSnapshot.current() } catch {
            throw CommandFailure("cannot list interfaces: \(error)")
        }
        let listing = InterfaceListing(snapshot)
        if output.json { return printLine(PrintableText(json: listing.interfaces)) }
        for interface in listing.interfaces {
            printLine("\(interface.index).\(interface.name) [\(interface.flags.joined(separator: ", "))]")
        }
        printLine("\(listing.interfaces.count + 1).any (all interfaces)")
    }

    private func capture(until stop: StopMark) throws {
        try CaptureSession(self).run(until: stop)
    }
}

/// A flag that stops blocking work. Any thread may set it; it is never cleared.
final class StopMark: Sendable {
    private let mark = Atomic<Bool>(false)
    var isSet: Bool { mark.load(ordering: .relaxed) }
    func set() { mark.store(true, ordering: .relaxed) }

    /// Runs blocking work on its own thread. If the task is cancelled, for example by SIGINT, sets the flag. The work checks the flag and
    /// ends with the results so far.
    func run(_ name: String, _ work: @escaping @Sendable () throws -> Void) async throws {
        let outcome = LockedValue<Result<Void, any Error>>(.success(()))
        let shared = Outcome(outcome)
        await withTaskCancellationHandler {
            await FileThread(name).finish {
                let result = Result { try work() }
                shared.value.withLock { $0 = result }
            }
        } onCancel: {
            set()
        }
        try shared.value.withLock { $0 }.get()
    }

    private final class Outcome: Sendable {
        let value: LockedValue<Result<Void, any Error>>
        init(_ value: consuming LockedValue<Result<Void, any Error>>) { self.value = value }
    }
}
